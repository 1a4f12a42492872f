"""Serving the annotators' page until it is stopped."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from limbeck.annotate.desk import Desk
from limbeck.annotate.store import open_store
from limbeck.config import Project
from limbeck.errors import BadSetting, ExtraMissing, SystemRefused
from limbeck.labelling.background import Learner, round_command
from limbeck.labelling.questions import Asked
from limbeck.store import key_of

FOLDER = "annotate"


def store_address(project: Project) -> str | Path:
    """Give the address of a project's store."""
    where = project.config.annotate.store
    if not where:
        raise BadSetting("This project has no store: annotate.store is empty.", "Set it to a file or a database URL.")
    return where if "://" in where else project.path(where)


def folder_of(project: Project, asked: Asked) -> Path:
    """Say where what is learnt for a question is kept."""
    category = asked.question.category
    name = "".join(c if c.isalnum() else "-" for c in category) or "all"
    if name != (category or "all"):
        name += f"-{key_of(category)[:6]}"
    return project.workdir / FOLDER / f"{asked.question.mode}-{name}"


def serve(project: Project, asked: Asked, host: str, port: int, key: str, overrides: Sequence[str] = ()) -> None:
    """Serve the page; without a key only browsers on this machine are answered."""
    try:
        import uvicorn

        from limbeck.labelling.desk_app import make_app
    except ModuleNotFoundError:
        raise ExtraMissing("annotate", "The annotators' page") from None
    if not key and host not in ("127.0.0.1", "localhost", "::1"):
        raise BadSetting(f"On {host} others can reach the page.", "Set LIMBECK_ANNOTATE_KEY to a key that they know.")
    settings = project.config.annotate
    command = round_command(project.root.resolve(), asdict(asked.question), overrides)
    learner = Learner(command, folder_of(project, asked), settings.retrain_every)
    with open_store(store_address(project)) as store:
        desk = Desk(store, asked.question, 60 * settings.lease_minutes)
        if not desk.waiting():
            learner.start()
        app = make_app(desk, asked, learner, settings.show_guess, key)
        bound = bound_to(host, port)
        print(f"Annotate on http://{host}:{bound.getsockname()[1]}  (Ctrl+C ends it)", file=sys.stderr, flush=True)
        try:
            server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
            server.run(sockets=[bound])
        finally:
            learner.stop()


def bound_to(host: str, port: int) -> socket.socket:
    """Give a socket at an address, or say why it can't be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise SystemRefused(f"Port {port} on {host} can't be had: {error.strerror}.", "Give another --port.") from None
    return bound
