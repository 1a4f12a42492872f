"""A finished small project with entities, made once."""

import pytest
from tagging_project import ALL_STUDENTS, tag_pipeline, tagging_project


@pytest.fixture(scope="session")
def tagged(tmp_path_factory):
    """The whole chain, all three students with a crf."""
    pipeline = tag_pipeline(tagging_project(tmp_path_factory.mktemp("tagging") / "p"), *ALL_STUDENTS)
    pipeline.run()
    return pipeline
