"""Which student networks there are; a new one is a file with a class and a line here."""

from __future__ import annotations

from collections.abc import Callable

from limbeck.students.bag import Bag
from limbeck.students.bilstm import BiLstm
from limbeck.students.cnn import Cnn
from limbeck.students.network import Plan, Student

# The transformer is not among them: it starts from an encoder, not from token vectors.
NETWORKS: dict[str, Callable[[Plan], Student]] = {"bag": Bag, "cnn": Cnn, "bilstm": BiLstm}
