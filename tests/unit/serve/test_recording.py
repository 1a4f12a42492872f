"""What the server keeps: the unsure, some of all, and texts of labels that moved."""

from types import SimpleNamespace

from limbeck.annotate.store import open_store
from limbeck.annotate.texts import DRIFTED, UNCERTAIN
from limbeck.labelling.candidates import OF_SERVER
from limbeck.serve.recording import open_recorder
from limbeck.serve.settings import Storing


def answered(*labels, sure=0.95, model="one"):
    told = SimpleNamespace(name=model, version="1")
    return SimpleNamespace(model=told, told={"probabilities": {}}, labels=list(labels), sure=sure, clear=sure)


def test_texts_of_a_label_that_moved_are_kept_until_there_are_enough(tmp_path):
    recorder = open_recorder(Storing(str(tmp_path / "t.db")))
    assert recorder.reason(answered("late")) is None
    recorder.want({"one": {"late": 2}, "two": {}})
    assert recorder.reason(answered("heat")) is None and recorder.reason(answered("late", model="two")) is None
    assert recorder.reason(answered("late", sure=0.5)) == UNCERTAIN
    assert [recorder.reason(answered("heat", "late")) for _ in range(3)] == [DRIFTED, DRIFTED, None]
    recorder.want({"one": {"late": 2}})
    assert recorder.reason(answered("late")) is None, "it is still the same move"
    recorder.want({"one": {}})
    recorder.want({"one": {"late": 1}})
    recorder.sample(["so late"], [answered("late")])
    recorder.close()
    with open_store(tmp_path / "t.db", create=False) as store:
        [kept] = store.export()
    assert kept["text"] == "so late" and DRIFTED in kept["reasons"] and DRIFTED in OF_SERVER
