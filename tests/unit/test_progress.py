"""Bars on a terminal: one display for all of them, and silence elsewhere."""

import io
import sys

import pytest

from limbeck.progress import bar, progress, set_quiet


class Terminal(io.StringIO):
    """Takes what a terminal would show."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Call it in the test: pytest puts its own stream in place before."""

    def replaced():
        monkeypatch.setattr(sys, "stderr", Terminal())
        monkeypatch.setenv("TERM", "xterm")
        return sys.stderr

    yield replaced
    set_quiet(False)


def test_bars_inside_a_bar_share_its_display(terminal):
    shown = terminal()
    with bar("texts", 6) as advance:
        for batch in range(2):
            assert list(progress(range(3), f"batch {batch}", 3)) == [0, 1, 2]
            advance(3)
    assert "texts" in shown.getvalue()
    assert list(progress([1], "afterwards", 1)) == [1]
    assert "afterwards" in shown.getvalue()


def test_an_error_inside_leaves_the_display_free(terminal):
    shown = terminal()
    with pytest.raises(ValueError), bar("first", 1):
        for _ in progress(range(2), "inner", 2):
            raise ValueError
    assert list(progress([1], "second", 1)) == [1] and "second" in shown.getvalue()


def test_quiet_shows_nothing(terminal):
    shown = terminal()
    set_quiet(True)
    with bar("texts", 2) as advance:
        advance(1)
    assert list(progress([1, 2], "more")) == [1, 2] and shown.getvalue() == ""
