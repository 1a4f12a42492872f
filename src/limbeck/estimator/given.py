"""What callers give as texts and labels, in any of the forms that Python users have them in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import BadInput

Form = Literal["classes", "matrix", "lists"]
Cells = NDArray[np.float32]


@dataclass(frozen=True)
class Labels:
    """Labels as one matrix [rows, classes] of 1, 0 and NaN, which means that nobody looked.

    `form` is how they were given: one class a row, a matrix, or lists of names. `classes` are the columns in the
    caller's own values, `names` the same as texts.
    """

    form: Form
    classes: NDArray[Any]
    cells: Cells

    @property
    def names(self) -> list[str]:
        """The categories' names."""
        return [str(one) for one in self.classes.tolist()]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have a label, be it yes or no."""
        return np.asarray((~np.isnan(self.cells)).any(axis=1), dtype=np.bool_)


def read_texts(given: Any, what: str = "texts") -> list[str]:  # noqa: ANN401 - whatever a caller has
    """Give texts as a list; anything else than a column of strings is an error."""
    if given is None or isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise BadInput(f"{what} is {_kind(given)}, not a list of texts.", "Give a list: [text].")
    dimensions = len(getattr(given, "shape", (0,)))
    if dimensions != 1:
        raise BadInput(f"{what} has {dimensions} dimensions.", "Give one column of texts, e.g. frame['text'].")
    texts = list(given)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(f"{what}[{place}] is {_kind(text)}, not a text.", "Leave it out, or turn it into a string.")
    return [str(text) for text in texts]


def read_labels(given: Any, rows: int) -> Labels:  # noqa: ANN401 - as above
    """Give the labels of so many texts, whatever form they have."""
    if given is None:
        raise BadInput(
            "LimbeckClassifier requires y to be passed, but the target y is None.",
            "Give a label for each text; None or NaN where nobody looked.",
        )
    if len(getattr(given, "shape", ())) == 2:
        found = _of_matrix(given)
    elif _are_lists(given):
        found = _of_lists(list(given))
    else:
        column = np.asarray(given) if not _is_pandas(given) else np.asarray(given, dtype=object)
        found = _of_matrix(column) if column.ndim == 2 else _of_classes(column)
    if len(found.cells) != rows:
        raise BadInput(f"There are {rows} texts, but labels of {len(found.cells)}.", "Give one for each text.")
    _check_names(found.names)
    return found


def cells_of(given: Any, learnt: Labels, rows: int) -> tuple[Cells, NDArray[np.bool_]]:  # noqa: ANN401 - as above
    """Give labels [rows, classes] by classes that were learnt, and which rows have a class that wasn't."""
    form, classes = learnt.form, learnt.classes.tolist()
    column = {one: number for number, one in enumerate(classes)}
    if form == "matrix":
        found = _cells(given if len(getattr(given, "shape", ())) == 2 else np.asarray(given))
        if found.shape != (rows, len(classes)):
            wanted = f"[{rows}, {len(classes)}]"
            raise BadInput(f"The labels have the shape {list(found.shape)}, not {wanted}.", "Give them as in fit.")
        return found, np.zeros(rows, dtype=np.bool_)
    cells, strange = np.full((rows, len(classes)), np.nan, np.float32), np.zeros(rows, dtype=np.bool_)
    values = np.asarray(given, dtype=object).ravel().tolist() if form == "classes" else list(given)
    if len(values) != rows:
        raise BadInput(f"There are {rows} texts, but labels of {len(values)}.", "Give one for each text.")
    for row, value in enumerate(values):
        if is_unknown(value):
            continue
        mine = [value] if form == "classes" else value
        cells[row] = 0
        strange[row] = any(one not in column for one in mine)
        cells[row, [column[one] for one in mine if one in column]] = 1
    return cells, strange


def is_unknown(value: Any) -> bool:  # noqa: ANN401 - as above
    """Say whether a value means that nobody looked: None, NaN, pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _of_classes(column: NDArray[Any]) -> Labels:
    """Read one class a row, of any type that sorts."""
    from sklearn.utils.multiclass import check_classification_targets

    if column.ndim != 1:
        raise BadInput("y should be a 1d array or a matrix of 1 and 0.", "Give one label for each text.")
    unknown = np.array([is_unknown(value) for value in column.tolist()], dtype=np.bool_)
    told = column[~unknown]
    if not len(told):
        raise BadInput("No label is known: all are None or NaN.", "Label some of the texts.")
    told = np.array(told.tolist()) if told.dtype == object else told
    if told.dtype.kind == "f" and np.isinf(told).any():
        raise BadInput("A label is infinity.", "Give classes: names or whole numbers.")
    check_classification_targets(told)
    classes, found = np.unique(told, return_inverse=True)
    if len(classes) < 2:
        raise BadInput(f"There is 1 class only: {classes[0]!r}.", "Give texts of another class as well.")
    cells = np.full((len(column), len(classes)), np.nan, np.float32)
    cells[~unknown] = np.eye(len(classes), dtype=np.float32)[found]
    return Labels("classes", classes, cells)


def _of_matrix(given: Any) -> Labels:  # noqa: ANN401 - as above
    """Read a column a label: 1, 0, or NaN where nobody looked."""
    columns = getattr(given, "columns", None)
    if columns is None and given.shape[1] == 1:
        from sklearn.utils import column_or_1d

        return _of_classes(column_or_1d(given.toarray() if hasattr(given, "toarray") else given, warn=True))
    classes = np.arange(given.shape[1]) if columns is None else np.array([str(name) for name in columns])
    return _with_both(Labels("matrix", classes, _cells(given)))


def _cells(given: Any) -> Cells:  # noqa: ANN401 - as above
    """Give a matrix's numbers, whatever holds them."""
    plain = given.toarray() if hasattr(given, "toarray") else given
    try:
        if _is_pandas(plain):
            plain = plain.astype(object).where(plain.notna(), np.nan)
        cells = np.asarray(plain, dtype=np.float32)
    except (TypeError, ValueError):
        raise BadInput("The matrix of labels holds something else than numbers.", "Give 1, 0 or NaN.") from None
    if not (np.isnan(cells) | (cells == 0) | (cells == 1)).all():
        raise BadInput("The matrix of labels holds something else than 1, 0 and NaN.", "Give a column a label.")
    return cells


def _of_lists(lists: list[Any]) -> Labels:
    """Read the names of each text's labels; what isn't named is a no, None means that nobody looked."""
    names = sorted({name for mine in lists if not is_unknown(mine) for name in mine})
    column = {name: number for number, name in enumerate(names)}
    cells = np.full((len(lists), len(names)), np.nan, np.float32)
    for row, mine in enumerate(lists):
        if not is_unknown(mine):
            cells[row] = 0
            cells[row, [column[name] for name in mine]] = 1
    return _with_both(Labels("lists", np.array(names, dtype=object), cells))


def _with_both(labels: Labels) -> Labels:
    """Refuse labels that say nothing, or the same of every text."""
    cells = labels.cells
    if not (~np.isnan(cells)).any():
        raise BadInput("No label is known: all are None or NaN.", "Label some of the texts.")
    if not ((cells == 1).any(axis=0) & (cells == 0).any(axis=0)).any():
        raise BadInput(
            "Every label is of one class only: yes wherever it is known, or no.", "Give texts with and without it."
        )
    return labels


def _are_lists(given: Any) -> bool:  # noqa: ANN401 - as above
    """Say whether these are lists of names, and not rows of a matrix."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        return False
    rows = [one for one in given if not is_unknown(one)]
    lists = [one for one in rows if isinstance(one, (list, tuple, set, frozenset))]
    return bool(lists) and len(lists) == len(rows) and all(isinstance(name, str) for one in lists for name in one)


def _is_pandas(given: object) -> bool:
    return type(given).__module__.partition(".")[0] == "pandas"


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if not name.strip() or name != name.strip() or names.count(name) > 1:
            raise BadInput(
                f"A label can't be named {name!r}.", "Names must differ, and have no blanks at the beginning or end."
            )


def _kind(value: object) -> str:
    return "None" if value is None else f"of the type {type(value).__name__}"
