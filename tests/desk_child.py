"""A process that answers what it is asked, and says of each answer when it was acknowledged."""

import os

from limbeck.annotate.asked import Answer, Question
from limbeck.annotate.desk import Desk
from limbeck.annotate.store import open_store


def answer_many(url, said):
    """Answer until nothing waits; write the texts' ids to the file `said`."""
    file = os.open(said, os.O_WRONLY | os.O_APPEND)
    with open_store(url) as store:
        desk = Desk(store, Question("binary", ("Punctuality",)))
        while tasks := desk.next("Killed", 3):
            desk.answer(Answer(tasks[0].public_id, "Killed", "label", True))
            os.write(file, f"{tasks[0].public_id}\n".encode())
