"""Where independent tasks run: on this machine, or on a Ray cluster."""

from limbeck.scale.choose import executor_of
from limbeck.scale.local import Executor, ThisMachine
from limbeck.scale.ray_cluster import RayCluster

__all__ = ["Executor", "RayCluster", "ThisMachine", "executor_of"]
