"""Keys and rates."""

import pytest

from limbeck.errors import BadSetting, FileMissing
from limbeck.serve import keys as module
from limbeck.serve.keys import Keys, Rates, digest_of, new_key, read_keys


def test_a_key_is_known_by_its_hash_alone(tmp_path):
    mine, admin, other = new_key(), new_key(), new_key()
    file = tmp_path / "keys"
    file.write_text(f"# ours\nshop:{digest_of(mine)}\n\nadmin:{digest_of(admin)}  # the owner\n")
    keys = read_keys(file, {})
    assert (keys.name_of(mine), keys.name_of(admin), keys.name_of(other), keys.name_of("")) == (
        "shop",
        "admin",
        None,
        None,
    )
    assert keys.asked and not Keys({"admin": digest_of(admin)}).asked
    assert mine not in file.read_text()


def test_keys_from_the_environment():
    keys = read_keys(None, {"LIMBECK_KEYS": f"a:{'0' * 64},b:{'1' * 64}", "LIMBECK_ADMIN_KEY": "2" * 64})
    assert set(keys.digests) == {"a", "b", "admin"}


def test_broken_keys_are_refused(tmp_path):
    file = tmp_path / "keys"
    file.write_text("a:" + "0" * 64 + "\nshop = secret\n")
    with pytest.raises(BadSetting) as caught:
        read_keys(file, {})
    assert caught.value.place.line == 2 and "secret" not in str(caught.value)
    with pytest.raises(FileMissing):
        read_keys(tmp_path / "none", {})
    with pytest.raises(BadSetting):
        read_keys(None, {"LIMBECK_ADMIN_KEY": "my key"})


def test_each_asker_has_a_bucket(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    rates = Rates(10, burst=2)
    assert rates.wait("a", 20) == 0
    assert rates.wait("a", 5) == pytest.approx(0.5)
    assert rates.wait("b", 20) == 0
    now[0] += 0.5
    assert rates.wait("a", 5) == 0
    assert rates.wait("a", 1) > 0
    # More than a bucket holds is taken from a full one, and paid for later.
    now[0] += 10
    assert rates.wait("a", 40) == 0
    now[0] += 1
    assert rates.wait("a", 1) > 0
    assert Rates(0).wait("a", 10**9) == 0


def test_made_up_askers_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(module, "REMEMBERED", 100)
    rates = Rates(1)
    for number in range(1000):
        rates.wait(f"address {number}", 1)
    assert len(rates._left) == 100
