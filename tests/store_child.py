"""A process that adds texts to a store, and says of each when it was acknowledged: whoever kills it knows then."""

import os
import threading
from itertools import chain

from limbeck.annotate.store import open_store
from limbeck.annotate.texts import SAMPLED, NewText
from limbeck.annotate.writer import GroupWriter


def add_many(url, name, count, shared, said):
    """Add texts that begin with `name`, and some that every such process adds; write their ids to the file `said`."""
    free = threading.Semaphore(40)
    file = os.open(said, os.O_WRONLY | os.O_APPEND)

    def tell(answer):
        os.write(file, f"{answer.exception() or answer.result()}\n".encode())
        if answer.exception():
            os._exit(1)
        free.release()

    with open_store(url) as store, GroupWriter(store) as writer:
        for text in chain((f"shared {n}" for n in range(shared)), (f"{name} {n}" for n in range(count))):
            free.acquire()
            writer.submit(NewText(text, "test", SAMPLED, keep_days=1)).add_done_callback(tell)
