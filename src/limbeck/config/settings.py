"""Every setting of limbeck.toml, its default and what it means, a module a subject.

The fields' descriptions are the only documentation of a setting; `limbeck init` writes them into the file it makes.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from limbeck.config.compressing import CompressSettings
from limbeck.config.distilling import DistillSettings, PseudoSettings, StudentSettings
from limbeck.config.inputs import DataSettings, SplitSettings, Task, TextSettings
from limbeck.config.measuring import BaselineSettings, MeasureSettings, TrackSettings
from limbeck.config.section import Section
from limbeck.config.teaching import (
    AdaptSettings,
    CalibrateSettings,
    EncoderSettings,
    ProbeSettings,
    TeachSettings,
    TrainSettings,
)


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
    compress: CompressSettings = CompressSettings()
    track: TrackSettings = TrackSettings()
