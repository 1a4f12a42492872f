"""Where independent tasks run."""

from limbeck.scale.local import Executor, ThisMachine

__all__ = ["Executor", "ThisMachine"]
