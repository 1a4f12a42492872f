"""Kill runs at chosen file operations: python kill_at.py PROJECT WORKDIR EVERY.

Each run is a forked child that sends itself SIGKILL at its n-th operation on a file of the project (Python's audit hook
sees them all); another child then finishes the project, and its figures are compared with those of an undisturbed run.
"""

import json
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path

# Loaded once here, so that each fork starts at once.
import iterstrat.ml_stratifiers  # noqa: F401
import pyarrow.parquet  # noqa: F401
import sklearn.linear_model  # noqa: F401

import limbeck.baselines
import limbeck.measure.compare  # noqa: F401
from limbeck.config import load_project
from limbeck.pipeline import Pipeline

WATCHED = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree"}


def run_in_child(project: Path, answer: Path, kill_at: int | None) -> bool:
    """Run a project in a fork; say whether it ended by itself."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            seen = 0

            def watch(event: str, arguments: tuple) -> None:
                nonlocal seen
                if event in WATCHED and any(str(project) in str(a) for a in arguments[:2]):
                    seen += 1
                    if kill_at is not None and seen > kill_at:
                        os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(watch)
            states = Pipeline(load_project(project)).run()
            figures = {state.step.name: dict(state.figures) for state in states}
            answer.write_text(json.dumps({"events": seen, "figures": figures}), encoding="utf-8")
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        sys.exit(f"a child failed with {os.WEXITSTATUS(status)}")
    return os.WIFEXITED(status)


def main() -> None:
    template, workdir, every = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), int(sys.argv[3])
    answer = workdir / "answer.json"

    def fresh(name: str) -> Path:
        shutil.copytree(template, workdir / name)
        return workdir / name

    assert run_in_child(fresh("whole"), answer, None)
    whole = json.loads(answer.read_text(encoding="utf-8"))
    killed, different = 0, []
    for moment in range(0, whole["events"], every):
        project = fresh(f"cut-{moment}")
        killed += not run_in_child(project, answer, moment)
        assert run_in_child(project, answer, None)
        if json.loads(answer.read_text(encoding="utf-8"))["figures"] != whole["figures"]:
            different.append(moment)
        shutil.rmtree(project)
    print(json.dumps({"events": whole["events"], "killed": killed, "different": different}))


main()
