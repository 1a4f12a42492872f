"""Settings of the pseudo labels and the students."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from limbeck.config.section import Section, WithoutRepeats
from limbeck.config.teaching import LoopSettings

StudentKind = Literal["bag", "cnn", "bilstm", "transformer", "svm", "tfidf-logreg", "xgboost"]


class PseudoSettings(Section):
    """Which of the teacher's guesses about the pool students learn from."""

    scoring: Literal["auto", "exact"] = Field(
        "auto",
        description="auto: the pool is scored in 8 bits where the processor is made for them (VNNI) and the teacher's "
        "log-odds stay the same (a correlation of 0.99 on texts of the pool): twice as fast. exact: as it was taught.",
    )
    confidence: Annotated[float, Field(ge=0.5, le=1)] = Field(
        0.5,
        description="A guess counts as certain from this scaled confidence on: 0.5 is right at the threshold, so that "
        "all guesses count; 0.85 leaves the clear ones.",
    )
    positive_confidence: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="The same for guesses of yes alone. 0: as confidence."
    )
    negative_confidence: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="The same for guesses of no alone. 0: as confidence."
    )
    categories: dict[str, Annotated[float, Field(ge=0.5, le=1)]] = Field(
        {}, description="The confidence of single categories, for yes and no, e.g. { wlan = 0.9 }."
    )
    uncertain: Literal["leave-out", "unknown"] = Field(
        "leave-out",
        description="A text with an uncertain category is left out, or kept with that category unknown.",
    )
    fill_labelled: bool = Field(
        True, description="Labelled rows learn the teacher's guesses of the categories that they say nothing about."
    )
    empty: Annotated[float, Field(ge=0)] = Field(
        0.0, description="At most so many texts without any category for each one with some. 0: no limit."
    )
    parent_rows: Annotated[int, Field(ge=0)] = Field(
        0,
        description="At most so many texts for each parent of categories (data.parents), drawn at random, so that a "
        "frequent one doesn't drown the others; a text of several stays if one of them has room. 0: no limit.",
    )
    rows: Annotated[int, Field(ge=0)] = Field(0, description="At most so many texts, drawn at random. 0: all.")


class StudentSettings(Section):
    """The small models that are distilled from the teacher."""

    kinds: Annotated[list[StudentKind], WithoutRepeats] = Field(
        ["bag", "cnn"],
        description="Which to train: bag (weighed token vectors: the fastest), cnn (convolutions), bilstm, transformer "
        "(some of the encoder's layers), or a baseline: svm, tfidf-logreg, xgboost. For entities: cnn, bilstm, "
        "transformer.",
    )
    size: Literal["small", "medium", "large"] = Field("medium", description="How wide the networks are.")
    tokens: Literal["encoder", "pool"] = Field(
        "encoder", description="The encoder's word pieces, or word pieces learnt from your texts."
    )
    vocabulary: Annotated[int, Field(ge=100)] = Field(20_000, description="How many word pieces are learnt, at most.")
    max_tokens: Annotated[int, Field(ge=8)] = Field(128, description="Longer texts are cut after so many tokens.")
    vectors: Literal["teacher", "files", "pool", "random"] = Field(
        "teacher",
        description="Where token vectors start: what the taught encoder says of each token, word vectors from files, "
        "vectors of words that stand together in your texts, or chance.",
    )
    vector_files: list[str] = Field(
        [],
        description="Word vectors: text files (GloVe, fastText: a word and its numbers a line), JSON, or a matrix with "
        "its list of words ('NUMBERS.npy + WORDS.txt'). Several are put side by side.",
    )
    shared_words: Annotated[int, Field(ge=0)] = Field(
        200_000,
        description="For entities, with word vectors from files: so many more of their words are known, words that are "
        "alike by one vector together. A megabyte for 120,000 words; names that no text of yours has are found by it.",
    )
    layers: Annotated[int, Field(ge=1)] = Field(
        3, description="Layers of a transformer student, taken evenly from the encoder's."
    )
    inner: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0,
        description="The share of each layer's feed-forward columns that a transformer student keeps: those that texts "
        "of the pool use most. Half of them makes a layer a third cheaper.",
    )
    width: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0,
        description="The share of the encoder's width and of its attention heads that a transformer student keeps: the "
        "dimensions and heads that texts of the pool use most, as a multiple of 32. Two thirds of it and of the inner "
        "columns make layers twice as fast, and the token table a third smaller.",
    )
    encoder: str = Field("", description="A smaller encoder to start a transformer student from, instead.")
    decoder: Literal["softmax", "crf"] = Field(
        "softmax",
        description="For entities: the tags of words are scored one by one, or crf: moves from tag to tag are learnt, "
        "too. What BIO forbids is impossible with both.",
    )
    depth: Annotated[int, Field(ge=1, le=2)] = Field(
        1, description="For entities: one or two recurrent layers of a bilstm; a cnn gets more blocks with 2."
    )


class DistillSettings(LoopSettings):
    """How students learn: the losses by their weights (0: not at all), and the training."""

    task: Annotated[float, Field(ge=0)] = Field(1.0, description="True labels. 0: learn from pseudo labels alone.")
    soft: Annotated[float, Field(ge=0)] = Field(1.0, description="The teacher's probabilities.")
    hard: Annotated[float, Field(ge=0)] = Field(0.0, description="The teacher's guesses as yes or no.")
    relation: Annotated[float, Field(ge=0)] = Field(
        0.0, description="How alike the teacher finds the texts of a batch; widths may differ."
    )
    hidden: Annotated[float, Field(ge=0)] = Field(
        0.0, description="The teacher's vector of the text, through a learnt projection (cosine)."
    )
    attention: Annotated[float, Field(ge=0)] = Field(
        0.0, description="The teacher's attention maps; for transformer students."
    )
    sequences: Annotated[float, Field(ge=0)] = Field(
        0.0, description="For entities: the teacher's best sequences of tags, each by how likely it is."
    )
    best: Annotated[int, Field(ge=1)] = Field(3, description="How many of them.")
    marginals: Annotated[float, Field(ge=0)] = Field(
        0.0, description="For entities with a crf: the teacher's probabilities, for tags over all of the sequences."
    )
    temperature: Annotated[float, Field(gt=0)] = Field(
        1.0, description="Softens the teacher's probabilities and the student's; the loss grows by its square."
    )
    labelled: Annotated[float, Field(ge=0, le=1)] = Field(
        0.25, description="Share of labelled rows in each batch, beside unlabelled ones."
    )
    enough: Annotated[int, Field(ge=0)] = Field(
        20_000,
        description="A pool of fewer texts is filled up to so many: pieces of two of its texts are put together, and "
        "the teacher scores them like any other (three for each at most). 0: never.",
    )
    rounds: Annotated[int, Field(ge=1)] = Field(
        1, description="Self-distillation: from the second round on, the last student teaches the next."
    )
    rounded: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0,
        description="Training that knows of 8 bits: the share of the weights that each step sees rounded, another one "
        "each time. 1: all of them. It helps where a recipe of few bits loses too much.",
    )
    rounded_bits: Literal[4, 8] = Field(
        8, description="To how many bits: 4 for tables-4bit and int4, 8 for the other recipes."
    )
    drop_tokens: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.1, description="Share of the tokens that are left out at random in training."
    )
    mask_tokens: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="Share of the tokens that are hidden behind the mask token in training."
    )
    balance: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.3,
        description="Learn as if each category were in at least so many of the texts, so that rare ones are heard; "
        "undone after training. 0: as they are.",
    )
    epochs: Annotated[int, Field(ge=1)] = Field(6, description="Passes over the rows, if steps is 0.")
    steps: Annotated[int, Field(ge=0)] = Field(
        2500, description="Batches in all, however many rows there are. 0: as many as the epochs hold."
    )
    batch: Annotated[int, Field(ge=1)] = Field(128, description="Rows a batch; batches hold texts of similar length.")
    encoder_batch: Annotated[int, Field(ge=1)] = Field(32, description="The same for a transformer student.")
    rate: Annotated[float, Field(gt=0)] = Field(
        2e-4, description="The highest learning rate of a transformer student's pre-trained weights."
    )
    head_rate: Annotated[float, Field(gt=0)] = Field(2e-3, description="The highest learning rate of all else.")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(0.2, description="Dropout before the outputs.")
    patience: Annotated[int, Field(ge=1)] = Field(4, description="Evaluations without improvement before it stops.")
