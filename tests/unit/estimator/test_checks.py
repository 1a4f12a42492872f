"""scikit-learn's own checks of estimators.

They are made for tables of numbers and leave out whoever reads texts. So each row of numbers is written as words here:
all that is checked but the reading of the numbers is LimbeckClassifier's.
"""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted, validate_data
from texts_given import words

from limbeck import LimbeckClassifier

# What these look at is how numbers are validated, which the class below leaves to scikit-learn.
NUMBERS = dict.fromkeys(
    [
        "check_complex_data",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_nan_inf",
        "check_estimators_empty_data_messages",
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_f_contiguous_array_estimator",
        "check_fit1d",
        "check_fit2d_predict1d",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
    ],
    "it looks at how numbers are validated; texts are none",
)


class OfNumbers(LimbeckClassifier):
    """Reads rows of numbers as texts: a word for each number, coarsely rounded and more finely."""

    def fit(self, X, y, unlabelled=None):  # noqa: N803 - scikit-learn's name
        return super().fit(self._written(X, reset=True), y, unlabelled)

    def predict(self, X):  # noqa: N803 - scikit-learn's name
        return super().predict(self._checked(X))

    def predict_proba(self, X):  # noqa: N803 - scikit-learn's name
        return super().predict_proba(self._checked(X))

    def _checked(self, X):  # noqa: N803 - scikit-learn's name
        check_is_fitted(self)
        return self._written(X, reset=False)

    def _written(self, X, reset):  # noqa: N803 - scikit-learn's name
        return [" ".join(_words(row)) for row in validate_data(self, X, reset=reset).astype(float).tolist()]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.string = tags.input_tags.one_d_array = False
        return tags


def _words(row):
    """Describe numbers; the last word makes rows that are nearly the same different texts."""
    for fine in (1, 2, 4):
        for column, number in enumerate(row):
            near = round(number * fine)
            yield f"column{column}by{fine}is{'minus' if near < 0 else ''}{abs(near)}"
    yield f"row{hash(tuple(row)) % 1_000_003}"


def of_numbers():
    return OfNumbers(**words().get_params())


def _name(case):
    return getattr(case, "func", case).__name__ if callable(case) and not isinstance(case, LimbeckClassifier) else ""


@pytest.mark.parametrize(
    ("estimator", "check"),
    estimator_checks_generator(of_numbers(), expected_failed_checks=NUMBERS, mark="skip"),
    ids=_name,
)
def test_scikit_learn_finds_what_it_expects(estimator, check):
    check(estimator)
