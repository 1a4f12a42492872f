"""Tiny encoders with random weights and a real word list, of any architecture."""

from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    AutoModel,
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    MPNetConfig,
    PreTrainedTokenizerFast,
    RobertaConfig,
    XLMRobertaConfig,
)

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
CONFIGS = {
    "bert": BertConfig,
    "distilbert": DistilBertConfig,
    "electra": ElectraConfig,
    "roberta": RobertaConfig,
    "mpnet": MPNetConfig,
    "xlm-roberta": XLMRobertaConfig,
}


def tiny_encoder(
    folder: Path, words: list[str], kind: str = "bert", layers: int = 2, width: int = 32, inner: int = 64
) -> Path:
    """Write an encoder's folder: configuration, random weights, tokeniser over `words`."""
    import torch

    vocabulary = SPECIAL + sorted(set(words))
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<mask>",
    )
    fast.save_pretrained(folder)
    shape = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": 4, "intermediate_size": inner}
    if kind == "distilbert":
        shape = {"dim": width, "n_layers": layers, "n_heads": 4, "hidden_dim": inner}
    torch.manual_seed(0)
    config = CONFIGS[kind](vocab_size=len(vocabulary), max_position_embeddings=130, pad_token_id=1, **shape)
    AutoModel.from_config(config).save_pretrained(folder)
    return folder


def tiny_classifier(encoder: Path, folder: Path, names: list[str], problem: str = "multi_label_classification"):
    """Write a finished classifier with random outputs on a tiny encoder; give its model and tokeniser."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(3)
    model = AutoModelForSequenceClassification.from_pretrained(
        encoder,
        num_labels=len(names),
        id2label=dict(enumerate(names)),
        label2id={name: number for number, name in enumerate(names)},
        problem_type=problem,
    )
    model.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    tokenizer.save_pretrained(folder)
    return model, tokenizer
