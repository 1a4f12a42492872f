"""Where a project's tasks run."""

from __future__ import annotations

from limbeck.config import Project
from limbeck.scale.local import Executor, ThisMachine
from limbeck.scale.ray_cluster import RayCluster


def executor_of(project: Project) -> Executor:
    """Give what does a project's tasks, as its settings say; nothing is connected yet."""
    told = project.config.scale
    if told.backend == "local":
        return ThisMachine()
    return RayCluster(
        told.address, told.cpus, told.tasks_per_node, told.retries, told.wait_seconds, shared=project.workdir
    )
