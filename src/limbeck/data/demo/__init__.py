"""A synthetic corpus of traveller feedback with known labels, to try the whole pipeline on.

Texts are put together from hand-written wordings; labels follow from the wordings and hold without noise.
Part of the wordings (`unseen`) occurs in the pool and the evaluation sides only, and near misses use a
category's words for something else, so that counting words does not suffice.
"""

from limbeck.data.demo.compose import Comment
from limbeck.data.demo.corpus import Corpus, generate
from limbeck.data.demo.phrases import TITLES
from limbeck.data.demo.write import DemoSummary, write_demo

__all__ = ["TITLES", "Comment", "Corpus", "DemoSummary", "generate", "write_demo"]
