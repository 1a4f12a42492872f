"""Gathering: each text once with all its rows, judges apart, in as many buckets as it takes."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from small_pool import gathered, prepared

from limbeck.config import DataSettings
from limbeck.errors import FileEmpty, FileMissing, LineTooLong, TooFewRows
from limbeck.pseudo import gather as gathering
from limbeck.pseudo.buckets import Bucket, Gathered, bucket_file
from limbeck.pseudo.gather import gather
from limbeck.text import Cleaner


def contents(pool):
    """Give {text: (rows, source, train_row)} of all buckets."""
    found = {}
    for number in range(len(Gathered.load(pool).buckets)):
        bucket = Bucket(bucket_file(pool, number))
        every, starts = bucket.rows
        assert bucket.row.tolist() == sorted(bucket.row.tolist()) == [int(every[at]) for at in starts[:-1]]
        for place, text in enumerate(bucket.texts):
            assert text not in found
            rows = every[starts[place] : starts[place + 1]].tolist()
            assert len(rows) == bucket.counts[place]
            found[text] = (rows, bucket.sources[place], int(bucket.train_row[place]))
    return found


def judges(pool):
    return pq.read_table(pool / "judges.parquet").column("row").to_pylist()


def test_a_repeated_text_stands_once_with_all_its_rows(tmp_path):
    pool, told = gathered(tmp_path, ["one", "two", "  one ", "three", "<p>one</p>", "One"])
    assert {text: rows for text, (rows, _, _) in contents(pool).items()} == {
        "one": [0, 2, 4],
        "two": [1],
        "three": [3],
        "One": [5],
    }
    assert (told.rows_read, told.texts, told.repeated) == (6, 4, 2)


def test_texts_of_dev_and_test_are_left_out_and_listed(tmp_path):
    data = prepared(dev=["Late again!", "x"], test=["no wifi"])
    pool, told = gathered(tmp_path, ["late   again", "fine", "NO WIFI.", "late again"], data)
    assert judges(pool) == [0, 2, 3] and list(contents(pool)) == ["fine"]
    assert (told.judges, told.texts) == (3, 1)


def test_texts_of_training_rows_name_them_the_same_text_before_one_that_is_alike(tmp_path):
    data = prepared(train=["Cold!", "warm", "cold"])
    pool, told = gathered(tmp_path, ["cold", "COLD", "Warm.", "Cold!", "new"], data)
    assert {text: row for text, (_, _, row) in contents(pool).items()} == {
        "cold": 2,
        "COLD": 0,
        "Warm.": 1,
        "Cold!": 0,
        "new": -1,
    }
    assert told.labelled == 4


def test_empty_texts_count_as_rows_at_the_end_too(tmp_path):
    pool, told = gathered(tmp_path, ["", "one", "<br>", " "])
    assert contents(pool) == {"one": ([1], "", -1)}
    assert (told.rows_read, told.empty) == (4, 3)


def test_sources_are_those_of_the_first_row_and_rows_count_over_all_files(tmp_path):
    for name, texts in (("a", ["one", "two"]), ("b", ["two", "one"])):
        lines = [json.dumps({"text": text, "source": name}) for text in texts]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    gather(files, DataSettings(), Cleaner(), prepared(), tmp_path)
    assert contents(tmp_path) == {"one": ([0, 3], "a", -1), "two": ([1, 2], "a", -1)}


MANY = [f"text {number % 700} of 700" for number in range(1000)]


def test_many_buckets_hold_what_one_holds_whenever_memory_is_emptied(tmp_path, monkeypatch):
    one, _ = gathered(tmp_path / "one", MANY)
    monkeypatch.setattr(gathering, "BUCKET_BYTES", 2_000)
    many, told = gathered(tmp_path / "many", MANY)
    monkeypatch.setattr(gathering, "BUFFER_BYTES", 500)
    spilt, again = gathered(tmp_path / "spilt", MANY)
    assert len(told.buckets) > 10 and contents(one) == contents(many) == contents(spilt)
    assert told == again and told.texts == sum(bucket.texts for bucket in told.buckets) == 700
    assert not list(spilt.glob("spill*"))


def test_the_number_of_buckets_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "BUCKET_BYTES", 100)
    monkeypatch.setattr(gathering, "MOST_BUCKETS", 7)
    pool, told = gathered(tmp_path, MANY)
    assert len(told.buckets) == 7 and len(contents(pool)) == 700


def test_the_same_pool_gives_the_same_bytes(tmp_path):
    one, other = (gathered(tmp_path / name, MANY)[0] for name in ("one", "other"))
    for file in one.iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes()


def test_a_bucket_s_hash_knows_texts_and_rows_but_not_which_are_labelled(tmp_path):
    plain, labelled, other = (
        gathered(tmp_path / name, texts, prepared(train=[train]))[1].buckets[0]
        for name, texts, train in (("a", MANY, "none"), ("b", MANY, MANY[5]), ("c", ["new", *MANY], "none"))
    )
    assert labelled.labelled == 1
    assert plain.content == labelled.content != other.content


def test_a_text_of_ten_megabytes_passes(tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "BUFFER_BYTES", 1_000)
    long = "word " * 2_000_000
    pool, told = gathered(tmp_path / "p", ["before", long, "after"], max_line_bytes=20_000_000)
    assert told.texts == 3 and len(told.buckets) == 6
    assert contents(pool)[long.strip()][0] == [1]
    with pytest.raises(LineTooLong, match="max_line_bytes"):
        gathered(tmp_path / "q", [long[:1_500_000]])


def test_a_pool_without_a_text_says_where_they_went(tmp_path):
    with pytest.raises(TooFewRows, match="of its 3 rows, 2 are empty after cleaning and 1 stand in dev or test"):
        gathered(tmp_path, [" ", "<p>", "a dev row"])


def test_a_pool_that_is_not_there_or_has_no_rows_is_named(tmp_path):
    with pytest.raises(FileMissing, match="nowhere.jsonl"):
        gather([tmp_path / "nowhere.jsonl"], DataSettings(), Cleaner(), prepared(), tmp_path)
    with pytest.raises(FileEmpty, match="pool.jsonl"):
        gathered(tmp_path, [])


def test_numbers_are_64_bit(tmp_path):
    bucket = Bucket(bucket_file(gathered(tmp_path, ["one"])[0], 0))
    assert (bucket.row.dtype, bucket.rows[0].dtype, bucket.train_row.dtype) == (np.int64, np.int64, np.int32)


def test_of_near_copies_the_first_stays_and_the_others_are_listed(tmp_path):
    late = "The train to the coast was forty minutes late and nobody told us why"
    texts = [f"{late}.", "fine", f"{late}!", f"{late}, nobody.", f"{late}!", "A labelled one, this."]
    data = prepared(train=["a labelled one this", f"{late}, no-body."])
    pool, told = gathered(tmp_path, texts, data, near_duplicates=0.8)
    assert {text: rows for text, (rows, _, _) in contents(pool).items()} == {
        f"{late}.": [0],
        "fine": [1],
        "A labelled one, this.": [5],
    }
    listed = pq.read_table(pool / "near.parquet").to_pylist()
    assert sorted((one["row"], one["of"], one["text"]) for one in listed) == [
        (2, 0, f"{late}!"),
        (3, 0, f"{late}, nobody."),
        (4, 0, f"{late}!"),
    ]
    assert (told.texts, told.near, told.repeated, told.labelled) == (3, 2, 1, 1)
    assert told.figures["saved"] == pytest.approx(2 / 5)


def test_near_copies_meet_wherever_they_stand_and_labelled_texts_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "BUCKET_BYTES", 400)
    texts = [f"coach {n} was so cold that my tea froze in its cup{mark}" for n in range(1000, 1040) for mark in "!?"]
    data = prepared(train=[texts[1], texts[7]])
    pool, told = gathered(tmp_path, texts, data, near_duplicates=1)
    kept = contents(pool)
    assert len(told.buckets) > 5 and told.near == 38 and told.texts == 42 == len(kept)
    assert {texts[0], texts[1], texts[6], texts[7]} <= set(kept) and texts[3] not in kept
    assert [counts.texts for counts in told.buckets] == [
        len(Bucket(bucket_file(pool, n)).row) for n in range(len(told.buckets))
    ]
