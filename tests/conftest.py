"""Fixtures that every level uses."""

from pathlib import Path

import pytest
from small_project import write_project

from limbeck.progress import set_quiet


@pytest.fixture(autouse=True)
def _progress_shows():
    """Commands that are run in this process may have switched progress off."""
    yield
    set_quiet(False)


@pytest.fixture
def project_folder(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project")
