"""What the annotators' desk promises, whichever database its store lives in; see store_promises."""

import os
import signal
import threading
import time
from itertools import count

import pytest
from desk_child import answer_many
from store_promises import PROCESSES

from limbeck.annotate.asked import Answer, Question, Wanted
from limbeck.annotate.desk import Desk
from limbeck.annotate.judged import agreed, holding, tally
from limbeck.annotate.store import open_store
from limbeck.annotate.texts import SAMPLED, UNCERTAIN, NewText
from limbeck.errors import AnswerLate, AnswerRefused

LATE = Question("binary", ("Punctuality",))
SEVERAL = Question("labels", ("Punctuality", "Staff", "Noise"))
ENTITIES = Question("spans", ("place", "train"))


def wanted(*words, strategy="confidence", **more):
    """Ask for texts, the first most urgently."""
    return [Wanted(NewText(text, "pool", strategy), float(len(words) - n), **more) for n, text in enumerate(words)]


def shown(tasks):
    return [task.text for task in tasks]


def state(store):
    """All that holds."""
    return sorted((one.text, one.category, one.annotator, one.verdict, repr(one.value)) for one in holding(store))


class DeskPromises:
    @pytest.fixture
    def desk(self, store):
        return Desk(store, LATE)

    def test_texts_come_in_the_order_of_their_urgency(self, desk):
        desk.queue(wanted("a", "b", "c"))
        assert shown(desk.next("Ann", 2)) == ["a", "b"]

    def test_nobody_gets_what_somebody_has_on_the_screen(self, desk):
        desk.queue(wanted("a", "b", "c"))
        assert shown(desk.next("Ann", 2)) == ["a", "b"]
        assert shown(desk.next("Bob", 5)) == ["c"]
        assert desk.next("Cem") == []

    def test_a_tab_that_is_opened_again_shows_the_same_texts(self, desk):
        desk.queue(wanted("a", "b", "c"))
        desk.next("Ann", 2)
        assert shown(desk.next("Ann", 2)) == ["a", "b"]
        assert shown(desk.next("Ann", 3)) == ["a", "b", "c"]

    def test_an_answer_is_kept_with_its_circumstances(self, desk, store):
        guess = {"model": "m", "version": "1", "labels": ["Punctuality"], "probabilities": {"Punctuality": 0.7}}
        desk.queue([Wanted(NewText("a", "pool", "margin", **guess), 1.0)])
        (task,) = desk.next("Ann")
        assert task.strategy == "margin" and task.guess["probabilities"] == {"Punctuality": 0.7}
        before = time.time()
        desk.answer(Answer(task.public_id, " Ann ", "label", True, seconds=2.5, guess_shown=True))
        (kept,) = holding(store)
        assert (kept.annotator, kept.value, kept.seconds, kept.guess_shown) == ("Ann", True, 2.5, True)
        assert kept.strategy == "margin" and kept.guess == task.guess and before <= kept.given <= time.time()
        assert desk.next("Ann") == [] and desk.waiting() == 0

    def test_an_answer_that_is_sent_twice_is_kept_once(self, desk, store):
        desk.queue(wanted("a"))
        (task,) = desk.next("Ann")
        told = Answer(task.public_id, "Ann", "label", True)
        assert desk.answer(told) == desk.answer(told)
        assert len(list(holding(store))) == 1

    def test_a_lease_that_ran_out_goes_to_the_next_who_asks(self, desk, store):
        desk.queue(wanted("a"))
        now = time.time()
        (task,) = desk.next("Ann", now=now)
        assert desk.next("Bob", now=now + 800) == []
        assert shown(desk.next("Bob", now=now + 1000)) == ["a"]
        with pytest.raises(AnswerLate):
            desk.answer(Answer(task.public_id, "Ann", "label", True), now=now + 1001)
        desk.answer(Answer(task.public_id, "Bob", "label", False), now=now + 1002)
        with pytest.raises(AnswerLate):
            desk.answer(Answer(task.public_id, "Ann", "label", True), now=now + 1003)
        assert state(store) == [("a", "Punctuality", "Bob", "label", "False")]

    def test_an_answer_after_the_lease_counts_if_nobody_else_has_the_text(self, desk, store):
        desk.queue(wanted("a"))
        (task,) = desk.next("Ann", now=1000.0)
        desk.answer(Answer(task.public_id, "Ann", "label", True), now=9000.0)
        assert len(state(store)) == 1

    def test_what_is_handed_back_is_free_at_once(self, desk):
        desk.queue(wanted("a"))
        desk.next("Ann")
        assert desk.release("Ann") == 1
        assert shown(desk.next("Bob")) == ["a"]

    def test_what_one_skips_or_does_not_know_goes_to_others_but_not_back(self, desk):
        desk.queue(wanted("a", "b"))
        for verdict in ("skip", "don't know"):
            (task,) = desk.next("Ann")
            desk.answer(Answer(task.public_id, "Ann", verdict))
        assert desk.next("Ann") == []
        assert shown(desk.next("Bob", 2)) == ["a", "b"]

    def test_several_people_answer_where_their_agreement_is_measured(self, desk, store):
        desk.queue(wanted("a", people=2))
        (first,), (second,) = desk.next("Ann"), desk.next("Bob")
        assert first.text == second.text == "a" and desk.next("Cem") == []
        desk.answer(Answer(first.public_id, "Ann", "label", True))
        assert desk.next("Ann") == [] and desk.next("Cem") == [] and desk.waiting() == 1
        desk.answer(Answer(first.public_id, "Bob", "label", True))
        assert agreed(store) == {("a", "Punctuality"): True} and desk.waiting() == 0
        desk.answer(Answer(first.public_id, "Bob", "label", False))
        assert agreed(store) == {}

    def test_undo_restores_exactly_as_often_as_there_were_answers(self, desk, store):
        desk.queue(wanted("a", "b", "c"))
        states, values = [state(store)], [True, False, True]
        for value in values:
            (task,) = desk.next("Ann")
            desk.answer(Answer(task.public_id, "Ann", "label", value))
            states.append(state(store))
        for before, text, value in zip(states[-2::-1], "cba", values[::-1], strict=True):
            task = desk.undo("Ann")
            assert (task.text, task.verdict, task.given) == (text, "label", value)
            assert state(store) == before
            assert desk.next("Bob", 9) == []
        assert desk.undo("Ann") is None

    def test_undo_brings_back_the_answer_that_was_replaced(self, desk, store):
        desk.queue(wanted("a"))
        (task,) = desk.next("Ann")
        desk.answer(Answer(task.public_id, "Ann", "label", True))
        before = state(store)
        desk.answer(Answer(task.public_id, "Ann", "label", False))
        assert desk.undo("Ann").given is False and state(store) == before

    def test_undo_leaves_others_alone(self, desk, store):
        desk.queue(wanted("a", "b"))
        for name in ("Ann", "Bob"):
            (task,) = desk.next(name)
            desk.answer(Answer(task.public_id, name, "label", True))
        desk.undo("Ann")
        assert [one[2] for one in state(store)] == ["Bob"]

    def test_questions_do_not_mix(self, store):
        late, staff = Desk(store, LATE), Desk(store, Question("binary", ("Staff",)))
        late.queue(wanted("a"))
        staff.queue(wanted("a", strategy="entropy"))
        (task,) = late.next("Ann")
        late.answer(Answer(task.public_id, "Ann", "label", True))
        assert shown(staff.next("Ann")) == ["a"] and late.next("Ann") == []

    def test_a_new_round_takes_the_place_of_what_nobody_touched(self, desk, store):
        store.add([NewText("from the server", "server", UNCERTAIN), NewText("b", "server", SAMPLED)])
        desk.queue(wanted("a", "b", "c", "d"))
        (task, _) = desk.next("Ann", 2)
        desk.answer(Answer(task.public_id, "Ann", "label", True))
        desk.queue(wanted("e", "d", strategy="margin"), instead_of=["confidence", "margin"])
        assert shown(desk.next("Ann", 9)) == ["b", "e", "d"]
        assert {row["text"] for row in store.export()} == {"a", "b", "d", "e", "from the server"}

    def test_lists_of_categories_remember_what_was_asked(self, store):
        desk = Desk(store, SEVERAL)
        desk.queue(wanted("a"))
        (task,) = desk.next("Ann")
        desk.answer(Answer(task.public_id, "Ann", "label", ["Noise", "Staff"]))
        (kept,) = holding(store)
        assert kept.value == {"labels": ["Staff", "Noise"], "asked": ["Punctuality", "Staff", "Noise"]}

    @pytest.mark.parametrize("value", [None, [], "yes", 1, {"a": 1}])
    def test_an_answer_to_yes_or_no_is_yes_or_no(self, desk, store, value):
        desk.queue(wanted("a"))
        (task,) = desk.next("Ann")
        with pytest.raises(AnswerRefused):
            desk.answer(Answer(task.public_id, "Ann", "label", value))
        assert state(store) == [] and shown(desk.next("Ann")) == ["a"]

    @pytest.mark.parametrize(
        "spans",
        [
            [{"start": 0, "end": 99, "type": "place"}],
            [{"start": 3, "end": 3, "type": "place"}],
            [{"start": -1, "end": 3, "type": "place"}],
            [{"start": True, "end": 3, "type": "place"}],
            [{"start": 0, "end": 3, "type": "dog"}],
            [{"start": 0, "end": 3, "type": "place"}, {"start": 2, "end": 4, "type": "train"}],
            "place",
        ],
    )
    def test_spans_lie_in_the_text_and_beside_each_other(self, store, spans):
        desk = Desk(store, ENTITIES)
        desk.queue(wanted("Ulm 🚆 Bonn"))
        (task,) = desk.next("Ann")
        with pytest.raises(AnswerRefused):
            desk.answer(Answer(task.public_id, "Ann", "label", spans))
        good = [{"start": 6, "end": 10, "type": "place"}, {"start": 0, "end": 3, "type": "place"}]
        desk.answer(Answer(task.public_id, "Ann", "label", good))
        (kept,) = holding(store)
        assert [kept.text[span["start"] : span["end"]] for span in kept.value] == ["Ulm", "Bonn"]

    @pytest.mark.parametrize("name", ["", "  ", "x" * 200, "a\x00b", "a\nb"])
    def test_annotators_have_names(self, desk, name):
        with pytest.raises(AnswerRefused):
            desk.next(name)

    def test_hostile_texts_come_back_as_they_were(self, desk):
        hostile = [
            "<script>alert(1)</script>",
            "\u202eabc\u2066",
            "🧑‍🚀" * 10_000,
            "a" * 50_000,
            "'; DROP TABLE texts;--",
        ]
        desk.queue(wanted(*hostile))
        assert shown(desk.next("Ann", 9)) == hostile

    def test_the_tally_counts_what_holds(self, desk, store):
        desk.queue(wanted("a", "b", "c", "d"))
        now = time.time()
        answers = [("label", True), ("label", False), ("skip", None), ("don't know", None)]
        for second, (verdict, value) in enumerate(answers):
            (task,) = desk.next("Ann")
            desk.answer(Answer(task.public_id, "Ann", verdict, value, seconds=3.0), now=now + 5 * second)
        found = tally(store, LATE, "Ann", now + 20)
        assert (found.labels, found.skipped, found.unknown, found.texts) == (2, 1, 1, 2)
        assert found.balance == {"yes": 1, "no": 1} and found.by_strategy == {"confidence": 2}
        assert found.seconds == 3.0 and found.pace == pytest.approx(12)

    def test_many_at_once_never_get_the_same_text(self, store, url):
        Desk(store, LATE).queue(wanted(*(f"text {n}" for n in range(120))))
        got = {name: [] for name in "ABCD"}

        def work(name):
            with open_store(url) as mine:
                desk = Desk(mine, LATE)
                while tasks := desk.next(name, 3):
                    for task in tasks:
                        desk.answer(Answer(task.public_id, name, "label", True))
                        got[name].append(task.text)

        threads = [threading.Thread(target=work, args=(name,)) for name in got]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        every = [text for texts in got.values() for text in texts]
        # In PostgreSQL the last ones may be locked by others while somebody looks, who then stops: none comes twice.
        assert len(every) == len(set(every)) and len(every) == len(state(store)) >= 100

    def test_a_killed_annotator_loses_no_acknowledged_answer_and_its_texts_come_back(self, store, url, tmp_path):
        desk = Desk(store, LATE)
        desk.queue(wanted(*(f"text {n}" for n in range(300))))
        said = tmp_path / "said"
        said.touch()
        process = PROCESSES.Process(target=answer_many, args=(url, said))
        process.start()
        until = time.time() + 20
        while said.read_text().count("\n") < 20 and time.time() < until:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        acknowledged = said.read_text().split("\n")[:-1]
        kept = [one.public_id for one in holding(store)]
        assert len(acknowledged) >= 20 and set(acknowledged) <= set(kept) and len(kept) == len(set(kept))
        later = (time.time() + 1000 + 0.001 * n for n in count())
        while tasks := desk.next("Bob", 50, now=next(later)):
            for task in tasks:
                desk.answer(Answer(task.public_id, "Bob", "label", False), now=next(later))
        assert len(state(store)) == 300
