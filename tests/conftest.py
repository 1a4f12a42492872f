"""Fixtures that every level uses."""

from pathlib import Path

import pytest
from small_project import write_project


@pytest.fixture
def project_folder(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project")
