"""Settings of the bundle."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from limbeck.config.section import Section, WithoutRepeats
from limbeck.errors import nearest

TABLE_RECIPES = ("tables", "tables-4bit", "tables-products", "tables-long-products", "tables-low-rank")
WEIGHT_RECIPES = (
    *("int8", "int8-channels", "int8-some-rows", "int8-rows", "int8-mixed", "int8-budget", "uint8", "uint8-channels"),
    *("static-minmax", "static-percentile", "static-entropy", "int4"),
)


def _known_recipe(name: str) -> str:
    tables, _, weights = name.partition("+")
    known = ("float", *TABLE_RECIPES, *WEIGHT_RECIPES)
    if weights and tables in TABLE_RECIPES and weights in WEIGHT_RECIPES:
        return name
    if "+" in name:
        raise ValueError(f"'{name}' joins what can't be joined: write a recipe of tables, a plus, and one of weights.")
    if name not in known:
        raise ValueError(f"there is no recipe '{name}'. {nearest(name, known)}")
    return name


RecipeName = Annotated[str, AfterValidator(_known_recipe)]


class CompressSettings(Section):
    """How students become small and fast, and what that may cost."""

    recipes: Annotated[list[RecipeName], WithoutRepeats] = Field(
        ["tables", "int8", "int8-channels", "int8-some-rows", "int8-rows", "int8-mixed", "uint8", "uint8-channels"],
        description="What is tried beside float: tables (8 bits for token tables alone), int8 and uint8 (for weights, "
        "too: around 0, or with an offset), -channels (a scale a column), -rows (a scale a token, as well), -some-rows "
        "(that, but not right after a norm), -mixed (-rows, but the few products that lose most by it stay in float). "
        "Also known: int8-budget (-channels, but as many products stay in float as it takes for F1 on dev's tuning "
        "half to hold), tables-4bit, tables-products and tables-long-products (a byte for 4 or 6 numbers of a table), "
        "tables-low-rank, static-minmax, -percentile and -entropy (ranges seen beforehand), int4; one of tables and "
        "one of weights may be joined: tables-products+int8-channels.",
    )
    take: Annotated[str, AfterValidator(lambda name: name and _known_recipe(name))] = Field(
        "",
        description="Take this recipe, whatever it loses. Empty: the gate decides, as it does for a model on which the "
        "recipe can't be run.",
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
