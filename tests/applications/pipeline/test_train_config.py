import pytest

from applications.errors import UserError
from applications.pipeline.config import help_table, override
from applications.pipeline.train_config import Config, TrainConfig


@pytest.mark.parametrize(
    "assignment",
    [
        "epochs=0",
        "seed=-1",
        "patience=0",
        "learning_rate=0",
        "gradient_clip_norm=0",
        "warmup_steps=-1",
        "weight_decay=-0.1",
        "beta_2=1",
        "average_decay=1.5",
        "optimizer=lion",
        "schedule=linear",
        "precision=float16",
    ],
)
def test_values_without_meaning_are_refused(assignment):
    name = assignment.partition("=")[0]
    with pytest.raises(UserError, match=rf"`(train\.)?{name}` must"):
        override(Config(), [f"train.{assignment}"])


def test_several_workers_are_refused_with_the_reason():
    with pytest.raises(ValueError, match="keras#20585"):
        TrainConfig(strategy="multi_worker_mirrored")


def test_every_setting_says_what_it_means():
    assert len(help_table(Config()).splitlines()) == 15
