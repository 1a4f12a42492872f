"""Settings of where work runs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from limbeck.config.section import Section


class ScaleSettings(Section):
    """Where teaching tasks and the scoring of the pool run. No result depends on it."""

    backend: Literal["local", "ray"] = Field(
        "local", description="local (this machine) or ray (the nodes of a Ray cluster; needs the extra 'ray')."
    )
    address: str = Field(
        "",
        description='The cluster: "HOST:PORT" of its head if this machine is a node of it, "ray://HOST:PORT" if not, '
        'or "auto". Empty: what RAY_ADDRESS says, else a cluster of this machine, which is started if there is none.',
    )
    cpus: Annotated[int, Field(ge=1)] = Field(1, description="Cores, and threads, that a task gets.")
    tasks_per_node: Annotated[int, Field(ge=0)] = Field(
        0,
        description="A node does at most so many tasks at a time; 0: as many as it has cores for. Each holds a model.",
    )
    retries: Annotated[int, Field(ge=0)] = Field(
        3, description="So often a task is done again that was lost with its process, its node or its disk."
    )
    wait_seconds: Annotated[float, Field(ge=0)] = Field(
        60.0, description="So long a run waits for a node that has room for a task, while none does anything."
    )
