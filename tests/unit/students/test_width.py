"""Dimensions and heads that texts use most stay, with the very weights they had; what is left loads again and fuses."""

import numpy as np
import onnxruntime
import pytest
import torch
from tiny_encoders import CONFIGS, tiny_encoder

from limbeck.compress.draft import fused_transformer
from limbeck.compress.fuse import fused_operations
from limbeck.compress.recipes import Circumstances, recipe_of
from limbeck.config import StudentSettings
from limbeck.errors import BadSetting
from limbeck.students.network import Plan
from limbeck.students.observe import batches_of
from limbeck.students.shrink import keep_inner, shrink
from limbeck.students.transformer import Transformer, keep_layers, save_encoder
from limbeck.students.width import keep_width
from limbeck.teach.network import Encoder

WORDS = [f"word{n}" for n in range(60)]


@pytest.fixture(scope="module")
def batches():
    rng = np.random.default_rng(0)
    return batches_of([rng.integers(5, 60, length).astype(np.int32) for length in rng.integers(3, 20, 80)], 1)


@pytest.fixture
def encoder(tmp_path):
    return Encoder(tiny_encoder(tmp_path / "whole", WORDS, width=64, inner=128)).eval()


def read(encoder, batches):
    ids, mask = batches[0]
    with torch.no_grad():
        return encoder(ids, mask)


@pytest.mark.parametrize("kind", CONFIGS)
def test_half_of_the_width_answers_the_same_when_it_is_loaded_again(kind, batches, tmp_path):
    encoder = Encoder(tiny_encoder(tmp_path / "whole", WORDS, kind, width=64, inner=128)).eval()
    keep_inner(encoder, 0.5, batches)
    assert keep_width(encoder, 0.5, batches) == encoder.width == 32
    save_encoder(encoder, tmp_path / "half")
    again = Encoder(tmp_path / "half").eval()
    assert (again.width, again.model.config.num_attention_heads) == (32, 2)
    assert read(again, batches).shape[2] == 32
    assert torch.allclose(read(encoder.eval(), batches), read(again, batches), atol=1e-6)


def test_the_dimensions_that_say_most_are_kept_wherever_they_are(encoder, batches):
    with torch.no_grad():
        for module in encoder.model.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight[::2] = 1e-3  # every second dimension of all states is next to nothing
    before = encoder.model.state_dict()
    keep_width(encoder, 0.5, batches)
    after = encoder.model.state_dict()
    for table in ("word", "position", "token_type"):
        name = f"embeddings.{table}_embeddings.weight"
        assert torch.equal(after[name], before[name][:, 1::2])
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        wide, narrow = f"{layer}.intermediate.dense", f"{layer}.output.dense"
        assert torch.equal(after[f"{wide}.weight"], before[f"{wide}.weight"][:, 1::2])
        assert torch.equal(after[f"{wide}.bias"], before[f"{wide}.bias"])
        assert torch.equal(after[f"{narrow}.weight"], before[f"{narrow}.weight"][1::2])
        assert torch.equal(after[f"{narrow}.bias"], before[f"{narrow}.bias"][1::2])
        assert torch.equal(after[f"{layer}.output.LayerNorm.weight"], torch.ones(32))
    assert torch.equal(after["pooler.dense.weight"], before["pooler.dense.weight"][1::2, 1::2])


def test_a_dimension_counts_by_what_reads_it_too(encoder, batches):
    with torch.no_grad():
        for layer in encoder.layers:
            attention = layer.attention.self
            for reader in (attention.query, attention.key, attention.value, layer.intermediate.dense):
                reader.weight[:, 1::2] *= 1e-4
    before = encoder.model.state_dict()["embeddings.word_embeddings.weight"]
    keep_width(encoder, 0.5, batches)
    assert torch.equal(encoder.model.state_dict()["embeddings.word_embeddings.weight"], before[:, ::2])


def test_each_layer_keeps_the_heads_that_pass_most_on(encoder, batches):
    silent = ((0, 2), (1, 2))  # of four heads of 16
    with torch.no_grad():
        for layer, heads in zip(encoder.layers, silent, strict=True):
            for head in heads:
                layer.attention.output.dense.weight[:, 16 * head : 16 * head + 16] *= 1e-4
    before = [layer.attention.self.value.bias.detach().clone() for layer in encoder.layers]
    rows = [layer.attention.self.value.weight.detach().clone() for layer in encoder.layers]
    keep_width(encoder, 0.5, batches)
    for layer, weight, bias, left in zip(encoder.layers, rows, before, ((1, 3), (0, 3)), strict=True):
        inside = torch.cat([torch.arange(16 * head, 16 * head + 16) for head in left])
        value = layer.attention.self.value
        assert torch.equal(value.bias, bias[inside])
        there = {tuple(column.tolist()) for column in weight[inside].T}
        assert all(tuple(column.tolist()) in there for column in value.weight.detach().T)
        assert layer.attention.output.dense.weight.abs().max() > 1e-3


def test_where_layers_share_the_biases_of_heads_they_keep_the_same_heads(batches, tmp_path):
    encoder = Encoder(tiny_encoder(tmp_path / "whole", WORDS, "mpnet", width=64)).eval()
    with torch.no_grad():
        encoder.model.encoder.relative_attention_bias.weight.copy_(torch.arange(4.0).expand(32, 4))
        for layer, factor in zip(encoder.layers, (1e-2, 1e-3), strict=True):
            layer.attention.attn.o.weight[:, 16:48] *= factor
        values = [layer.attention.attn.v.weight[:, 0].clone() for layer in encoder.layers]
    keep_width(encoder, 0.5, batches)
    assert encoder.model.encoder.relative_attention_bias.weight[0].tolist() == [0, 3]
    for layer, value in zip(encoder.layers, values, strict=True):
        kept = layer.attention.attn.v.weight
        assert kept.shape == (32, 32) and len(value) == 64


def test_a_whole_share_changes_nothing(encoder, batches, tmp_path):
    before = {name: weight.clone() for name, weight in encoder.model.state_dict().items()}
    model, answers = encoder.model, read(encoder, batches)
    assert keep_width(encoder, 1.0, batches) == 64
    shrink(encoder, tmp_path / "whole", StudentSettings(), ["word1 word2"])
    assert encoder.model is model and torch.equal(read(encoder, batches), answers)
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_the_graph_is_fused_and_says_what_the_network_says(encoder, batches):
    keep_layers(encoder, 1)
    keep_inner(encoder, 0.5, batches)
    keep_width(encoder, 0.5, batches)
    torch.manual_seed(1)
    network = Transformer(encoder, Plan(3, 65, 32, 32, 0.0, 1)).eval()
    graph = fused_transformer(network, encoder, one_class=False)
    assert fused_operations(graph)["Attention"] == 1
    ids, mask = batches[0]
    given = {"input_ids": ids.numpy(), "attention_mask": mask.numpy()}
    with torch.no_grad():
        said = network.read(ids, mask)
    proba, vector = (run(graph, name, given) for name in ("probabilities", "embedding"))
    assert np.abs(proba - torch.sigmoid(said.logits).numpy()).max() < 1e-5
    assert vector.shape[1] == 32 and np.abs(vector - said.vector.numpy()).max() < 1e-4
    for recipe in ("tables", "int8", "int8-channels"):
        small = recipe_of(recipe)(graph, Circumstances(saturates=True, samples=[given]))
        assert len(small) < len(graph) and np.abs(run(small, "probabilities", given) - proba).max() < 0.05


def run(graph, output, given):
    return onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"]).run([output], given)[0]


def test_what_no_configuration_can_describe_is_an_error(encoder, batches, tmp_path):
    encoder.layers[1].intermediate.dense = torch.nn.Linear(64, 96)
    with pytest.raises(BadSetting, match="aren't built as BERT's"):
        keep_width(encoder, 0.5, batches)
    # As wide as its token vectors, it would be built without the product that widens them.
    electra = Encoder(tiny_encoder(tmp_path / "electra", WORDS, "electra", width=256)).eval()
    with pytest.raises(BadSetting, match="can't be 128 wide"):
        keep_width(electra, 0.5, batches)
