"""The word pieces that a student reads: an encoder's own, or learnt from the user's texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, Metaspace
from tokenizers.pre_tokenizers import Sequence as PreTokenizers
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer

from limbeck.errors import EncoderMissing
from limbeck.runtime.batches import CHARACTERS_A_TOKEN
from limbeck.training.tokens import Ids

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class Pieces:
    """A tokeniser as one JSON file, cutting texts at `max_tokens` special tokens included."""

    def __init__(self, tokenizer: Tokenizer, max_tokens: int, pad_id: int, mask_id: int | None) -> None:
        """Use `tokenizer`; `mask_id` stands for a hidden token, if the vocabulary has one."""
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens
        self.pad_id = pad_id
        self.mask_id = mask_id

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return int(self.tokenizer.get_vocab_size(with_added_tokens=True))

    @property
    def vocabulary(self) -> list[str]:
        """The tokens in the order of their ids."""
        words = [""] * self.size
        for word, number in self.tokenizer.get_vocab(with_added_tokens=True).items():
            words[number] = word
        return words

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Give each text's ids; one that is too long is cut, and costs no more than what is kept of it."""
        bounded = [text[: self.max_tokens * CHARACTERS_A_TOKEN] for text in texts]
        return [np.array(found.ids, dtype=np.int32) for found in self.tokenizer.encode_batch(bounded)]

    def save(self, file: Path) -> None:
        """Write the tokeniser."""
        self.tokenizer.save(str(file))


def pieces_of_encoder(folder: Path, max_tokens: int) -> Pieces:
    """Take the word pieces of the encoder in `folder`."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True)
    fast = getattr(tokenizer, "backend_tokenizer", None)
    if fast is None:
        raise EncoderMissing(
            f"The encoder in {folder} has no fast tokeniser.", 'Use another one, or set students.tokens = "pool".'
        )
    mask = tokenizer.mask_token_id
    copy = Tokenizer.from_str(fast.to_str())
    return Pieces(copy, max_tokens, int(tokenizer.pad_token_id or 0), None if mask is None else int(mask))


def learn_pieces(texts: Iterable[str], size: int, max_tokens: int) -> Pieces:
    """Learn up to `size` word pieces from texts; letters are lowered, accents stay: in German they tell words apart.

    Byte pairs with a mark before each word, because the library's training of other kinds differs from run to run.
    """
    tokenizer = Tokenizer(BPE(unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True, strip_accents=False)
    tokenizer.pre_tokenizer = PreTokenizers([BertPreTokenizer(), Metaspace(prepend_scheme="always")])
    trainer = BpeTrainer(vocab_size=size, special_tokens=list(SPECIAL), show_progress=False, min_frequency=2)
    tokenizer.train_from_iterator(texts, trainer)
    numbers = {word: number for number, word in enumerate(SPECIAL)}
    ends = [(word, numbers[word]) for word in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return Pieces(tokenizer, max_tokens, numbers["[PAD]"], numbers["[MASK]"])


def load_pieces(file: Path, max_tokens: int, pad_id: int) -> Pieces:
    """Read what `save` wrote."""
    return Pieces(Tokenizer.from_file(str(file)), max_tokens, pad_id, None)
