"""Letting an encoder go on guessing masked words, now in the user's own texts, before it is taught."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from limbeck.config import AdaptSettings, Config
from limbeck.errors import BadSetting, TooFewRows
from limbeck.progress import progress as show_progress
from limbeck.runtime.batches import batches_by_length
from limbeck.store import Store, key_of
from limbeck.teach.encoders import EncoderFiles, encoder_key
from limbeck.teach.network import Encoder
from limbeck.training.checkpoint import Checkpoints, Progress
from limbeck.training.precision import accelerator
from limbeck.training.tokens import Ids, Tokens, pad, shuffled_batches

TASK_KIND = "tasks/adapted"
CHECKPOINT_SECONDS = 60.0
HELD_OUT, MOST_HELD_OUT = 0.05, 500
WARMUP, CLIP, WEIGHT_DECAY = 0.1, 1.0, 0.01
HISTORY_POINTS = 100
# The outputs, which most files lack, must catch up with the encoder before they pull it about.
OUTPUT_RATE = 10.0
NOT_ASKED = -100
SENTENCE_FILES = ("modules.json", "1_Pooling/config.json")
LEAVE_OUT = "Set adapt.on = false."


@dataclass(frozen=True)
class Masking:
    """BERT's masking: of the chosen tokens 80 % become the mask, 10 % a random word, 10 % stay as they are."""

    share: float
    mask_id: int
    special: Tensor
    words: Tensor

    def __call__(self, ids: Tensor, attended: Tensor, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        """Give masked ids and what to guess (`NOT_ASKED` elsewhere), at least one token a text that has a word."""
        words = attended.bool() & ~torch.isin(ids, self.special)
        wanted = (words.sum(dim=1, keepdim=True) * self.share).round().clamp(min=1)
        lot = torch.rand(ids.shape, generator=generator).masked_fill(~words, -1.0)
        chosen = words & (lot.argsort(dim=1, descending=True).argsort(dim=1) < wanted)
        fate = torch.rand(ids.shape, generator=generator)
        others = self.words[torch.randint(len(self.words), ids.shape, generator=generator)]
        masked = ids.masked_fill(chosen & (fate < 0.8), self.mask_id)
        return torch.where(chosen & (fate >= 0.9), others, masked), ids.masked_fill(~chosen, NOT_ASKED)


@dataclass(frozen=True)
class _Reading:
    """What a run reads, and the texts that it is judged on."""

    train: list[Ids]
    held_out: list[Ids]
    masking: Masking
    settings: AdaptSettings
    pad_id: int
    seed: int


def adapt(
    encoder: EncoderFiles,
    texts: Sequence[str],
    settings: AdaptSettings,
    max_tokens: int,
    seed: int,
    store: Store,
    name: str,
    out: Path,
    precision: str = "auto",
) -> dict[str, Any]:
    """Train on `texts` and write a whole encoder folder into `out`; give the losses on texts that were held out.

    A killed run goes on exactly where its last checkpoint was, so `name` must change with everything that the result
    depends on; its checkpoints are the caller's to clear.
    """
    torch.manual_seed(seed)
    original = Encoder(encoder.folder)
    original.model.float()  # what a half-precision file holds is too coarse to add small steps to
    tokens = Tokens(encoder.folder, min(max_tokens, original.longest))
    masking = _masking(encoder, original, tokens, settings.mask)
    train, held_out = _split(tokens.encode(texts), masking.special.numpy(), seed)
    reading = _Reading(train, held_out, masking, settings, tokens.pad_id, seed)
    run = _Run(masked_model(encoder, original), reading, Checkpoints(store, name), precision)
    before = run.held_out_loss()
    run.train()
    after = run.held_out_loss()
    run.refuse_unless_finite(after)
    if run.accelerator.is_main_process:
        _write(encoder, original, run.raw, out)
    figures = {"texts": len(train) + len(held_out), "steps": run.total, "loss_before": before, "loss_after": after}
    return {**figures, "history": run.progress.history}


def adapted(
    encoder: EncoderFiles,
    texts: Sequence[str],
    config: Config,
    store: Store,
    made_with: Mapping[str, object],
    force: bool = False,
) -> tuple[Path, dict[str, Any]]:
    """Give the folder of an adapted encoder and its figures, from the store or by training it."""
    longest, precision = config.encoder.max_tokens, config.train.precision
    settings = [config.adapt.model_dump(), longest, precision, config.seed]
    about = {
        "encoder": encoder_key(encoder),
        "texts": key_of(texts),
        "settings": settings,
        "made_with": dict(made_with),
    }
    key = key_of(about)
    checkpoints = Checkpoints(store, key)
    if force:
        checkpoints.clear()
    if force or not store.intact(TASK_KIND, key):
        with store.write(TASK_KIND, key, about) as folder:
            found = adapt(encoder, texts, config.adapt, longest, config.seed, store, key, folder / "encoder", precision)
            (folder / "outcome.json").write_text(json.dumps(found), encoding="utf-8")
        checkpoints.clear()
    folder = store.folder(TASK_KIND, key)
    return folder / "encoder", json.loads((folder / "outcome.json").read_text(encoding="utf-8"))


def masked_model(files: EncoderFiles, original: Encoder) -> Any:  # noqa: ANN401 - any transformers model
    """Give `original`'s architecture with an output a token; a file without those outputs gets fresh ones."""
    from transformers import MODEL_FOR_MASKED_LM_MAPPING, AutoModelForMaskedLM
    from transformers.utils import logging

    refusal = BadSetting(f"The encoder '{files.name}' is of a kind that can't guess masked words.", LEAVE_OUT)
    if type(original.model.config) not in MODEL_FOR_MASKED_LM_MAPPING:
        raise refusal
    told = logging.get_verbosity()
    # Fresh outputs are what a sentence encoder's file leads to, no fault to warn of.
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        model: Any = AutoModelForMaskedLM.from_pretrained(files.folder, local_files_only=True).float()
    finally:
        logging.set_verbosity(told)
    # Whatever naming the file follows: what is trained starts from the very weights that teaching would start from.
    if model.base_model.load_state_dict(original.model.state_dict(), strict=False).missing_keys:
        raise refusal
    return model


class _Run:
    """The moving parts of one run."""

    def __init__(self, model: nn.Module, reading: _Reading, checkpoints: Checkpoints, precision: str) -> None:
        self.accelerator = accelerator(precision)
        self.raw, self.reading, self.settings, self.checkpoints = model, reading, reading.settings, checkpoints
        self.optimizer = torch.optim.AdamW(_groups(model, self.settings.rate), weight_decay=WEIGHT_DECAY, fused=True)
        self.model, self.prepared = self.accelerator.prepare(model, self.optimizer)
        self._shown: tuple[int, list[np.ndarray]] | None = None
        self.steps_an_epoch = len(self._batches(0))
        self.total = self.steps_an_epoch * self.settings.epochs
        self.progress = Progress()

    def train(self) -> None:
        """Step until the epochs are used up."""
        found = self.checkpoints.load(self.optimizer)
        if found:
            self.progress = found[0]
            self.raw.load_state_dict(found[1], strict=False)
        saved = time.monotonic()
        left = range(self.progress.step, self.total)
        for step in show_progress(left, "adapting the encoder", len(left)):
            self._one_step(step)
            if time.monotonic() - saved > CHECKPOINT_SECONDS and self.accelerator.is_main_process:
                weights = {name: p.detach() for name, p in self.raw.named_parameters()}
                self.checkpoints.save(self.progress, weights, {}, self.optimizer)
                saved = time.monotonic()

    @torch.no_grad()
    def held_out_loss(self) -> float:
        """Give the mean loss a masked token, with the same masks whenever it is asked."""
        self.model.eval()
        masks = torch.Generator().manual_seed(self.reading.seed)
        lengths = np.array([len(ids) for ids in self.reading.held_out])
        found = [self._loss(self.reading.held_out, r, masks) for r in batches_by_length(lengths, self.settings.batch)]
        return sum(float(loss) * asked for loss, asked in found) / sum(asked for _, asked in found)

    def refuse_unless_finite(self, loss: float) -> None:
        """Raise rather than hand on weights that are no numbers; such a run is not to be resumed either."""
        if not math.isfinite(loss):
            self.checkpoints.clear()
            rate, at = self.settings.rate, f"after {self.progress.step} of {self.total} steps"
            message = f"Adapting the encoder diverged with adapt.rate = {rate:g}: its loss {at} is {loss}."
            raise BadSetting(message, f"Lower adapt.rate, for example to {rate / 10:g}.")

    def _one_step(self, step: int) -> None:
        epoch, within = divmod(step, self.steps_an_epoch)
        rows = self._batches(epoch)[within]
        # Seeding every step makes a resumed run draw the same masks and dropout as an undisturbed one.
        torch.manual_seed((self.reading.seed * 1_000_003 + step) % 2**63)
        warmup = max(1, round(self.total * WARMUP))
        part = (step + 1) / warmup if step < warmup else (self.total - step) / max(1, self.total - warmup)
        for group in self.optimizer.param_groups:
            group["lr"] = group["highest"] * part
        self.model.train()
        self.prepared.zero_grad()
        loss, _ = self._loss(self.reading.train, rows, None)
        self.accelerator.backward(loss)
        size = float(self.accelerator.clip_grad_norm_(self.model.parameters(), CLIP))
        value = float(loss.detach())
        # All processes share the gradients' size, so all of them stop.
        self.refuse_unless_finite(value if math.isfinite(size) else size)
        self.prepared.step()
        usual = self.progress.usual_loss
        self.progress.usual_loss = value if usual is None else 0.95 * usual + 0.05 * value
        self.progress.step = step + 1
        if self.progress.step % max(1, self.total // HISTORY_POINTS) == 0 or self.progress.step == self.total:
            self.progress.history.append({"step": self.progress.step, "loss": self.progress.usual_loss})

    def _loss(self, ids: list[Ids], rows: np.ndarray, generator: torch.Generator | None) -> tuple[Tensor, int]:
        """Give the mean loss a masked token, and how many there were."""
        batch = pad(ids, rows, self.reading.pad_id)
        masked, guess = self.reading.masking(batch.ids, batch.mask, generator)
        device = self.accelerator.device
        said = self.model(input_ids=masked.to(device), attention_mask=batch.mask.to(device), labels=guess.to(device))
        return said.loss, int((guess != NOT_ASKED).sum())

    def _batches(self, epoch: int) -> list[np.ndarray]:
        """Give this process's batches of an epoch; the same epoch always has the same ones."""
        if self._shown is None or self._shown[0] != epoch:
            lengths = np.array([len(ids) for ids in self.reading.train])
            rng = np.random.default_rng([self.reading.seed, epoch])
            batches = list(shuffled_batches(lengths, self.settings.batch, rng))
            processes = self.accelerator.num_processes
            even = len(batches) // processes * processes or len(batches)
            self._shown = epoch, batches[:even][self.accelerator.process_index :: processes] or batches[:1]
        return self._shown[1]


def _groups(model: Any, rate: float) -> list[dict[str, Any]]:  # noqa: ANN401 - any transformers model
    inside = {id(parameter) for parameter in model.base_model.parameters()}
    outputs = [parameter for parameter in model.parameters() if id(parameter) not in inside]
    groups = [{"params": list(model.base_model.parameters()), "highest": rate, "lr": rate}]
    return groups + [{"params": outputs, "highest": OUTPUT_RATE * rate, "lr": rate}] * bool(outputs)


def _masking(files: EncoderFiles, original: Encoder, tokens: Tokens, share: float) -> Masking:
    known = int(original.model.get_input_embeddings().weight.shape[0])
    mask_id = tokens.tokenizer.mask_token_id
    if mask_id is None or mask_id >= known:
        raise BadSetting(f"The tokeniser of the encoder '{files.name}' has no mask token.", LEAVE_OUT)
    special = torch.tensor(sorted(tokens.tokenizer.all_special_ids))
    every = torch.arange(min(known, len(tokens.tokenizer)))
    return Masking(share, int(mask_id), special, every[~torch.isin(every, special)])


def _split(ids: list[Ids], special: np.ndarray, seed: int) -> tuple[list[Ids], list[Ids]]:
    """Give texts to read and texts to be judged on, leaving out those without a word that could be masked."""
    usable = [row for row in ids if not np.isin(row, special).all()]
    if len(usable) < 2:
        state = f"has {len(usable)} with words that the encoder knows" if ids else "is empty"
        message = f"Adapting the encoder needs two texts or more, but the pool {state}."
        raise TooFewRows(message, "Add texts to data.pool, or set adapt.on = false.")
    order = np.random.default_rng(seed).permutation(len(usable))
    count = min(MOST_HELD_OUT, max(1, round(HELD_OUT * len(usable))))
    return [usable[row] for row in order[count:]], [usable[row] for row in order[:count]]


def _write(files: EncoderFiles, original: Encoder, adapted: Any, out: Path) -> None:  # noqa: ANN401 - any model
    """Put the adapted weights into `original`, which also has what masked models lack (a pooler), and save that."""
    original.model.load_state_dict(adapted.base_model.state_dict(), strict=False)
    original.model.save_pretrained(out)
    # A tokeniser that has cut texts would save the length that it cut them at; this one has not.
    Tokens(files.folder, original.longest).tokenizer.save_pretrained(out)
    for name in SENTENCE_FILES:
        if (files.folder / name).is_file():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(files.folder / name, out / name)
