"""limbeck doctor."""

from __future__ import annotations

from pathlib import Path

from limbeck.cli.options import AsJson, Overrides, ProjectFolder
from limbeck.cli.output import print_json, print_table
from limbeck.config import FILE_NAME, EncoderSettings, load_project
from limbeck.doctor import Examination, examine


def command(project: ProjectFolder = Path(), overrides: Overrides = None, as_json: AsJson = False) -> None:
    """Report what this machine and this installation can do."""
    encoder = (
        load_project(project, overrides or ()).config.encoder if (project / FILE_NAME).exists() else EncoderSettings()
    )
    found = examine(encoder.name, project)
    if as_json:
        print_json(found.as_dict())
    else:
        _print(found)


def _print(found: Examination) -> None:
    threads = (
        ", ".join(f"{name}={value}" for name, value in found.thread_variables.items())
        or "not limited by the environment"
    )
    machine = [
        {"": "limbeck", " ": f"{found.version}, Python {found.python}, {found.system}"},
        {"": "CPU", " ": found.cpu},
        *(
            {"": f"  {name}", " ": {True: "yes", False: "no", None: "unknown"}[has]}
            for name, has in found.features.items()
        ),
        {"": "cores", " ": f"{found.cores}, of which {found.usable_cores} may be used"},
        {"": "threads", " ": threads},
        {"": "memory", " ": f"{found.memory_gib} GiB" if found.memory_gib else "unknown"},
    ]
    print_table("Machine", machine)
    extras = [
        {"extra": name, "installed": not lacking, "missing": ", ".join(lacking)}
        for name, lacking in found.extras.items()
    ]
    print_table("Extras", extras, "Install one with: pip install 'limbeck[NAME]', in a clone: pip install '.[NAME]'")
    print_table("Encoder", [{"name": found.encoder, "found": found.encoder_found or f"no. {found.encoder_problem}"}])
