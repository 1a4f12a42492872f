"""A finished small project with entities, made once."""

import pytest
from tagging_project import tag_pipeline, tagging_project

MORE = ['students.kinds=["cnn", "bilstm", "transformer"]', "students.decoder=crf", "students.layers=1"]


@pytest.fixture(scope="session")
def tagged(tmp_path_factory):
    """The whole chain, all three students with a crf."""
    pipeline = tag_pipeline(tagging_project(tmp_path_factory.mktemp("tagging") / "p"), *MORE)
    pipeline.run()
    return pipeline
