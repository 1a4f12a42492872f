"""Bundles as MLflow models: logged, registered and served as they are, without torch and without pickle.

MLflow keeps the bundle's folder and the name of this module, which opens it again. Whoever loads such a model needs the
small runtime alone.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limbeck.errors import BadInput, BundleMissing, ExtraMissing, ProjectExists
from limbeck.runtime.bundle import CARD
from limbeck.runtime.load import load
from limbeck.runtime.predictor import Predictor

if TYPE_CHECKING:
    from limbeck.runtime.manifest import Manifest
    from limbeck.runtime.tagger import EntityPredictor

FLAVOUR, DATA = "limbeck", "bundle"
RUNTIME = ("limbeck", "numpy", "onnxruntime", "tokenizers", "pydantic")
TEXT, LABELS, SPANS = "text", "labels", "spans"
EXAMPLE = ("The train was an hour late.",)


def log_model(
    bundle: str | Path,
    name: str,
    registered_model_name: str | None = None,
    input_example: Sequence[str] | None = None,
    pip_requirements: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    run_id: str | None = None,
) -> Any:  # noqa: ANN401 - mlflow has no types
    """Log a bundle to the active MLflow run, or to a new one; register it if a name is given. Give MLflow's ModelInfo.

    Without `pip_requirements` they are those of the small runtime, as it is installed here.
    """
    _need_mlflow()
    from mlflow.models import Model

    from limbeck import flavour

    load(bundle)  # a bundle that is broken begins no run
    return Model.log(
        artifact_path=None,
        name=name,
        flavor=flavour,
        registered_model_name=registered_model_name,
        run_id=run_id,
        metadata=dict(metadata or {}),
        bundle=bundle,
        input_example=input_example,
        pip_requirements=pip_requirements,
    )


def save_model(
    bundle: str | Path,
    path: str | Path,
    input_example: Sequence[str] | None = None,
    pip_requirements: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    mlflow_model: Any = None,  # noqa: ANN401 - mlflow has no types
) -> None:
    """Write a bundle as an MLflow model into a new folder, with its card, figures, signature and requirements.

    `mlflow_model` is what MLflow has begun when it calls this for `log_model`.
    """
    _need_mlflow()
    import mlflow.pyfunc
    from mlflow.models import Model

    folder, target = Path(bundle), Path(path)
    if target.exists() and any(target.iterdir()):
        raise ProjectExists(f"{target} is already there.", "Name another folder, or move it away first.")
    manifest = load(folder).manifest
    model = mlflow_model if mlflow_model is not None else Model()
    model.add_flavor(FLAVOUR, data=f"data/{DATA}", task=manifest.task, limbeck_version=version("limbeck"))
    with tempfile.TemporaryDirectory() as place:
        # MLflow calls its copy what the folder is called.
        named = shutil.copytree(folder, Path(place) / DATA)
        mlflow.pyfunc.save_model(
            path=str(target),
            loader_module=__name__,
            data_path=str(named),
            mlflow_model=model,
            signature=_signature(manifest),
            input_example=list(input_example or EXAMPLE),
            pip_requirements=list(pip_requirements or requirements()),
            metadata={**_facts(manifest), **(model.metadata or {}), **(metadata or {})},
        )
    shutil.copyfile(folder / CARD, target / CARD)


def load_model(uri: str, threads: int = 1) -> Predictor | EntityPredictor:
    """Fetch a logged or registered model (runs:/…, models:/…, a folder) and load its bundle.

    `mlflow.pyfunc.load_model` gives the same as one of MLflow's own, which answers with tables.
    """
    _need_mlflow()
    from mlflow.artifacts import download_artifacts

    folder = Path(download_artifacts(str(uri))) / "data" / DATA
    if not folder.is_dir():
        raise BundleMissing(f"{uri} holds no bundle.", "Log one with limbeck.flavour.log_model.")
    return load(folder, threads)


def requirements() -> list[str]:
    """Give the packages that answering needs, in the versions that are installed here."""
    return [f"{name}=={version(name).partition('+')[0]}" for name in RUNTIME]


class TablePredictor:
    """A bundle that takes and gives what MLflow's tools do: texts in any form, a table of answers."""

    def __init__(self, predictor: Predictor | EntityPredictor) -> None:
        """Answer with this bundle."""
        self.predictor = predictor

    def predict(self, data: Any) -> Any:  # noqa: ANN401 - a pandas table, which has no types here
        """Give a row a text: a probability a label and the `labels` that are given; or the `spans` of entities."""
        import pandas as pd  # type: ignore[import-untyped]

        texts, index = _texts(data)
        if not isinstance(self.predictor, Predictor):
            found = [[asdict(entity) for entity in mine] for mine in self.predictor.predict(texts)]
            return pd.DataFrame({SPANS: pd.Series(found, dtype=object)}).set_axis(index)
        proba = self.predictor.predict_proba(texts)
        table = pd.DataFrame(proba, columns=list(self.predictor.labels))
        table[_column(self.predictor.labels)] = pd.Series(self.predictor.chosen(proba), dtype=object)
        return table.set_axis(index)


def _load_pyfunc(path: str) -> TablePredictor:
    """Open a bundle for `mlflow.pyfunc`, which calls this by its name."""
    return TablePredictor(load(path))


def _texts(data: Any) -> tuple[list[str], Any]:  # noqa: ANN401 - as above
    """Give the texts of a table, a column or a list, and the index that answers get."""
    column = data
    if len(getattr(data, "shape", ())) == 2:
        names = list(getattr(data, "columns", [0]))
        # What isn't a table has come as one column, numbered 0.
        if TEXT not in names and names != [0]:
            raise BadInput(
                f"There is no column '{TEXT}' but {', '.join(map(str, names))}.",
                f"Give a table with the texts in '{TEXT}', its first column, or a plain list.",
            )
        column = data[TEXT if TEXT in names else 0] if hasattr(data, "columns") else data[:, 0]
    texts = [column] if isinstance(column, str) else list(column)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(f"Row {place} is {type(text).__name__}, not a text.", "Leave it out.")
    return texts, getattr(data, "index", range(len(texts))) if hasattr(data, "shape") else range(len(texts))


def _column(labels: Sequence[str]) -> str:
    """Give the column of the labels that are given a name that no label has."""
    name = LABELS
    while name in labels:
        name += "_"
    return name


def _signature(manifest: Manifest) -> Any:  # noqa: ANN401 - mlflow has no types
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, Schema
    from mlflow.types.schema import Array, Object, Property

    names = [label.name for label in manifest.labels]
    if manifest.task == "ner":
        kinds = {"start": DataType.long, "end": DataType.long, "type": DataType.string, "text": DataType.string}
        parts = [Property(name, kind) for name, kind in (kinds | {"confidence": DataType.double}).items()]
        given: list[Any] = [ColSpec(Array(Object(parts)), SPANS)]
    else:
        given = [ColSpec(DataType.float, name) for name in names]
        given.append(ColSpec(Array(DataType.string), _column(names)))
    # Without a name, so that lists and single columns are taken as well as tables.
    return ModelSignature(inputs=Schema([ColSpec(DataType.string)]), outputs=Schema(given))


def _facts(manifest: Manifest) -> dict[str, Any]:
    """Give what people look for in a registry."""
    return {
        "name": manifest.name,
        "task": manifest.task,
        "model": asdict(manifest.model),
        "labels": {label.name: round(label.threshold, 6) for label in manifest.labels},
        "figures": dict(manifest.figures),
        "made_at": manifest.made_at,
        "made_with": manifest.made_with,
    }


def _need_mlflow() -> None:
    try:
        import mlflow  # noqa: F401
    except ImportError:
        raise ExtraMissing("track", "Logging bundles to MLflow") from None
