"""limbeck serve, and limbeck key."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

SECURITY, LIMITS, STORE = "Safety", "Limits", "Storing (off unless --store is given)"


def command(
    bundles: Annotated[list[str], typer.Argument(help="Bundles' folders; NAME=FOLDER gives a name.")],
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for any that is free.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, help="Processes that share the port.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each worker's models.")] = 1,
    replies: Annotated[Path | None, typer.Option(help="A replies.toml; see: limbeck replies check.")] = None,
    page: Annotated[bool, typer.Option(help="Show the feedback page at /.")] = True,
    keys: Annotated[Path | None, typer.Option(help="A file of keys' hashes.", rich_help_panel=SECURITY)] = None,
    cors: Annotated[
        list[str] | None, typer.Option(help="Other sites whose pages may ask.", rich_help_panel=SECURITY)
    ] = None,
    open_metrics: Annotated[
        bool, typer.Option(help="Let anyone read /metrics, not the admin alone.", rich_help_panel=SECURITY)
    ] = False,
    log_texts: Annotated[bool, typer.Option(help="Write all texts to the log.", rich_help_panel=SECURITY)] = False,
    tls_cert: Annotated[Path | None, typer.Option(help="A certificate, for https.", rich_help_panel=SECURITY)] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The certificate's key.", rich_help_panel=SECURITY)] = None,
    max_body: Annotated[int, typer.Option(min=100, help="Bytes a request.", rich_help_panel=LIMITS)] = 2_000_000,
    max_characters: Annotated[int, typer.Option(min=1, help="Characters a text.", rich_help_panel=LIMITS)] = 100_000,
    max_texts: Annotated[int, typer.Option(min=1, help="Texts a request.", rich_help_panel=LIMITS)] = 256,
    rate: Annotated[float, typer.Option(min=0, help="Texts a second a key; 0: any.", rich_help_panel=LIMITS)] = 0,
    queue: Annotated[int, typer.Option(min=1, help="Texts that may wait in a worker.", rich_help_panel=LIMITS)] = 512,
    batch: Annotated[int, typer.Option(min=1, help="Texts that run together.", rich_help_panel=LIMITS)] = 32,
    deadline: Annotated[
        float, typer.Option(min=0.001, help="Seconds a request may take.", rich_help_panel=LIMITS)
    ] = 2.0,
    store: Annotated[str | None, typer.Option(help="A file or a database URL.", rich_help_panel=STORE)] = None,
    store_below: Annotated[
        float, typer.Option(min=0.5, max=1, help="Keep texts less certain than this.", rich_help_panel=STORE)
    ] = 0.7,
    store_sample: Annotated[
        float, typer.Option(min=0, max=1, help="Keep this share of the others.", rich_help_panel=STORE)
    ] = 0.0,
    store_days: Annotated[int, typer.Option(min=1, help="Days that they are kept.", rich_help_panel=STORE)] = 90,
    show_texts: Annotated[
        bool, typer.Option(help="Show kept texts on the owner's page.", rich_help_panel=STORE)
    ] = False,
) -> None:
    """Answer over HTTP: categories or entities of texts, and contextual replies."""
    from limbeck.serve.limits import Limits
    from limbeck.serve.run import serve
    from limbeck.serve.settings import ServeSettings, Storing
    from limbeck.serve.shelf import named_folders

    limits = Limits(
        body_bytes=max_body,
        characters=max_characters,
        texts=max_texts,
        rate=rate,
        waiting=queue,
        together=batch,
        deadline=deadline,
    )
    settings = ServeSettings(
        models={name: str(folder.resolve()) for name, folder in named_folders(bundles).items()},
        host=host,
        port=port,
        workers=workers,
        threads=threads,
        limits=limits,
        replies=_told(replies),
        keys=_told(keys),
        store=Storing(store, store_below, store_sample, store_days, show_texts) if store else None,
        cors=tuple(cors or ()),
        page=page,
        open_metrics=open_metrics,
        log_texts=log_texts,
        certificate=_told(tls_cert),
        private_key=_told(tls_key),
    )
    sys.exit(serve(settings))


def _told(path: Path | None) -> str | None:
    return str(path.resolve()) if path is not None else None


def key(
    name: Annotated[str, typer.Argument(help="Whose key it is; 'admin' may reload models and see all figures.")],
) -> None:
    """Make a key: shown once, and the line with its hash for the keys file."""
    from limbeck.serve.keys import digest_of, new_key

    made = new_key()
    typer.echo(f"The key, which is shown only now: {made}")
    typer.echo("The line for the keys file:")
    typer.echo(f"{name}:{digest_of(made)}")
