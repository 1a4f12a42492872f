"""Texts and labels in memory, and a classifier that learns them in a second."""

from small_project import make_texts

from limbeck import LimbeckClassifier

LABELS = ("heat", "late", "wifi")
QUICK = {
    "train.epochs": 10,
    "train.head_rate": 0.01,
    "teach.folds": 2,
    "distill.epochs": 12,
    "distill.batch": 16,
    "distill.head_rate": 0.01,
    "measure.rounds": 100,
}


def given(count=120, seed=1):
    """Give texts and the names of their labels."""
    rows = make_texts(count, seed)
    return [text for text, _ in rows], [names for _, names in rows]


def classes(lists):
    """Give one class a text: its first label."""
    return [names[0] if names else "none" for names in lists]


def words(**more):
    """Give a classifier that counts words: no teacher, no encoder."""
    settings = {"measure.rounds": 100} | more.pop("settings", {})
    return LimbeckClassifier(
        **{"teacher": "none", "student": "tfidf-logreg", "eight_bits": False, "settings": settings} | more
    )


def distilled(encoder, **more):
    """Give a classifier with a probe of a tiny encoder as its teacher."""
    settings = QUICK | more.pop("settings", {})
    return LimbeckClassifier(**{"encoder": encoder, "steps": 0, "eight_bits": False, "settings": settings} | more)
