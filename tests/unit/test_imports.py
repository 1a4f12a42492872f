"""What the base install and serving stand on imports nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "sklearn", "pandas", "scipy", "pyarrow", "mlflow", "optuna", "xgboost", "openvino")


@pytest.mark.parametrize(
    "module",
    [
        "limbeck",
        "limbeck.text",
        "limbeck.scorer",
        "limbeck.errors",
        "limbeck.cli",
        "limbeck.data.merge",
        "limbeck.runtime.predictor",
        "limbeck.pipeline",
        "limbeck.flavour",
    ],
)
def test_a_clean_interpreter_loads_nothing_heavy_with(module):
    code = f"import sys, {module}; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_public_names_are_few_and_all_there():
    import limbeck

    names = "Answer Entity EntityPredictor LimbeckClassifier LimbeckError Pipeline Predictor Scorer Span Tagger __version__ load load_project"
    assert limbeck.__all__ == names.split()
    assert all(hasattr(limbeck, name) for name in limbeck.__all__)
