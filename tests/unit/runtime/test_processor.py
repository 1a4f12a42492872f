"""What a processor can do decides how numbers are multiplied."""

import pytest

from limbeck.runtime import processor


@pytest.mark.parametrize(
    ("features", "saturates", "bf16"),
    [
        ({"avx2"}, True, False),
        ({"avx2", "avx_vnni"}, False, False),
        ({"avx512f", "avx512_vnni", "avx512_bf16"}, False, True),
        ({"avx512_vnni", "amx_bf16"}, False, True),
        (None, True, False),
    ],
)
def test_features_tell_which_short_numbers_are_safe_and_fast(monkeypatch, features, saturates, bf16):
    known = None if features is None else frozenset(features)
    monkeypatch.setattr(processor, "processor", lambda: (known, "a processor"))
    monkeypatch.setattr(processor.platform, "machine", lambda: "x86_64")
    assert processor.saturates() is saturates
    assert processor.multiplies_bf16() is bf16


def test_arm_adds_without_loss(monkeypatch):
    monkeypatch.setattr(processor.platform, "machine", lambda: "aarch64")
    assert processor.saturates() is False
