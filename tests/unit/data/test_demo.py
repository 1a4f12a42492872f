"""The demo corpus keeps the promises that the rest of the pipeline is tried out on."""

import csv
import json
import re
import statistics
from collections import Counter
from pathlib import Path

import pytest

from limbeck.data.demo import TITLES, Corpus, generate, write_demo
from limbeck.data.demo.curation import ROWS_AND_POSITIVES
from limbeck.data.demo.keys import text_key
from limbeck.data.demo.phrases import INVENTORIES, OFF_TOPIC


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return generate(pool_rows=4000)


def tokens(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


def fragment_saying(words: str):
    found = [f for inventory in INVENTORIES.values() for f in inventory.fragments if words in f.text]
    assert len(found) == 1, f"{words!r} stands in {len(found)} fragments"
    return found[0]


def test_there_are_eleven_named_categories():
    assert list(TITLES.values()) == [
        "Punctuality",
        "Train Cancellation",
        "Passenger Rights",
        "Seat Availability",
        "Seating Comfort",
        "Temperature",
        "Loudness",
        "Luggage",
        "Train Service",
        "WLAN / Internet",
        "Face Mask",
    ]
    assert set(TITLES) == set(ROWS_AND_POSITIVES)


def written_bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_equal_seeds_write_equal_bytes_and_other_seeds_do_not(tmp_path):
    for name, seed in (("first", 3), ("second", 3), ("other", 4)):
        write_demo(tmp_path / name, seed=seed, pool_rows=150, scale=0.01)
    first, second, other = (written_bytes(tmp_path / name) for name in ("first", "second", "other"))
    assert first == second
    assert first.keys() == other.keys()
    # The replies of the server don't hang on the texts.
    assert [name for name in first if first[name] == other[name]] == ["replies.toml"]


def test_the_pool_size_leaves_the_other_parts_alone():
    small, large = generate(pool_rows=10, scale=0.01), generate(pool_rows=60, scale=0.01)
    assert small.test == large.test
    assert small.labelled == large.labelled
    assert small.pool == large.pool[:10]


def test_files_have_the_documented_columns(tmp_path):
    summary = write_demo(tmp_path, pool_rows=100, scale=0.01)
    for slug in TITLES:
        with (tmp_path / "labels" / f"{slug}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert rows[0] == ["text", "label"]
        assert len(rows) - 1 == summary.labelled[slug]
        assert Counter(label for _, label in rows[1:])["1"] == summary.positives[slug]
        assert b"\r" not in (tmp_path / "labels" / f"{slug}.csv").read_bytes()
    read = {
        part: [json.loads(line) for line in (tmp_path / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()]
        for part in ("pool", "dev", "test")
    }
    assert {tuple(row) for row in read["pool"]} == {("text", "source")}
    assert {tuple(row) for row in read["dev"]} == {("text", "labels", "source", "kind")}
    assert {tuple(row) for row in read["test"]} == {("text", "labels", "source")}
    assert [len(read[part]) for part in ("pool", "dev", "test")] == [100, 800, 1313]
    assert Counter(row["kind"] for row in read["dev"]) == {"hard": 400, "random": 400}
    assert {row["source"] for row in read["pool"]} == {"app", "portal", "qr-code"}
    assert all(set(row["labels"]) <= set(TITLES) for part in ("dev", "test") for row in read[part])


def test_binary_files_have_the_sizes_and_rates_of_the_study(corpus):
    for slug, (rows, positives) in ROWS_AND_POSITIVES.items():
        written = corpus.labelled[slug]
        assert len(written) == round(rows * 0.1)
        assert sum(label for _, label in written) == round(positives * 0.1)
    assert len(corpus.labelled["punctuality"]) == 1667
    assert sum(label for _, label in corpus.labelled["face-mask"]) == 18


def test_labels_are_the_true_ones(corpus):
    for slug, rows in corpus.labelled.items():
        assert all(label == (slug in comment.labels) for comment, label in rows)


def test_a_third_of_the_labelled_texts_is_shared_mostly_by_seven_files(corpus):
    files = Counter(comment.text for rows in corpus.labelled.values() for comment, _ in rows)
    texts = Counter(files.values())
    shared = len(files) - texts[1]
    assert 0.30 < shared / len(files) < 0.37
    assert texts[7] / shared > 0.8
    assert all(texts[number] > 0 for number in (2, 3, 4, 5, 6, 8))
    assert texts[9] <= 1
    assert max(texts) <= 9


def test_no_text_stands_twice_in_a_file(corpus):
    for rows in corpus.labelled.values():
        assert len({text_key(comment.text) for comment, _ in rows}) == len(rows)


def test_nothing_leaks_between_the_sides(corpus):
    dev = {text_key(comment.text) for comment in corpus.dev_hard + corpus.dev_random}
    test = {text_key(comment.text) for comment in corpus.test}
    train = {text_key(comment.text) for comment in corpus.pool}
    train |= {text_key(comment.text) for rows in corpus.labelled.values() for comment, _ in rows}
    assert not dev & test
    assert not (dev | test) & train


def test_keys_ignore_case_punctuation_and_white_space():
    assert text_key("Too loud,  NO seats!!") == text_key("too loud no seats")


def test_unseen_wordings_stay_out_of_the_labelled_rows(corpus):
    labelled = {name for rows in corpus.labelled.values() for comment, _ in rows for name in comment.fragments}
    assert not [name for name in labelled if "/unseen/" in name]
    for comments in (corpus.pool, corpus.dev_hard, corpus.test):
        unseen = {name.split("/")[0] for comment in comments for name in comment.fragments if "/unseen/" in name}
        assert unseen >= set(TITLES)


@pytest.mark.parametrize("slug", TITLES)
def test_inventories_are_large_and_partly_unseen(slug):
    fragments = INVENTORIES[slug].fragments
    about = [f for f in fragments if f.kind != "miss"]
    misses = [f for f in fragments if f.kind == "miss"]
    assert len(about) >= 45
    assert len(misses) >= 18
    assert 0.3 < sum(f.unseen for f in about) / len(about) < 0.5
    assert all(slug in f.labels for f in about)
    assert all(slug not in f.labels for f in misses)
    assert {f.tone for f in about} == {"+", "-"}


def test_every_label_in_the_inventories_is_a_category():
    for inventory in INVENTORIES.values():
        assert {label for f in inventory.fragments for label in f.labels} <= set(TITLES)
    assert not any(f.labels for f in OFF_TOPIC.fragments)


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("{almost_hour} late in {to}", {"punctuality"}),
        ("got to {to} {over_hour} late", {"punctuality", "passenger-rights"}),
        ("charged me twice", set()),
        ("My plane was three hours late", set()),
        ("[taxi|bus] to the station was late", set()),
        ("refuses to refund the night", set()),
        ("pay for a hotel in {via}", {"train-cancellation", "passenger-rights"}),
        ("What should have been a journey of two hours", {"punctuality", "passenger-rights"}),
        ("cancel my [subscription", set()),
        ("chairs in the waiting room", set()),
        ("in the waiting room at {from}.", set()),
        ("warm welcome from the train crew", {"train-service"}),
        ("information desk in {from} was rather cold", set()),
        ("guard was frosty", {"train-service"}),
        ("hums so loudly", {"loudness"}),
        ("colours of the new trains", set()),
        ("suitcase in my hand I ran", set()),
        ("helped me to lift my suitcase", {"luggage", "train-service"}),
        ("Bags lay on the seats", {"luggage", "seat-availability"}),
        ("conductor, of an orchestra", set()),
        ("WiFi in our hotel", set()),
        ("cannot mask the smell", set()),
        ("dinner was cold by the time your train", {"punctuality"}),
    ],
)
def test_near_misses_and_their_neighbours_are_labelled_with_care(words, labels):
    assert fragment_saying(words).labels == labels


def test_lengths_are_like_those_of_real_feedback(corpus):
    lengths = [tokens(comment.text) for comment in corpus.pool]
    assert 24 <= statistics.mean(lengths) <= 30
    assert min(lengths) <= 3
    assert max(lengths) >= 250
    assert statistics.quantiles(lengths, n=20)[-1] < 90


def test_channels_differ_in_length(corpus):
    means = {
        source: statistics.mean(tokens(comment.text) for comment in corpus.pool if comment.source == source)
        for source in ("qr-code", "app", "portal")
    }
    assert means["qr-code"] < means["app"] < means["portal"]


def test_rates_of_the_pool_are_natural(corpus):
    rates = Counter(label for comment in corpus.pool for label in comment.labels)
    share = {slug: rates[slug] / len(corpus.pool) for slug in TITLES}
    assert max(share, key=lambda slug: share[slug]) == "punctuality"
    assert 0.24 < share["punctuality"] < 0.33
    assert 0.02 < share["face-mask"] < 0.055
    assert 0.02 < share["passenger-rights"] < 0.055


def test_claims_go_with_late_and_cancelled_trains(corpus):
    claims = [comment.labels for comment in corpus.pool if "passenger-rights" in comment.labels]
    assert sum(bool(labels & {"punctuality", "train-cancellation"}) for labels in claims) / len(claims) > 0.7


def test_texts_have_up_to_a_few_topics_and_some_none(corpus):
    counts = Counter(len(comment.labels) for comment in corpus.pool)
    assert 0.08 < counts[0] / len(corpus.pool) < 0.2
    assert sum(counts[number] for number in range(4)) / len(corpus.pool) > 0.99
    assert max(counts) <= 4


def test_every_category_can_be_measured(corpus):
    dev = Counter(label for comment in corpus.dev_hard + corpus.dev_random for label in comment.labels)
    test = Counter(label for comment in corpus.test for label in comment.labels)
    assert all(dev[slug] >= 25 for slug in TITLES)
    assert all(test[slug] >= 40 for slug in TITLES)
    assert any(not comment.labels for comment in corpus.test)


def test_texts_are_tidy(corpus):
    for comment in corpus.pool:
        assert not re.search(r"[\[\]{}|#]|  | [,.;]|,\.|\.,", comment.text), comment.text


@pytest.mark.parametrize("wrong", [{"scale": 0.0}, {"pool_rows": -1}])
def test_senseless_sizes_are_refused(wrong):
    with pytest.raises(ValueError, match="pool_rows must not be negative"):
        generate(**wrong)


def test_counting_words_is_neither_useless_nor_enough(corpus):
    feature_extraction = pytest.importorskip("sklearn.feature_extraction.text")
    svm = pytest.importorskip("sklearn.svm")
    import numpy as np
    from sklearn.metrics import f1_score, precision_recall_curve

    dev = corpus.dev_hard + corpus.dev_random
    scores = []
    for slug, rows in corpus.labelled.items():
        words = feature_extraction.TfidfVectorizer()
        model = svm.LinearSVC(class_weight="balanced", max_iter=300)
        model.fit(words.fit_transform([comment.text for comment, _ in rows]), [label for _, label in rows])
        tuned = model.decision_function(words.transform([comment.text for comment in dev]))
        precision, recall, thresholds = precision_recall_curve([slug in comment.labels for comment in dev], tuned)
        f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
        found = model.decision_function(words.transform([comment.text for comment in corpus.test]))
        truth = [slug in comment.labels for comment in corpus.test]
        scores.append(f1_score(truth, found >= thresholds[int(np.argmax(f1[:-1]))]))
    assert 0.45 < float(np.mean(scores)) < 0.80
