"""Training that knows of rounding: weights come back, gradients go through, and rounding costs less afterwards."""

import pytest
import torch
from torch import nn

from limbeck.training.rounding import Rounding, rounded


def small(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))


@pytest.mark.parametrize(("bits", "most"), [(8, 255), (4, 15)])
def test_rounded_weights_take_few_values_and_are_near(bits, most):
    weights = torch.randn(20, 64, generator=torch.Generator().manual_seed(0))
    near = rounded(weights, bits)
    blocks = near.reshape(-1, 32) if bits == 4 else near
    assert max(len(block.unique()) for block in blocks) <= most
    wide = weights.reshape(blocks.shape)
    step = wide.abs().amax(dim=1, keepdim=True) / (2 ** (bits - 1) - 1)
    assert ((blocks - wide).abs() <= step / 2 + 1e-6).all()
    assert rounded(near, bits) == pytest.approx(near, abs=1e-6)
    assert (rounded(torch.zeros(3, 5), bits) == 0).all()


def test_weights_come_back_and_gradients_go_through():
    model, given = small(), torch.randn(8, 32)
    before = {name: p.clone() for name, p in model.named_parameters()}
    with Rounding(4, 1.0).around(model):
        seen = {name: p.clone() for name, p in model.named_parameters()}
        model(given).square().mean().backward()
    assert all(torch.equal(p, before[name]) for name, p in model.named_parameters())
    assert not torch.equal(seen["0.weight"], before["0.weight"]) and torch.equal(seen["0.bias"], before["0.bias"])
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


def test_a_share_is_rounded_another_one_each_time():
    model = small()
    plain = model[0].weight.detach().clone()
    found = []
    for _ in range(2):
        with Rounding(4, 0.3).around(model):
            found.append(model[0].weight.detach() != plain)
    assert 0.15 < found[0].float().mean() < 0.35 and not torch.equal(*found)
    with Rounding(4, 0.3).around(model, whole=True):
        assert torch.equal(model[0].weight, rounded(plain, 4))


def test_an_error_gives_the_weights_back():
    model = small()
    plain = model[0].weight.detach().clone()
    with pytest.raises(RuntimeError), Rounding(4, 1.0).around(model):
        raise RuntimeError
    assert torch.equal(model[0].weight, plain)


def test_rounding_costs_less_after_training_that_knew_of_it():
    generator = torch.Generator().manual_seed(1)
    given = torch.randn(256, 32, generator=generator)
    wanted = torch.sin(given[:, :4].sum(dim=1, keepdim=True))

    def loss_after(rounding):
        model = small()
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        for _ in range(400):
            optimizer.zero_grad()
            if rounding is None:
                nn.functional.mse_loss(model(given), wanted).backward()
            else:
                with rounding.around(model):
                    nn.functional.mse_loss(model(given), wanted).backward()
            optimizer.step()
        with Rounding(4, 1.0).around(model), torch.no_grad():
            return float(nn.functional.mse_loss(model(given), wanted))

    assert loss_after(Rounding(4, 1.0)) < 0.85 * loss_after(None)
