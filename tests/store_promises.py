"""What the store of texts promises, whichever database it lives in; a test class of each database inherits it.

It asks for two fixtures: `url`, of an empty database, and `store`, opened there.
"""

import multiprocessing
import random
import re
import signal
import time

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError
from store_child import add_many

from limbeck.annotate.database import address_of
from limbeck.annotate.schema import VERSION, judgements, leases, texts
from limbeck.annotate.store import open_store
from limbeck.annotate.texts import DAY, NOT_HELPED, SAMPLED, UNCERTAIN, NewText, Vote, storable
from limbeck.annotate.writer import GroupWriter
from limbeck.errors import StoreError, StoreMissing, StoreVersion

# Processes that have imported already what they need, and nothing else.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["limbeck.annotate.writer", "psycopg"])
GUESS = {
    "model": "trains",
    "version": "3",
    "labels": ["Delay"],
    "probabilities": {"Delay": 0.75, "Staff": 0.25},
    "confidence": 0.5,
    "language": "de",
}


def new(words="The train was late.", reason=SAMPLED, source="server", **more):
    return NewText(words, source, reason, **more)


def sql(url, *statements, **values):
    """Do something behind the store's back."""
    engine = create_engine(address_of(url))
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement) if isinstance(statement, str) else statement, values)
    engine.dispose()


def annotate(url, public_id, **more):
    """Label a text as issue 8's functions will."""
    row = texts.select().with_only_columns(texts.c.id).where(texts.c.public_id == public_id).scalar_subquery()
    given = {"annotator": "Ann", "verdict": "label", "value": ["Delay"], "given": time.time(), **more}
    sql(url, judgements.insert().values(text_id=row, **given))


def child(url, folder, name, count, shared=0):
    """Start a process that adds texts; give it and the file in which it says what was acknowledged."""
    said = folder / name
    said.touch()
    process = PROCESSES.Process(target=add_many, args=(url, name, count, shared, said))
    process.start()
    return process, said


class StorePromises:
    def test_a_text_comes_back_with_all_that_was_said_of_it(self, store):
        before = time.time()
        entities = [{"text": "Ulm", "type": "place", "start": 3, "end": 6}]
        (name,) = store.add([new("Zug 🚆 \u202everspätet", UNCERTAIN, entities=entities, keep_days=30, **GUESS)])
        (kept,) = store.waiting(10)
        assert kept.public_id == name and kept.text == "Zug 🚆 \u202everspätet" and kept.source == "server"
        assert {field: getattr(kept, field) for field in GUESS} == GUESS
        assert kept.entities == entities and kept.reasons == [UNCERTAIN] and kept.seen == 1
        assert before <= kept.added == kept.last_seen <= time.time()
        assert kept.expires == pytest.approx(kept.added + 30 * DAY)
        assert (kept.helped, kept.not_helped) == (0, 0)

    def test_ids_are_long_random_and_fit_for_a_url(self, store):
        names = store.add([new(f"text {n}") for n in range(300)])
        assert len(set(names)) == 300
        assert all(re.fullmatch(r"[\w-]{22}", name, re.ASCII) for name in names)

    @pytest.mark.parametrize(
        "words",
        ["", "null \x00 byte", "lone \ud83d half", "\udcff", "'; DROP TABLE texts; --", "x%(y)s :z ?", "ä🚆" * 500_000],
        ids=["empty", "null", "surrogate", "byte", "quotes", "parameters", "megabytes"],
    )
    def test_any_text_is_kept(self, store, words):
        labels = [words[:9]]
        given = new(words, model=words[:9], labels=labels, probabilities={words[:9]: float("nan")}, confidence=0.1)
        (name,) = store.add([given])
        assert store.add([given]) == [name]
        (kept,) = store.waiting(1)
        clean = storable(words)
        assert kept.text == clean and kept.model == clean[:9] and kept.labels == [clean[:9]]
        assert kept.probabilities == {clean[:9]: None} and kept.seen == 2

    def test_the_same_text_is_kept_once_a_source(self, store):
        first = new(reason=SAMPLED, keep_days=9, **GUESS)
        again = new(reason=UNCERTAIN, keep_days=2, **{**GUESS, "version": "4", "confidence": 0.25, "labels": []})
        without_guess = new(reason=UNCERTAIN, keep_days=1)
        elsewhere = new(source="import")
        (name,) = store.add([first])
        ids = store.add([again, elsewhere, without_guess])
        assert ids[0] == ids[2] == name != ids[1]
        other, kept = sorted(store.waiting(10), key=lambda one: one.source)
        assert (other.seen, other.reasons, other.expires) == (1, [SAMPLED], None)
        assert (kept.seen, kept.reasons) == (3, [SAMPLED, UNCERTAIN])
        assert (kept.version, kept.confidence, kept.labels) == ("4", 0.25, [])
        assert kept.expires == pytest.approx(kept.added + 9 * DAY, abs=60) and kept.last_seen >= kept.added

    def test_the_longer_retention_holds_and_for_good_is_the_longest(self, store):
        for days, expected in ((5, 5), (20, 20), (None, None), (7, None)):
            store.add([new(keep_days=days)])
            (kept,) = store.waiting(1)
            assert kept.expires == (expected and pytest.approx(kept.last_seen + expected * DAY, abs=60))

    def test_the_last_vote_of_a_voter_counts(self, store):
        name, other = store.add([new(), new("Another.")])
        assert store.vote(name, False) and store.vote(name, False) and store.vote(name, True)
        assert store.vote(name, False, voter="a second answer")
        assert not store.vote("unknown", True) and not store.vote("\x00", False)
        votes = {kept.public_id: (kept.helped, kept.not_helped) for kept in store.waiting(10)}
        assert votes == {name: (1, 1), other: (0, 0)}

    def test_many_entries_are_recorded_together_and_answered_in_order(self, store):
        (name,) = store.add([new()])
        entries = [Vote(name, True), new("One."), Vote("unknown", True), new(), Vote(name, False)]
        answers = store.record(entries)
        assert answers[0] is True and answers[2] is False and answers[3] == name and answers[4] is True
        assert store.counts().not_helped == 1 and store.counts().texts == 2
        assert store.record([]) == []

    def test_waiting_texts_come_in_the_order_asked_for(self, store):
        for words, confidence in (("sure", 0.9), ("unknown", None), ("unsure", 0.1), ("half", 0.5)):
            store.add([new(words, model="m", confidence=confidence)])
        assert [kept.text for kept in store.waiting(9)] == ["unsure", "half", "sure", "unknown"]
        assert [kept.text for kept in store.waiting(2)] == ["unsure", "half"]
        assert [kept.text for kept in store.waiting(9, "newest")] == ["half", "unsure", "unknown", "sure"]
        store.add([new("sure")])
        assert [kept.text for kept in store.waiting(1, "newest")] == ["sure"]

    def test_the_last_uncertain_texts_are_for_the_owner(self, store):
        for n, reason in enumerate((UNCERTAIN, SAMPLED, UNCERTAIN, NOT_HELPED)):
            store.add([new(f"text {n}", reason)])
        assert [kept.text for kept in store.uncertain(5)] == ["text 2", "text 0"]
        assert [kept.text for kept in store.uncertain(1)] == ["text 2"]

    def test_a_text_that_a_person_labelled_waits_no_more(self, store, url):
        names = store.add([new(f"text {n}", keep_days=1) for n in range(5)])
        annotate(url, names[0])
        annotate(url, names[1], undone=time.time())
        annotate(url, names[2], verdict="skip", value=None)
        annotate(url, names[3], origin="rule")
        assert {kept.text for kept in store.waiting(9)} == {"text 1", "text 2", "text 3", "text 4"}
        counts = store.counts()
        assert (counts.texts, counts.waiting, counts.reasons) == (5, 4, {SAMPLED: 5})

    def test_purge_deletes_what_is_past_its_time_and_has_no_label_by_a_person(self, store, url):
        names = store.add([new(f"text {n}", keep_days=1) for n in range(1200)])
        store.add([new("kept for two days", keep_days=2), new("kept for good")])
        assert store.vote(names[0], True) and store.vote(names[5], False)
        annotate(url, names[0])
        annotate(url, names[1], verdict="don't know", value=None)
        annotate(url, names[2], undone=time.time())
        assert store.purge() == 0
        assert store.purge(time.time() + 1.5 * DAY) == 1199
        assert {row["text"] for row in store.export()} == {"text 0", "kept for two days", "kept for good"}
        counts = store.counts()
        assert (counts.helped, counts.not_helped, counts.reasons) == (1, 0, {SAMPLED: 3})
        assert not store.vote(names[5], True)

    def test_an_export_gives_every_text_once_in_the_order_in_which_they_came(self, store):
        for start in range(0, 250, 50):
            store.add([new(f"text {start + n}", model="m", labels=["Delay"]) for n in range(50)])
        rows = list(store.export())
        assert len({row["public_id"] for row in rows}) == len(rows) == 250
        assert sorted(row["text"] for row in rows) == sorted(f"text {n}" for n in range(250))
        assert {row["text"] for row in rows[:50]} == {f"text {n}" for n in range(50)}
        assert rows[7]["labels"] == ["Delay"] and rows[7]["reasons"] == [SAMPLED]

    def test_two_people_can_neither_hold_nor_answer_the_same_question_by_accident(self, store, url):
        (name,) = store.add([new()])
        annotate(url, name, undone=time.time())
        annotate(url, name)
        annotate(url, name, annotator="Bob")
        annotate(url, name, category="Delay", value=True)
        with pytest.raises(IntegrityError):
            annotate(url, name)
        lease = {"text_id": 1, "until": time.time() + 60}
        sql(url, leases.insert().values(annotator="Ann", **lease))
        with pytest.raises(IntegrityError):
            sql(url, leases.insert().values(annotator="Bob", **lease))
        sql(url, leases.insert().values(annotator="Bob", slot=1, **lease))

    def test_a_store_of_a_newer_version_is_refused(self, store, url):
        store.close()
        sql(url, "UPDATE limbeck_store SET version = version + 1")
        with pytest.raises(StoreVersion, match=f"version {VERSION + 1}.*newer Limbeck"):
            open_store(url)

    def test_a_database_of_something_else_is_left_alone(self, url):
        sql(url, "CREATE TABLE texts (title VARCHAR)")
        with pytest.raises(StoreError, match="no store of Limbeck.*'texts'"):
            open_store(url)
        with pytest.raises(StoreMissing):
            open_store(url, create=False)

    def test_an_error_of_the_database_is_told_and_the_writer_goes_on(self, store, url):
        with GroupWriter(store) as writer:
            name = writer.submit(new()).result(9)
            sql(url, "ALTER TABLE texts RENAME TO hidden")
            waiting = [writer.submit(new("The secret words.")), writer.vote(Vote(name, True))]
            for answer in waiting:
                error = answer.exception(9)
                assert isinstance(error, StoreError) and "texts" in str(error) and "secret" not in str(error)
            sql(url, "ALTER TABLE hidden RENAME TO texts")
            assert writer.submit(new()).result(9) == name and writer.vote(Vote(name, True)).result(9)
        (kept,) = store.waiting(9)
        assert (kept.seen, kept.helped) == (2, 1)

    def test_four_processes_that_start_at_once_lose_nothing(self, url, tmp_path):
        for process, said in [child(url, tmp_path, f"process {n}", 75, shared=25) for n in range(4)]:
            process.join(60)
            assert process.exitcode == 0, said.read_text()
            assert len(said.read_text().split()) == 100
        with open_store(url, create=False) as store:
            seen = {row["text"]: row["seen"] for row in store.export()}
        expected = {f"process {n} {m}": 1 for n in range(4) for m in range(75)}
        assert seen == expected | {f"shared {n}": 4 for n in range(25)}

    def test_what_was_acknowledged_survives_a_kill(self, url, tmp_path):
        moments = random.Random(5)
        children = [child(url, tmp_path, f"process {n}", 1_000_000) for n in range(4)]
        for process, said in children:
            while not said.stat().st_size and process.is_alive():
                time.sleep(0.005)
            time.sleep(moments.uniform(0, 0.1))
            process.kill()
            process.join()
            assert process.exitcode == -signal.SIGKILL, said.read_text()
        promised = {line for _, said in children for line in said.read_text().split()}
        with open_store(url, create=False) as store:
            kept = [row["public_id"] for row in store.export()]
            assert promised <= set(kept) and len(set(kept)) == len(kept)
            assert store.add([new("Life goes on.")])
