import pytest

from applications.images.network_config import ImageNetworkConfig


def test_the_defaults_are_allowed():
    assert ImageNetworkConfig().kind == "vit"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"patch_size": 0}, "`patch_size` must be above 0"),
        ({"stem_strides": -1}, "`stem_strides` must be above 0"),
        ({"num_heads": 3}, "`num_heads` must divide `hidden_dim`"),
        ({"filters": ()}, "`filters` must be one number or more"),
        ({"drop_path": 1.0}, r"`drop_path` must be in \[0, 1\)"),
    ],
)
def test_what_cannot_be_built_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        ImageNetworkConfig(**changes)
