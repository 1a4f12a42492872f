"""In which precision networks are trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from limbeck.errors import BadSetting
from limbeck.runtime.processor import multiplies_bf16

if TYPE_CHECKING:
    from accelerate import Accelerator


def accelerator(wanted: str) -> Accelerator:
    """Give what runs steps on this machine's device, in the precision that a setting asks for."""
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    precision = precision_of(wanted)
    # The library holds on to a process's first precision; teachers and students may want different ones.
    if AcceleratorState._shared_state and AcceleratorState().mixed_precision != precision:
        AcceleratorState._reset_state()
    return Accelerator(mixed_precision=precision)


def precision_of(wanted: str) -> str:
    """Resolve 'auto' to what the hardware has."""
    if wanted == "fp16" and not torch.cuda.is_available():
        raise BadSetting('train.precision = "fp16" needs a GPU.', 'Set it to "auto".')
    if wanted != "auto":
        return wanted
    if torch.cuda.is_available():
        return "bf16" if torch.cuda.is_bf16_supported() else "no"
    return "bf16" if multiplies_bf16() else "no"
