"""What a student would cost before it learns anything: times and sizes hang on its shape, not on what it knows.

So only students that can fit a budget are trained.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbeck.budget.limits import Budget
from limbeck.compress.draft import draft, student_graph
from limbeck.compress.gate import LabelJudge, time_in_turns
from limbeck.compress.recipes import FLOAT, Circumstances, graph_of, recipe_of
from limbeck.config import Config, Project
from limbeck.data.dataset import Dataset
from limbeck.runtime.processor import saturates
from limbeck.students.network import WIDTHS, Plan, Student
from limbeck.students.pieces import pieces_of_encoder
from limbeck.students.registry import NETWORKS
from limbeck.students.scorer import StudentScorer
from limbeck.students.shrink import shrink
from limbeck.students.transformer import Transformer, keep_layers
from limbeck.teach.encoders import find_encoder
from limbeck.teach.network import Encoder

# The recipes that are the smallest and the fastest: what they can't reach, none can.
BOUNDS = (FLOAT, "tables", "int8", "tables-long-products", "tables-long-products+int8-channels")
# Those that another backend may run faster still.
BY_OTHERS = (FLOAT, "static-percentile")
# A chance for recipes that are a little better than those, and for a machine that is busy just now.
ROOM = 0.15


@dataclass(frozen=True)
class Prospect:
    """A student that could be trained, the least time of an answer in microseconds, and its least bytes."""

    kind: str
    size: str
    p50_us: float
    bytes: int

    def can_fit(self, budget: Budget) -> bool:
        """Say whether it may come to lie inside; of its F1 nothing is known yet."""
        return Budget(budget.latency_us, budget.size).excess(self.p50_us, self.bytes, 1.0) <= ROOM


def prospect(kind: str, size: str, project: Project, rows: Dataset, texts: Sequence[str]) -> Prospect:
    """Build a student that knows nothing, and see what it takes."""
    config = project.config
    student = _unlearnt(kind, size, project, rows.names)
    made = draft(student_graph(student), np.full(len(rows.names), 0.5, np.float32), texts, config.compress, rows.texts)
    judge = LabelJudge(rows, config)
    circumstances = Circumstances(saturates(), made.samples[:64])
    bundles = {}
    for name in bounds(config):
        with contextlib.suppress(Exception):  # a recipe that has no kernel here bounds nothing; float always runs
            bundle = made.with_graph(recipe_of(name)(made.bundle.graph, circumstances), name)
            judge.load(bundle).predict(list(rows.texts[:2]))
            bundles[name] = bundle
    times = time_in_turns({name: judge.load(bundle) for name, bundle in bundles.items()}, rows.texts)
    least = min(len(bundle.graph) for bundle in bundles.values()) + len(made.bundle.tokeniser)
    return Prospect(kind, size, min(times.values()), least)


def bounds(config: Config) -> list[str]:
    """Give the recipes that bound what a student can reach, by whatever may run them."""
    tried = config.compress.tried()
    return [*BOUNDS, *(name for name in tried if graph_of(name) in BY_OTHERS and name != graph_of(name))]


def _unlearnt(kind: str, size: str, project: Project, labels: tuple[str, ...]) -> StudentScorer:
    config: Config = project.config
    settings = config.students
    folder = find_encoder(settings.encoder or config.encoder.name, project.root).folder
    pieces = pieces_of_encoder(folder, settings.max_tokens)
    width = WIDTHS[size]
    if kind == "transformer":
        encoder = Encoder(folder)
        if not settings.encoder:
            keep_layers(encoder, settings.layers)
            shrink(encoder, folder, settings, [" ".join(pieces.vocabulary[-20:])])
        plan = Plan(len(labels), pieces.size, encoder.width, encoder.width, 0.0, pieces.pad_id)
        network: Student = Transformer(encoder, plan)
    else:
        plan = Plan(len(labels), pieces.size, width, width, 0.0, pieces.pad_id)
        network = NETWORKS[kind](plan)
    clean = tuple(config.text.clean)
    return StudentScorer(kind, labels, clean, config.task == "multiclass", plan, pieces, network)
