"""The training loop of all networks: early stopping on two sets, thresholds at each evaluation, exact resuming."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from limbeck.config import LoopSettings
from limbeck.errors import BadSetting
from limbeck.measure import evaluate, evaluate_classes, tune_thresholds
from limbeck.progress import progress as show_progress
from limbeck.training.checkpoint import Checkpoints, Progress, Weights
from limbeck.training.examples import Examples, Rows
from limbeck.training.lesson import Lesson
from limbeck.training.outputs import ManyTexts, outputs
from limbeck.training.precision import accelerator
from limbeck.training.rounding import Rounding
from limbeck.training.watch import Evaluation, TrainingEnded, tell

MAX_RESTARTS = 3
# A loss this many times the usual one, after the warm-up, is a run that has gone wrong.
DIVERGED = 4.0
# How often a run of a given number of steps is judged.
EVALUATIONS = 10


@dataclass(frozen=True)
class Job:
    """One training run: what to learn, and the two sets that it is watched on.

    `fold` is the part of the fold that was held out, `dev` the tuning half of dev; either may be empty. Both are
    `Examples`; a job that judges otherwise has its own. `name` says what is trained, to whoever watches.
    """

    lesson: Lesson
    fold: Any
    dev: Any
    settings: LoopSettings
    seed: int
    pad_id: int = 0
    one_class: bool = False
    min_positives: int = 5
    rounding: Rounding | None = None
    name: str = ""

    def judge(self, model: nn.Module, part: Any, device: str) -> tuple[float | None, NDArray[np.float64]]:  # noqa: ANN401
        """Give macro-F1 at the set's own best thresholds, and those; None where no label is known to be positive."""
        examples: Examples = part
        labels = examples.labels
        halves = np.full(labels.shape[1], 0.5)
        if not (labels == 1).any():
            return None, halves
        proba = predict(model, examples, self.pad_id, self.one_class, device)
        names = [str(column) for column in range(labels.shape[1])]
        if self.one_class:
            return evaluate_classes(labels, proba, names).macro_f1, halves
        thresholds = tune_thresholds(labels, proba, self.min_positives)
        return evaluate(labels, proba, thresholds, names).macro_f1, thresholds


@dataclass(frozen=True)
class Fitted:
    """The best weights that were met, with the thresholds and the mean of two F1 scores that belong to them."""

    weights: Weights
    thresholds: NDArray[np.float64]
    score: float
    history: list[dict[str, Any]]
    restarts: int


def fit(model: nn.Module, job: Job, checkpoints: Checkpoints | None = None) -> Fitted:
    """Train `model` (ids, mask, states -> logits); a killed run goes on exactly where its last checkpoint was."""
    run = _Run(model, job, checkpoints)
    try:
        return run.run()
    except TrainingEnded as ended:
        run.leave(ended.goes_on)
        raise


class _Run:
    """The moving parts of one run."""

    def __init__(self, model: nn.Module, job: Job, checkpoints: Checkpoints | None) -> None:
        settings = job.settings
        self._shown: tuple[int, list[Rows]] | None = None
        self.accelerator = accelerator(settings.precision)
        self.job, self.settings = job, settings
        self.checkpoints = checkpoints
        self.raw = model
        # Fused: on a CPU the plain form takes a sixth of a step's time.
        self.optimizer = torch.optim.AdamW(
            _groups(model, settings), lr=settings.rate, weight_decay=settings.weight_decay, fused=True
        )
        before = dict(model.__dict__)
        self.model, self.prepared = self.accelerator.prepare(model, self.optimizer)
        # Steps ask for mixed precision themselves: a network that always did would be judged otherwise than served.
        model.__dict__.pop("forward", None)
        model.__dict__.update(before)
        self.base_rates = [group["initial"] for group in self.optimizer.param_groups]
        self.steps_an_epoch = max(1, len(self._batches(0)) // settings.accumulate)
        self.total = settings.steps or self.steps_an_epoch * settings.epochs
        often = -(-self.total // EVALUATIONS) if settings.steps else self.steps_an_epoch
        self.every = settings.evaluate_every or often
        self.progress = Progress(thresholds=[0.5] * job.lesson.outputs)
        self.best = _trainable(model)

    def run(self) -> Fitted:
        """Step until the epochs or the patience are used up."""
        self._resume()
        saved = time.monotonic()
        bar = show_progress(range(self.progress.step, self.total), "training", self.total - self.progress.step)
        for _ in bar:
            if self.progress.finished or self.progress.step >= self.total:
                break
            self._one_step()
            if self.progress.step % self.every == 0 or self.progress.step == self.total:
                self._evaluate()
            if time.monotonic() - saved > self.settings.checkpoint_seconds:
                self._save()
                saved = time.monotonic()
        p = self.progress
        if not p.history:
            raise BadSetting(
                f"Training diverged {p.restarts} times before its first evaluation, at last with a rate of "
                f"{self.settings.rate * p.rate_factor:g}.",
                f"Lower train.rate, for example to {self.settings.rate / 10:g}.",
            )
        _load(self.raw, self.best)
        return Fitted(self.best, np.array(p.thresholds), p.best, p.history, p.restarts)

    def leave(self, goes_on: bool) -> None:
        """Keep the state of a run that somebody ended, if it is to go on some time; else leave nothing of it."""
        if goes_on:
            self._save()
        elif self.checkpoints:
            self.checkpoints.clear()

    def _one_step(self) -> None:
        epoch, within = divmod(self.progress.step, self.steps_an_epoch)
        batches = self._batches(epoch)
        chosen = batches[within * self.settings.accumulate : (within + 1) * self.settings.accumulate]
        # Seeding every step makes a resumed run draw the same dropout as an undisturbed one.
        torch.manual_seed((self.job.seed * 1_000_003 + self.progress.step) % 2**63)
        self._set_rates()
        self.model.train()
        self.prepared.zero_grad()
        total = 0.0
        with self._rounded():
            for rows in chosen:
                with self.accelerator.autocast():
                    loss = self.job.lesson.loss(self.model, rows, self.accelerator.device) / len(chosen)
                self.accelerator.backward(loss)
                total += float(loss.detach())
        self.accelerator.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.progress.step += 1
        if self._diverged(total):
            self._restart()
        else:
            self.prepared.step()

    def _rounded(self, whole: bool = False) -> contextlib.AbstractContextManager[None]:
        """Round weights for a while, where a job says so: a part of them, or to be judged all."""
        rounding = self.job.rounding
        return contextlib.nullcontext() if rounding is None else rounding.around(self.raw, whole)

    def _batches(self, epoch: int) -> list[Rows]:
        """Give this process's batches of an epoch; the same epoch always has the same ones."""
        if self._shown is None or self._shown[0] != epoch:
            grouped = self.job.lesson.batches(np.random.default_rng([self.job.seed, epoch]))
            processes = self.accelerator.num_processes
            even = len(grouped) // processes * processes or len(grouped)
            self._shown = epoch, grouped[:even][self.accelerator.process_index :: processes]
        return self._shown[1]

    def _set_rates(self) -> None:
        """Raise the rates linearly over the warm-up, then let them fall linearly to zero."""
        step, warmup = self.progress.step, max(1, round(self.total * self.settings.warmup))
        part = (step + 1) / warmup if step < warmup else (self.total - step) / max(1, self.total - warmup)
        for group, base in zip(self.optimizer.param_groups, self.base_rates, strict=True):
            group["lr"] = base * part * self.progress.rate_factor

    def _diverged(self, loss: float) -> bool:
        usual = self.progress.usual_loss
        if not np.isfinite(loss):
            return True
        self.progress.usual_loss = loss if usual is None else 0.95 * usual + 0.05 * loss
        warm = self.progress.step > max(10, self.total * self.settings.warmup)
        return usual is not None and warm and loss > DIVERGED * max(usual, 0.2)

    def _restart(self) -> None:
        """Go back to the best weights with half the rate; after too many restarts, stop with them."""
        self.progress.restarts += 1
        self.progress.rate_factor *= 0.5
        self.progress.usual_loss = None
        self.progress.finished = self.progress.restarts > MAX_RESTARTS
        self.optimizer.state.clear()
        _load(self.raw, self.best)

    def _evaluate(self) -> None:
        """Score both sets; improve the best weights, or use up patience.

        Each set is judged at its own best thresholds, because curated folds hold more positives than dev does; those
        that are kept come from dev.
        """
        where = str(self.accelerator.device)
        with self._rounded(whole=True):
            fold, of_fold = self.job.judge(self.model, self.job.fold, where)
            dev, of_dev = self.job.judge(self.model, self.job.dev, where)
        known = [score for score in (fold, dev) if score is not None]
        # Without any set to watch, the last weights count as the best.
        mean = float(np.mean(known)) if known else float(self.progress.step)
        better = mean > self.progress.best
        if better:
            self.progress.best, self.progress.best_step, self.progress.waited = mean, self.progress.step, 0
            chosen = of_dev if dev is not None else of_fold
            self.progress.thresholds = chosen.tolist()
            self.best = _trainable(self.raw)
        elif self.progress.best > 0:
            # A network that has found nothing yet is still beginning: rare labels and entities come late.
            self.progress.waited += 1
            self.progress.finished |= self.progress.waited >= self.settings.patience
        figures = {"step": self.progress.step, "loss": self.progress.usual_loss, "f1_fold": fold, "f1_dev": dev}
        self.progress.history.append({**figures, "f1": mean, "best": better})
        if known:
            last = self.progress.finished or self.progress.step >= self.total
            tell(Evaluation(self.job.name, self.progress.step, self.total, self.progress.best, last))

    def _save(self) -> None:
        if self.checkpoints and self.accelerator.is_main_process:
            self.checkpoints.save(self.progress, _trainable(self.raw), self.best, self.optimizer)

    def _resume(self) -> None:
        found = self.checkpoints.load(self.optimizer) if self.checkpoints else None
        if found:
            self.progress, weights, self.best = found
            _load(self.raw, weights)


def predict(
    model: nn.Module | ManyTexts, examples: Examples, pad_id: int, one_class: bool, device: str = "cpu"
) -> NDArray[np.float32]:
    """Give probabilities [texts, labels], batches by length, in the order of the texts."""
    proba = np.zeros(examples.labels.shape, dtype=np.float32)
    for rows, found in outputs(model, examples, pad_id, device):
        logits = torch.from_numpy(found)
        proba[rows] = (torch.softmax(logits, dim=1) if one_class else torch.sigmoid(logits)).numpy()
    return proba


def _trainable(model: nn.Module) -> Weights:
    """Copy the weights that training changes."""
    return {name: p.detach().cpu().clone() for name, p in model.named_parameters() if p.requires_grad}


def _load(model: nn.Module, weights: Weights) -> None:
    model.load_state_dict(weights, strict=False)


def _groups(model: nn.Module, settings: LoopSettings) -> list[dict[str, Any]]:
    """Give pre-trained weights the low rate, fresh ones the high rate, and spare norms and biases the decay."""
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            groups.setdefault((name.startswith("encoder."), parameter.ndim > 1), []).append(parameter)
    return [
        {
            "params": parameters,
            "initial": settings.rate if pretrained else settings.head_rate,
            "weight_decay": settings.weight_decay if matrix else 0.0,
        }
        for (pretrained, matrix), parameters in groups.items()
    ]
