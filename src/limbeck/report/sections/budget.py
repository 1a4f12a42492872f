"""What `limbeck fit` looked at."""

from __future__ import annotations

from limbeck.report.blocks import Block, Picture, Section, Table, megabytes, milliseconds
from limbeck.report.fitted import charts
from limbeck.report.run import Run


def section(run: Run) -> Section | None:
    """Make the section; None if nobody searched."""
    told = run.fit
    if told is None:
        return None
    chosen = told["chosen"]
    lead = (
        f"Of {len(told['candidates'])} models {chosen['kind']}, {chosen['size']}, {chosen['recipe']} was taken: F1 "
        f"{chosen['f1']:.3f} on dev's judging half, {milliseconds(told['checked_us'] / 1e3)} a text, "
        f"{megabytes(told['checked_bytes'])}, measured again afterwards. Asked: {told['asked']}."
    )
    about = "Square: taken. Pale: past the budget. The line joins those that none beats."
    blocks: list[Block] = [Picture(title, svg, about) for title, svg in charts(told)]
    best = sorted(told["candidates"], key=lambda one: -one["f1"])
    rows = [
        (
            one["kind"],
            one["size"],
            one["recipe"],
            f"{one['f1']:.3f}",
            milliseconds(one["p50_us"] / 1e3),
            megabytes(one["bytes"]),
        )
        for one in best
    ]
    blocks.append(
        Table("All that was looked at", ["student", "size", "recipe", "F1", "median", "bundle"], rows, folded=True)
    )
    if told["skipped"]:
        lines = [(line,) for line in told["skipped"]]
        blocks.append(Table("Not trained, as nothing of their shape fits", ["student"], lines, folded=True))
    return Section("budget", "The budget", lead, blocks)
