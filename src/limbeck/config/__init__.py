"""limbeck.toml as typed models; unknown keys are errors; --set section.key=value."""

from limbeck.config.compressing import CompressSettings
from limbeck.config.distilling import DistillSettings, PseudoSettings, StudentKind, StudentSettings
from limbeck.config.edit import with_settings
from limbeck.config.inputs import DataSettings, Task
from limbeck.config.measuring import BaselineKind, BaselineSettings, MeasureSettings
from limbeck.config.project import FILE_NAME, Project, load_project, parse_config, place_of
from limbeck.config.render import render, toml_value
from limbeck.config.settings import Config
from limbeck.config.teaching import (
    AdaptSettings,
    CalibrateSettings,
    EncoderSettings,
    LoopSettings,
    ProbeSettings,
    TeacherKind,
    TeachSettings,
    TrainSettings,
)
from limbeck.config.tuning import TuneSettings

__all__ = [
    "FILE_NAME",
    "AdaptSettings",
    "BaselineKind",
    "BaselineSettings",
    "CalibrateSettings",
    "CompressSettings",
    "Config",
    "DataSettings",
    "DistillSettings",
    "EncoderSettings",
    "LoopSettings",
    "MeasureSettings",
    "ProbeSettings",
    "Project",
    "PseudoSettings",
    "StudentKind",
    "StudentSettings",
    "Task",
    "TeachSettings",
    "TeacherKind",
    "TrainSettings",
    "TuneSettings",
    "load_project",
    "parse_config",
    "place_of",
    "render",
    "toml_value",
    "with_settings",
]
