"""Settings of the bundle."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from limbeck.config.section import Section, WithoutRepeats
from limbeck.errors import nearest

TABLE_RECIPES = ("tables", "tables-4bit", "tables-products", "tables-long-products", "tables-low-rank")
WEIGHT_RECIPES = (
    *("int8", "int8-channels", "int8-some-rows", "int8-rows", "int8-mixed", "uint8", "uint8-channels"),
    *("static-minmax", "static-percentile", "static-entropy", "int4"),
)
BACKENDS = ("openvino", "openvino-bf16")
# Graphs that OpenVINO may run faster. Where activations are turned into 8 bits as they come it is slower than in float,
# if it can read the graph at all; 4-bit weights it unpacks.
FOR_OPENVINO = ("float", *TABLE_RECIPES, *(name for name in WEIGHT_RECIPES if name.startswith("static-")))


def _known_recipe(name: str) -> str:
    plain, at, backend = name.partition("@")
    if at and backend not in BACKENDS:
        raise ValueError(f"nothing called '{backend}' runs a recipe. {nearest(backend, BACKENDS)}")
    _check_plain(plain)
    return name


def _check_plain(name: str) -> None:
    tables, _, weights = name.partition("+")
    known = ("float", *TABLE_RECIPES, *WEIGHT_RECIPES)
    if weights and tables in TABLE_RECIPES and weights in WEIGHT_RECIPES:
        return
    if "+" in name:
        raise ValueError(f"'{name}' joins what can't be joined: write a recipe of tables, a plus, and one of weights.")
    if name not in known:
        raise ValueError(f"there is no recipe '{name}'. {nearest(name, known)}")


def _with_onnxruntime(backends: list[str]) -> list[str]:
    if "onnxruntime" not in backends:
        raise ValueError("'onnxruntime' must be among them: every bundle runs with it.")
    return backends


RecipeName = Annotated[str, AfterValidator(_known_recipe)]


class CompressSettings(Section):
    """How students become small and fast, and what that may cost."""

    recipes: Annotated[list[RecipeName], WithoutRepeats] = Field(
        ["tables", "int8", "int8-channels", "int8-some-rows", "int8-rows", "int8-mixed", "uint8", "uint8-channels"],
        description="What is tried beside float: tables (8 bits for token tables alone), int8 and uint8 (for weights, "
        "too: around 0, or with an offset), -channels (a scale a column), -rows (a scale a token, as well), -some-rows "
        "(that, but not right after a norm), -mixed (-rows, but the few products that lose most by it stay in float). "
        "Also known: tables-4bit, tables-products and tables-long-products (a byte for 4 or 6 numbers of a table), "
        "tables-low-rank, static-minmax, -percentile and -entropy (ranges seen beforehand), int4; one of tables and "
        "one of weights may be joined: tables-products+int8-channels. With @openvino at its end, OpenVINO runs it.",
    )
    take: Annotated[str, AfterValidator(lambda name: name and _known_recipe(name))] = Field(
        "",
        description="Take this recipe, whatever it loses. Empty: the gate decides, as it does for a model on which the "
        "recipe can't be run.",
    )
    backends: Annotated[
        list[Literal["onnxruntime", "openvino", "openvino-bf16"]], WithoutRepeats, AfterValidator(_with_onnxruntime)
    ] = Field(
        ["onnxruntime"],
        description="What may run a bundle. With openvino (an extra), the gate also tries float, static-percentile and "
        "all recipes of tables and static ones run by it, as float@openvino and so on, and takes one if it is faster "
        "(unless compress.take names what is wanted). "
        "openvino-bf16: the same in 16-bit floats, on processors that have them.",
    )
    baselines: bool = Field(True, description="Make bundles of baselines, too, and let them be chosen.")
    budget: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.005,
        description="The share of macro-F1, on dev's judging half, that 8 bits may cost. The fastest recipe within it "
        "is taken, or a smaller one that is as fast; float if there is none.",
    )
    student_budget: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.02, description="The same for the choice among students: the fastest whose loss to the best is within it."
    )
    vocabulary: Literal["auto", "corpus", "all"] = Field(
        "auto",
        description="Word pieces that stay: corpus, those that your texts use, and single letters; all; or auto, the "
        "former if then at least 99 % of dev's texts are read as before. A small pool has too few words for that.",
    )
    long_texts: Literal["truncate", "windows"] = Field(
        "truncate", description="Read the first tokens of a text that is too long, or all of it in overlapping windows."
    )
    overlap: Annotated[int, Field(ge=0)] = Field(32, description="Tokens that two windows share.")
    max_windows: Annotated[int, Field(ge=1)] = Field(64, description="Windows of a text that are read, at most.")
    combine: Literal["max", "mean"] = Field(
        "max", description="A category's probability over the windows: the highest, or the mean."
    )
    threads: Annotated[int, Field(ge=1)] = Field(1, description="Threads while the recipes are timed.")

    def tried(self) -> list[str]:
        """Give the recipes to try: float, those of the setting, what is forced, and those for other backends."""
        named = dict.fromkeys(["float", *self.recipes, *([self.take] if self.take else [])])
        plain = dict.fromkeys(["float", *self.recipes, "static-percentile"])
        fit = [name for name in plain if set(name.split("+")) <= set(FOR_OPENVINO)]
        others = [backend for backend in self.backends if backend != "onnxruntime" and not self.take]
        return list(named | dict.fromkeys(f"{name}@{backend}" for backend in others for name in fit))
