"""The steps of the chain: what each reads, which settings and code shape it, and what it writes.

A step is a function of its inputs. It writes into a folder that becomes visible only when the step has finished. A new
step is one function, one `Step` beside it, and its place in `STEPS`.
"""

from limbeck.steps.compressing import COMPRESS
from limbeck.steps.labels import BASELINES, DATA, SENTENCES
from limbeck.steps.measuring import MEASURE
from limbeck.steps.pool import POOL, PSEUDO, SELECT
from limbeck.steps.step import Step, StepRun
from limbeck.steps.students import DISTILL
from limbeck.steps.tagging import TAG_COMPRESS, TAG_DISTILL, TAG_MEASURE, TAG_POOL, TAG_PSEUDO, TAG_TEACH
from limbeck.steps.teaching import ADAPT, CALIBRATE, TEACH

STEPS: tuple[Step, ...] = (
    DATA,
    SENTENCES,
    BASELINES,
    ADAPT,
    TEACH,
    CALIBRATE,
    POOL,
    PSEUDO,
    SELECT,
    DISTILL,
    MEASURE,
    COMPRESS,
    TAG_TEACH,
    TAG_POOL,
    TAG_PSEUDO,
    TAG_DISTILL,
    TAG_MEASURE,
    TAG_COMPRESS,
)

__all__ = ["STEPS", "Step", "StepRun"]
