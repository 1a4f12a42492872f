"""Other tools, each used as its documentation says, with the same labelled rows as Limbeck.

A contestant learns from `Rows` (a category's own rows, with its label alone known) and gives probabilities [texts,
labels]. Tools that can't leave a label unknown get one model a category, as their users would have to.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from limbeck.data.dataset import Dataset
from limbeck.scorer import Floats


class Contestant(Protocol):
    """A trained rival."""

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]."""
        ...


@dataclass(frozen=True)
class Rows:
    """What there is to learn, and the encoder that all may start from."""

    train: Dataset
    encoder: Path
    seed: int = 0

    def of(self, category: str) -> tuple[list[str], list[int]]:
        """Give the texts whose label of a category is known, and these labels."""
        known = self.train.known_for(category)
        return [self.train.texts[row] for row in known], self.train.column(category)[known].astype(int).tolist()


class FastText:
    """A supervised model a category, with word pairs and the library's advice for small sets: more passes."""

    def __init__(self, rows: Rows) -> None:
        """Train."""
        self.models = []
        for category in rows.train.names:
            with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
                for text, label in zip(*rows.of(category), strict=True):
                    file.write(f"__label__{label} {_flat(text)}\n")
                file.flush()
                told = {
                    "epoch": 50,
                    "wordNgrams": 2,
                    "dim": 50,
                    "thread": 1,
                    "verbose": 0,
                    "bucket": 200_000,
                }
                self.models.append(self._train(file.name, told | {"seed": rows.seed}))

    @staticmethod
    def _train(file: str, told: dict[str, Any]) -> Any:
        import fasttext

        for rate in (0.5, 0.25):
            try:
                return fasttext.train_supervised(file, **told, lr=rate)
            except RuntimeError:  # it met NaN; the library's advice is a lower rate
                continue
        return fasttext.train_supervised(file, **told, lr=0.1)

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Ask every model."""
        proba = np.zeros((len(texts), len(self.models)), dtype=np.float32)
        for row, text in enumerate(texts):
            shown = _flat(text) + "\n"  # what the library's own `predict` passes on; that one fails with numpy 2
            for column, model in enumerate(self.models):
                found = {label: likely for likely, label in model.f.predict(shown, 2, 0.0, "strict")}
                proba[row, column] = found.get("__label__1", 0.0)
        return np.clip(proba, 0, 1)  # the library rounds up past 1


class Model2VecHeads:
    """Token vectors distilled from the encoder, and a logistic regression a category: one embedding a text."""

    def __init__(self, rows: Rows) -> None:
        """Distil and fit."""
        from sklearn.linear_model import LogisticRegression

        self.static = _static(rows)
        self.heads = []
        for category in rows.train.names:
            texts, labels = rows.of(category)
            self.heads.append(LogisticRegression(max_iter=1000, C=10.0).fit(self.static.encode(texts), labels))
        self.weights = np.concatenate([head.coef_ for head in self.heads]).T
        self.offsets = np.concatenate([head.intercept_ for head in self.heads])

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Embed once, ask all heads."""
        scores = self.static.encode(list(texts)) @ self.weights + self.offsets
        return np.asarray(1 / (1 + np.exp(-scores)), dtype=np.float32)


class Model2VecTuned:
    """The same token vectors, fine-tuned with the library's own classifier: a model a category."""

    def __init__(self, rows: Rows) -> None:
        """Distil and fine-tune."""
        from model2vec.train import StaticModelForClassification

        static = _static(rows)
        self.models = []
        for category in rows.train.names:
            texts, labels = rows.of(category)
            model = StaticModelForClassification.from_static_model(model=static)
            model.fit(texts, [str(label) for label in labels], random_seed=rows.seed, device="cpu")
            self.models.append(model.to_pipeline())

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Ask every model."""
        return np.stack([model.predict_proba(list(texts))[:, 1] for model in self.models], axis=1).astype(np.float32)


class Spacy:
    """One textcat_multilabel over all categories; the library leaves out labels that a text doesn't name."""

    PASSES = 15

    def __init__(self, rows: Rows) -> None:
        """Train with the library's default architecture, an ensemble of a linear bag and a network."""
        import spacy
        from spacy.training import Example
        from spacy.util import compounding, fix_random_seed, minibatch

        fix_random_seed(rows.seed)
        self.nlp = spacy.blank("en")
        self.names = rows.train.names
        self.nlp.add_pipe("textcat_multilabel")
        examples = []
        for row, text in enumerate(rows.train.texts):
            known = {
                name: float(label)
                for name, label in zip(self.names, rows.train.labels[row], strict=True)
                if not np.isnan(label)
            }
            examples.append(Example.from_dict(self.nlp.make_doc(text), {"cats": known}))
        for name in self.names:
            self.nlp.get_pipe("textcat_multilabel").add_label(name)
        optimizer = self.nlp.initialize(lambda: examples)
        shuffler = random.Random(rows.seed)
        for _ in range(self.PASSES):
            shuffler.shuffle(examples)
            for batch in minibatch(examples, size=compounding(8.0, 64.0, 1.001)):
                self.nlp.update(batch, sgd=optimizer, drop=0.2)

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Run the pipeline."""
        found = self.nlp.pipe(texts, batch_size=64)
        return np.array([[doc.cats[name] for name in self.names] for doc in found], dtype=np.float32)


class SetFit:
    """The encoder tuned on pairs of a category's texts, and a logistic head: a model a category, few pairs each."""

    ROUNDS = 1

    def __init__(self, rows: Rows) -> None:
        """Train; the encoder is loaded anew for each category."""
        from datasets import Dataset as Table
        from setfit import SetFitModel, Trainer, TrainingArguments

        os.environ["WANDB_DISABLED"] = "true"
        self.models = []
        for category in rows.train.names:
            texts, labels = rows.of(category)
            model = SetFitModel.from_pretrained(str(rows.encoder), local_files_only=True, device="cpu")
            with tempfile.TemporaryDirectory() as folder:
                told = TrainingArguments(
                    output_dir=folder,
                    batch_size=32,
                    num_epochs=1,
                    num_iterations=self.ROUNDS,
                    seed=rows.seed,
                    report_to="none",
                    save_strategy="no",
                    max_length=64,
                )
                table = Table.from_dict({"text": texts, "label": labels})
                Trainer(model=model, args=told, train_dataset=table).train()
            self.models.append(model)

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Ask every model."""
        found = [np.asarray(model.predict_proba(list(texts), as_numpy=True))[:, 1] for model in self.models]
        return np.stack(found, axis=1).astype(np.float32)


class TfIdf:
    """TF-IDF over words and word pairs with a logistic regression a category, as scikit-learn's pipeline."""

    def __init__(self, rows: Rows) -> None:
        """Fit."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        self.models = []
        for category in rows.train.names:
            words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
            self.models.append(make_pipeline(words, LogisticRegression(C=10.0, max_iter=1000)).fit(*rows.of(category)))

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Ask every pipeline."""
        return np.stack([model.predict_proba(texts)[:, 1] for model in self.models], axis=1).astype(np.float32)


def _static(rows: Rows) -> Any:
    from model2vec.distill import distill

    return distill(model_name=str(rows.encoder), device="cpu")


def _flat(text: str) -> str:
    return " ".join(text.lower().split())


RIVALS: dict[str, Callable[[Rows], Contestant]] = {
    "fastText": FastText,
    "Model2Vec, logistic heads": Model2VecHeads,
    "Model2Vec, fine-tuned": Model2VecTuned,
    "spaCy textcat_multilabel": Spacy,
    "SetFit": SetFit,
    "TF-IDF, logistic regression": TfIdf,
}
