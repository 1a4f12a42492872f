"""The annotators' page as a real server on loopback, with a queue of its own and no model.

python desk_server.py '{"store": FILE, "mode": "binary", "categories": [...], "titles": [...], "texts": [...]}' prints
its address and serves until it is killed. Tests that start many use `serving`, which runs one in a thread.
"""

import json
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from limbeck.annotate.asked import Question, Wanted
from limbeck.annotate.desk import LEASE_SECONDS, Desk
from limbeck.annotate.store import Store, open_store
from limbeck.annotate.texts import NewText
from limbeck.labelling.desk_app import make_app
from limbeck.labelling.questions import Asked
from limbeck.labelling.run import bound_to
from limbeck.labelling.status import Round

STARTED_SECONDS = 20.0


class Rounds:
    """Tells of the rounds that it is given."""

    def __init__(self, rounds, state):
        self._rounds = [Round(**one) for one in rounds]
        self._state = {"learning": False, "next_in": 25, "failed": None} | state

    def answered(self):
        pass

    def running_out(self):
        pass

    def start(self):
        return False

    def state(self):
        return self._state

    def rounds(self):
        return self._rounds


@dataclass(frozen=True)
class Serving:
    """A page that answers at `url`, and the desk behind it."""

    url: str
    desk: Desk

    @property
    def store(self) -> Store:
        return self.desk.store

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


def prepared(told):
    """Give the desk, the server and its socket."""
    asked = Asked(Question(told["mode"], tuple(told["categories"])), tuple(told.get("titles", told["categories"])))
    desk = Desk(open_store(told["store"]), asked.question, told.get("lease_seconds", LEASE_SECONDS))
    texts = told.get("texts", [])
    guess = told.get("guess", {})
    new = [NewText(text, "pool", "confidence", **guess) for text in texts]
    desk.queue([Wanted(one, float(len(texts) - n), told.get("people", 1)) for n, one in enumerate(new)])
    rounds = Rounds(told.get("rounds", []), told.get("state", {}))
    app = make_app(desk, asked, rounds, told.get("show_guess", False), told.get("key", ""))
    bound = bound_to("127.0.0.1", told.get("port", 0))
    return desk, uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")), bound


@contextmanager
def serving(**told):
    """Serve in a thread until the block ends; connections that are still open are cut."""
    desk, server, bound = prepared(told)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    until = time.monotonic() + STARTED_SECONDS
    while not server.started and thread.is_alive() and time.monotonic() < until:
        time.sleep(0.005)
    assert server.started, "The server did not start."
    try:
        yield Serving(f"http://127.0.0.1:{bound.getsockname()[1]}", desk)
    finally:
        server.should_exit = server.force_exit = True
        thread.join(STARTED_SECONDS)
        desk.store.close()


def main(told):
    _, server, bound = prepared(told)
    print(f"http://127.0.0.1:{bound.getsockname()[1]}", flush=True)
    server.run(sockets=[bound])


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
