"""What many categories cost: binary teachers against one student of all, category by category.

python benchmarks/scaling.py categories --data FOLDER, and so for the tables regression, best and gap; FOLDER/reuters
holds {train,dev,test}.jsonl. `--only all` takes all 90 topics, not the 58 with at least 10 positives. Runs that are
finished are not repeated.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from chains import Outcome, run
from results import RESULTS, WORK, run_tables
from scarce import make_scarce

from limbeck.config import load_project
from limbeck.data.prepare import Prepared
from limbeck.pipeline import Pipeline

STUDENT = "student-cnn"
TEACHER = "teacher-probe"
# News are long: teacher and student read the same 256 tokens.
SETTINGS = (
    "baselines.kinds=[]",
    "teach.kind=probe",
    "encoder.max_tokens=256",
    "students.max_tokens=256",
    'students.kinds=["bag", "cnn"]',
)
# Ways to a student that is as good as its teachers.
WAYS = {
    "as it comes": [],
    "without raising rare categories": ["distill.balance=0"],
    "yes and no of the teachers, as in the study": ["distill.soft=0", "distill.hard=1"],
    "certain guesses alone, others unknown": ["pseudo.confidence=0.85", "pseudo.uncertain=unknown"],
    "certain for every category": ["pseudo.confidence=0.85"],
    "5,000 steps": ["distill.steps=5000"],
}
NOTE = (
    "Reuters-21578: each topic's own 300 rows are labelled for it alone (benchmarks/scarce.py, seed 0), a probe a "
    "topic is its teacher, and one cnn learns all of them from the pool. F1 on test. "
)


@dataclass(frozen=True)
class Topic:
    """A category: F1 of teacher and student, and its rate in its own rows and in the pseudo labels."""

    name: str
    positives: int
    teacher: float
    student: float
    rate_labelled: float
    rate_pseudo: float

    @property
    def log_ratio(self) -> float:
        """How much rarer it is in the pseudo labels, as a logarithm."""
        return float(np.log(self.rate_labelled / self.rate_pseudo))


def studied(data: Path, only: list[str], settings: list[str]) -> tuple[Outcome, list[Topic]]:
    """Run the chain, and give all topics."""
    everything = "all" in only
    folder = WORK / "scaling" / ("reuters-all" if everything else "reuters")
    if not (folder / "limbeck.toml").exists():
        make_scarce(data / "reuters", folder, least=0 if everything else 10)
    told = [*SETTINGS, *settings]
    outcome = run(folder, *told)
    return outcome, topics_of(outcome, Pipeline(load_project(folder, told)))


def topics_of(outcome: Outcome, pipeline: Pipeline) -> list[Topic]:
    """Put together what is known of each category."""
    selected, data = pipeline.folder("select"), pipeline.folder("data")
    assert selected is not None and data is not None
    told = json.loads((selected / "selection.json").read_text(encoding="utf-8"))
    kept = told["sizes"]["kept"]
    yes = {one["category"]: one["yes_kept"] for one in told["categories"]}
    train = Prepared.load(data).train
    known = ~np.isnan(train.labels)
    labelled = dict(zip(train.names, (train.labels == 1).sum(axis=0) / np.maximum(1, known.sum(axis=0)), strict=True))
    teacher, student = (
        {one["name"]: one for one in outcome.measured[model]["figures"]["test"]["labels"]}
        for model in (TEACHER, STUDENT)
    )
    return [
        Topic(
            name,
            int(teacher[name]["support"]),
            float(teacher[name]["f1"]),
            float(student[name]["f1"]),
            float(labelled[name]),
            # Half a text where the teacher finds none.
            max(yes.get(name, 0), 0.5) / kept,
        )
        for name in train.names
        if teacher[name]["support"]
    ]


def categories(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """List all categories, and draw them."""
    _, topics = studied(data, only, settings)
    topics.sort(key=lambda topic: -topic.teacher)
    if "all" not in only:
        picture(topics, RESULTS.parent / "scaling-categories.svg")
    rows: list[dict[str, object]] = [
        {
            "category": topic.name,
            "test positives": topic.positives,
            "teacher F1": topic.teacher,
            "student F1": topic.student,
            "difference": topic.teacher - topic.student,
            "positives in its rows": f"{topic.rate_labelled:.1%}",
            "in the pseudo labels": f"{topic.rate_pseudo:.2%}",
        }
        for topic in topics
    ]
    return rows, NOTE + "Topics without a positive in test are left out."


def regression(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Explain the differences by how much rarer categories are in the pseudo labels, through the origin."""
    import statsmodels.api as sm

    _, topics = studied(data, only, settings)
    x = np.array([topic.log_ratio for topic in topics])
    y = np.array([topic.teacher - topic.student for topic in topics])
    fitted = sm.OLS(y, x).fit()
    draw_line(x, y, fitted, RESULTS.parent / "scaling-regression.svg")
    low, high = fitted.conf_int()[0]
    row: dict[str, object] = {
        "categories": len(topics),
        "coefficient": float(fitted.params[0]),
        "standard error": float(fitted.bse[0]),
        "t": float(fitted.tvalues[0]),
        "p": f"{fitted.pvalues[0]:.2g}",
        "95 % interval": f"{low:.3f} to {high:.3f}",
        "R² (uncentred)": float(fitted.rsquared),
        "F": float(fitted.fvalue),
        "log-likelihood": float(fitted.llf),
        "AIC": float(fitted.aic),
    }
    return [row], NOTE + (
        "Ordinary least squares through the origin (statsmodels): F1 of the teacher minus F1 of the student on the "
        "logarithm of the positive rate in a category's own rows over that in the pseudo labels."
    )


def best(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Leave the categories out on which the student loses most, one after the other."""
    _, topics = studied(data, only, settings)
    topics.sort(key=lambda topic: topic.student, reverse=True)
    counts = sorted({len(topics) - gone for gone in (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)} - {0}, reverse=True)
    rows: list[dict[str, object]] = []
    for count in counts:
        kept = topics[:count]
        teacher, student = (float(np.mean([getattr(topic, who) for topic in kept])) for who in ("teacher", "student"))
        row = {"categories": count, "teachers' macro-F1": teacher, "student's macro-F1": student}
        rows.append(row | {"difference": teacher - student})
    return rows, NOTE + "The best n categories of the student."


def gap(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Try ways to close the gap between the teachers and the student."""
    rows: list[dict[str, object]] = []
    for title, told in WAYS.items():
        outcome, topics = studied(data, only, [*settings, *told])
        for model in ("student-bag", STUDENT):
            figures = {part: outcome.measured[model]["figures"][part] for part in ("judging", "test")}
            of_teacher = {part: outcome.measured[TEACHER]["figures"][part] for part in ("judging", "test")}
            rows.append(
                {
                    "student": model.removeprefix("student-"),
                    "way": title,
                    "categories": len(topics),
                    "teachers, dev": of_teacher["judging"]["macro_f1"],
                    "student, dev": figures["judging"]["macro_f1"],
                    "teachers, test": of_teacher["test"]["macro_f1"],
                    "student, test": figures["test"]["macro_f1"],
                    "behind, test": of_teacher["test"]["macro_f1"] - figures["test"]["macro_f1"],
                    "micro-F1, test": f"{of_teacher['test']['micro_f1']:.3f}, {figures['test']['micro_f1']:.3f}",
                }
            )
            print(json.dumps(rows[-1]), flush=True)
    return rows, NOTE + "Macro-F1 over all categories; dev is the half that judges."


def picture(topics: list[Topic], file: Path) -> None:
    """Draw F1 and rates by category: the teachers, the student, and the difference."""
    plt = _plots()
    figure, places = plt.subplots(3, 1, figsize=(11, 8), sharex=True)
    at = np.arange(len(topics))
    rates = {"teachers": [t.rate_labelled for t in topics], "student": [t.rate_pseudo for t in topics]}
    scores = {"teachers": [t.teacher for t in topics], "student": [t.student for t in topics]}
    for place, who in zip(places, ("teachers", "student"), strict=False):
        place.bar(at, rates[who], color="tab:blue", alpha=0.5, label="share of positives in what it learns")
        place.plot(at, scores[who], "o-", color="tab:red", markersize=3, label="F1")
        place.set_title(who)
        place.set_ylim(0, 1)
    places[0].legend()
    places[2].bar(at, np.subtract(rates["teachers"], rates["student"]), color="tab:blue", alpha=0.5)
    places[2].plot(at, np.subtract(scores["teachers"], scores["student"]), "o-", color="tab:red", markersize=3)
    places[2].set_title("teachers minus student")
    places[2].set_xticks(at, [topic.name for topic in topics], rotation=90, fontsize=7)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def draw_line(x: Any, y: Any, fitted: Any, file: Path) -> None:
    """Draw differences, the fitted line and its prediction interval."""
    plt = _plots()
    line = np.linspace(min(0.0, float(x.min())), float(x.max()), 50)
    about = fitted.get_prediction(line).summary_frame(alpha=0.05)
    figure, place = plt.subplots(figsize=(7, 4.5))
    place.fill_between(line, about["obs_ci_lower"], about["obs_ci_upper"], alpha=0.15, label="95 % prediction interval")
    place.plot(line, about["mean"], "k-", label="fitted")
    place.plot(x, y, "o", color="tab:red", markersize=4, label="categories")
    place.set(xlabel="log(positive rate in its rows / in the pseudo labels)", ylabel="F1 of teacher minus student")
    place.legend()
    place.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def _plots() -> Any:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    return plt


if __name__ == "__main__":
    tables = {"categories": categories, "regression": regression, "best": best, "gap": gap}
    run_tables("scaling", tables, __doc__)
