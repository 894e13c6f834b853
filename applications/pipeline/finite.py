"""A model that has diverged is no model: it is refused, not scored."""

import numpy as np

from applications.errors import UserError
from applications.pipeline.run import Run


def require_finite(run: Run, found: np.ndarray, examples: str) -> None:
    """Refuse what a model that has diverged gives.

    Args:
        run: Of the model.
        found: Numbers of any shape, such as logits.
        examples: What they were given for.

    Raises:
        UserError: There is NaN among them.
    """
    if not np.isfinite(found).all():
        raise UserError(
            f"{run.name} gives NaN for test {examples}: its training has diverged. "
            "Lower train.learning_rate or raise train.warmup_steps in a new run."
        )
