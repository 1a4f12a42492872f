"""Two taggers in one bundle: what the small one is sure of stays, all else the larger one tags."""

from types import SimpleNamespace

import httpx
import pytest
from serving import running
from tagging_project import ALL_STUDENTS, QUICK
from typer.testing import CliRunner

import limbeck
from limbeck.cli import app
from limbeck.compress.cascade import write_cascade
from limbeck.compress.tagger_cascade import join_taggers
from limbeck.data.splits import TUNING
from limbeck.data.tagged import PreparedSentences
from limbeck.runtime.bundle import read_bundle
from limbeck.runtime.tagger_cascade import EntityCascade, sureness
from limbeck.serve.settings import ServeSettings

TEXTS = ["Ada Lovelace lives in Ulm", "Qwerty from Bad Xyz", "", "nobody  told Emmy 😀 why", "Bonn " * 200]


@pytest.fixture(scope="module")
def made(tagged, tmp_path_factory):
    root = tmp_path_factory.mktemp("cascade")
    small, larger = (tagged.folder("compress") / kind for kind in ("cnn", "transformer"))
    sentences = PreparedSentences.load(tagged.folder("data")).dev_half(TUNING)
    joined = join_taggers(read_bundle(small), read_bundle(larger), sentences)
    write_cascade(root / "both", joined.bundle, {"F1": 1.0})
    project = tagged.project.root
    return SimpleNamespace(root=root, project=project, small=small, larger=larger, joined=joined)


# In 8 bits what a text is batched with moves its answer a little.
def spans(model, texts=TEXTS):
    return [
        [(one.start, one.end, one.type, pytest.approx(one.confidence, abs=0.02)) for one in found]
        for found in model.predict(texts)
    ]


@pytest.mark.parametrize("limit", [0.0, 1.1])
def test_at_its_ends_a_cascade_is_one_of_the_two(made, limit):
    both = limbeck.load(made.root / "both")
    assert isinstance(both, EntityCascade)
    both.limit = limit
    assert spans(both) == spans(limbeck.load(made.larger if limit else made.small))
    assert (both.asked, both.passed_on) == (len(TEXTS), len(TEXTS) if limit else 0)


def test_each_text_is_answered_by_the_model_that_its_sureness_asks_for(made):
    both, small, larger = map(limbeck.load, (made.root / "both", made.small, made.larger))
    sure = [sureness(text) for text in small.seen(TEXTS)]
    assert sure[2] == 1 and len(set(sure)) > 2
    both.limit = sorted(sure)[2]
    asked = zip(sure, spans(small), spans(larger), strict=True)
    assert spans(both) == [mine if value >= both.limit else theirs for value, mine, theirs in asked]
    assert both.passed_on == 2
    assert [spans(both, [text])[0] for text in TEXTS] == spans(both)


def test_the_limit_is_the_lowest_with_which_f1_stays(made):
    steps, chosen = made.joined.steps, made.joined.chosen
    assert [one.passed_on for one in steps] == sorted(one.passed_on for one in steps)
    assert steps[0].passed_on == 0 and steps[-1].passed_on == 1 and steps[-1].f1 == made.joined.larger_f1
    assert chosen in steps and chosen.passed_on == made.joined.bundle.manifest.cascade.passed_on


def test_a_command_makes_it_and_a_server_answers_with_it(made):
    folders = [str(made.small), str(made.larger), str(made.root / "made")]
    told = (part for one in (*QUICK, *ALL_STUDENTS) for part in ("--set", one))
    asked = ["cascade", *folders, "-p", str(made.project), *told]
    done = CliRunner().invoke(app, [*asked, "--json"])
    assert done.exit_code == 0, done.output
    assert '"F1, judging"' in done.output
    again = CliRunner().invoke(app, asked)
    assert again.exit_code == 1 and "already there" in str(again.exception)
    with running(ServeSettings({"both": str(made.root / "made")})) as server:
        answer = httpx.post(f"{server.url}/v1/predict", json={"text": TEXTS[0]}).json()
    found = [(one["start"], one["end"], one["type"]) for one in answer["answers"][0]["entities"]]
    assert found == [one[:3] for one in spans(limbeck.load(made.root / "made"), TEXTS[:1])[0]]
