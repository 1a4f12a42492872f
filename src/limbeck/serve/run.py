"""Serving, from what was asked on the command line to the end of the last worker."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from limbeck.errors import BadSetting, ExtraMissing
from limbeck.serve.settings import ServeSettings


def serve(settings: ServeSettings) -> int:
    """Serve until a signal ends it; give the exit code."""
    _check(settings)
    try:
        from limbeck.serve.worker import listening, run_worker
    except ModuleNotFoundError:
        raise ExtraMissing("serve", "The server") from None
    if settings.workers == 1:
        return run_worker(settings, _pages)
    from limbeck.serve.workers import Parent

    # It is bound and never listens: it keeps the port, and says before anything starts if that can't be had.
    kept = listening(settings.host, settings.port, shared=True, listen=False)
    port = kept.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="limbeck-") as folder:
        # Workers count into files there, which each of them can add up.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        told = replace(settings, port=port, state=folder).as_json()
        command = [sys.executable, "-m", "limbeck.serve.worker", told]
        print(f"{settings.workers} workers on {settings.host}:{port}", file=sys.stderr, flush=True)
        _pages(settings, port)
        return Parent(command, settings.workers, settings.limits.drain_seconds).run()


def _pages(settings: ServeSettings, port: int) -> None:
    """Say where a person may look."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    root = f"{'https' if settings.certificate else 'http'}://{host}:{port}"
    print(f"Pages: {root} to try it, {root}/docs for every path. Ctrl-C stops.", file=sys.stderr, flush=True)


def _check(settings: ServeSettings) -> None:
    if settings.workers < 1 or settings.threads < 1:
        raise BadSetting("There must be one worker and one thread at least.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if settings.workers * settings.threads > cores:
        print(f"note: {settings.workers} x {settings.threads} threads share {cores} cores", file=sys.stderr)
    if bool(settings.certificate) != bool(settings.private_key):
        raise BadSetting("TLS needs both a certificate and its key.", "Give --tls-cert and --tls-key.")
    for file in (settings.certificate, settings.private_key):
        if file and not Path(file).is_file():
            raise BadSetting(f"There is no file {file}.", "Check --tls-cert and --tls-key.")
