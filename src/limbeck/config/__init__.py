"""limbeck.toml as typed models; unknown keys are errors; --set section.key=value."""

from limbeck.config.project import FILE_NAME, Project, load_project, parse_config
from limbeck.config.render import render, toml_value
from limbeck.config.settings import (
    AdaptSettings,
    BaselineKind,
    BaselineSettings,
    CalibrateSettings,
    Config,
    DataSettings,
    EncoderSettings,
    MeasureSettings,
    ProbeSettings,
    Task,
    TeacherKind,
    TeachSettings,
    TrainSettings,
)

__all__ = [
    "FILE_NAME",
    "AdaptSettings",
    "BaselineKind",
    "BaselineSettings",
    "CalibrateSettings",
    "Config",
    "DataSettings",
    "EncoderSettings",
    "MeasureSettings",
    "ProbeSettings",
    "Project",
    "Task",
    "TeachSettings",
    "TeacherKind",
    "TrainSettings",
    "load_project",
    "parse_config",
    "render",
    "toml_value",
]
