"""What a student is told to be like, each way one function; NaN in guesses means that the teacher wasn't asked."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from limbeck.training.losses import masked_bce, masked_softmax

EDGE = 1e-4


def soft_labels(logits: Tensor, guesses: Tensor, temperature: float) -> Tensor:
    """Cross-entropy with the teacher's probabilities, each label for itself, at a temperature, times its square.

    The mean over texts, added up over labels: most guesses are a clear no and cost next to nothing, so in a mean over
    labels true labels would drown them all.
    """
    given = ~torch.isnan(guesses)
    softened = torch.sigmoid(torch.logit(torch.where(given, guesses, 0.5), EDGE) / temperature)
    cells = functional.binary_cross_entropy_with_logits(logits / temperature, softened, reduction="none")
    by_label = (cells * given).sum(dim=0) / given.sum(dim=0).clamp(min=1)
    return temperature**2 * by_label.sum()


def soft_classes(logits: Tensor, guesses: Tensor, temperature: float) -> Tensor:
    """KL divergence of the student from the teacher, over classes of which one is right, times the square of T."""
    given = ~torch.isnan(guesses).any(dim=1)
    if not given.any():
        return logits.sum() * 0.0
    target = torch.log_softmax(guesses[given].clamp(min=EDGE).log() / temperature, dim=1)
    student = torch.log_softmax(logits[given] / temperature, dim=1)
    return temperature**2 * functional.kl_div(student, target, log_target=True, reduction="batchmean")


def hard_labels(logits: Tensor, guesses: Tensor, thresholds: Tensor) -> Tensor:
    """Cross-entropy with the teacher's decisions, each label with the same say."""
    decided = torch.where(torch.isnan(guesses), guesses, (guesses >= thresholds).float())
    return masked_bce(logits, decided, torch.ones_like(thresholds))


def hard_classes(logits: Tensor, guesses: Tensor) -> Tensor:
    """Cross-entropy with the class that the teacher finds likeliest."""
    given = ~torch.isnan(guesses).any(dim=1)
    decided = torch.full_like(guesses, float("nan"))
    decided[given] = functional.one_hot(guesses[given].argmax(dim=1), guesses.shape[1]).to(guesses.dtype)
    return masked_softmax(logits, decided, torch.ones(guesses.shape[1], device=logits.device))


def same_direction(vectors: Tensor, teacher: Tensor) -> Tensor:
    """One minus the cosine between a student's (projected) vectors and the teacher's [texts, width]."""
    return (1 - functional.cosine_similarity(vectors, teacher, dim=1)).mean()


def same_relations(vectors: Tensor, teacher: Tensor) -> Tensor:
    """Squared difference of the texts' likeness to each other, as student and teacher see it; widths may differ."""
    mine, theirs = (functional.normalize(v, dim=1) for v in (vectors, teacher))
    return functional.mse_loss(mine @ mine.T, theirs @ theirs.T)


def same_attention(maps: Sequence[Tensor], teacher: Sequence[Tensor], mask: Tensor) -> Tensor:
    """Squared difference of attention maps, the mean over heads, of layers evenly matched from the last downwards."""
    inside = (mask.unsqueeze(1) * mask.unsqueeze(2)).to(maps[0].dtype)
    total = inside.new_zeros(())
    for number, mine in enumerate(maps, start=1):
        theirs = teacher[round(number * len(teacher) / len(maps)) - 1]
        gap = (mine.mean(dim=1) - theirs.mean(dim=1)) ** 2
        total = total + (gap * inside).sum() / inside.sum().clamp(min=1)
    return total / len(maps)
