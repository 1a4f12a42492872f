"""Starting a server: what is missing or doesn't fit is told before anything starts."""

import sys

import pytest

from limbeck.errors import BadSetting, ExtraMissing
from limbeck.serve.run import serve
from limbeck.serve.settings import ServeSettings


def test_without_the_extra_the_install_command_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in [name for name in sys.modules if name.startswith(("limbeck.serve.worker", "limbeck.serve.protocol"))]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ExtraMissing, match="pip install 'limbeck\\[serve\\]'"):
        serve(ServeSettings({}))


@pytest.mark.parametrize(
    "wrong", [{"workers": 0}, {"threads": 0}, {"certificate": "x"}, {"certificate": "x", "private_key": "y"}]
)
def test_settings_that_do_not_fit(wrong):
    with pytest.raises(BadSetting):
        serve(ServeSettings({}, **wrong))
