"""Every setting of limbeck.toml, its default and what it means, a module a subject.

The fields' descriptions are the only documentation of a setting; `limbeck init` writes them into the file it makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from limbeck.config.annotating import AnnotateSettings
from limbeck.config.compressing import CompressSettings
from limbeck.config.distilling import DistillSettings, PseudoSettings, StudentSettings
from limbeck.config.inputs import DataSettings, SplitSettings, Task, TextSettings
from limbeck.config.measuring import BaselineSettings, MeasureSettings, TrackSettings
from limbeck.config.scaling import ScaleSettings
from limbeck.config.section import Section
from limbeck.config.teaching import (
    AdaptSettings,
    CalibrateSettings,
    EncoderSettings,
    ProbeSettings,
    TeachSettings,
    TrainSettings,
)
from limbeck.config.tuning import TuneSettings

# Where a task's defaults differ from those of the settings themselves.
TASK_DEFAULTS: dict[str, dict[str, dict[str, Any]]] = {
    "multilabel": {},
    "multiclass": {"data": {"labels": ["train.csv"], "dev": "dev.csv", "test": "test.csv"}},
    "ner": {
        "data": {"labels": ["train.conll"], "dev": "dev.conll", "test": "test.conll"},
        "teach": {"kind": "partial"},
        # States of sentence encoders say little of single words: all layers learn.
        "train": {"freeze_layers": 0, "batch": 16, "patience": 4},
        "students": {"kinds": ["cnn", "bilstm"]},
        "distill": {"dropout": 0.4, "mask_tokens": 0.05, "batch": 64, "steps": 3000},
        "baselines": {"kinds": []},
    },
}


class Config(Section):
    """The whole configuration of a project."""

    task: Task = Field(
        "multilabel", description="multilabel (several categories a text), multiclass (exactly one) or ner (entities)."
    )
    seed: Annotated[int, Field(ge=0, lt=2**31)] = Field(0, description="All randomness comes from this number.")
    data: DataSettings = DataSettings()
    annotate: AnnotateSettings = AnnotateSettings()
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
    compress: CompressSettings = CompressSettings()
    tune: TuneSettings = TuneSettings()
    track: TrackSettings = TrackSettings()
    scale: ScaleSettings = ScaleSettings()

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_task(cls, values: Any) -> Any:  # noqa: ANN401 - whatever stands in the file
        """Fill in what the task does otherwise, below what the file says."""
        if not isinstance(values, Mapping):
            return values
        filled = dict(values)
        for section, defaults in TASK_DEFAULTS.get(str(values.get("task", "")), {}).items():
            told = filled.get(section, {})
            if isinstance(told, Mapping):
                filled[section] = {**defaults, **told}
        return filled
