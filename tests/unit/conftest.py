"""A small project to teach, and one thread: tiny networks are faster on it, above all when tests run side by side."""

import pytest
import torch
from teaching_project import copy_of, teaching_project


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    return teaching_project(tmp_path_factory.mktemp("teaching") / "p")


@pytest.fixture
def project(template, tmp_path):
    return copy_of(template, tmp_path / "p")
