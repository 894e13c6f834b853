import pytest

from applications.errors import UserError
from applications.images import networks
from applications.images.network_config import ImageNetworkConfig
from keras_attention import models


@pytest.mark.parametrize(
    ("kind", "attention", "made"),
    [
        ("vit", "multi_head", models.VisionTransformer),
        ("cnn", "none", models.AttentionCNN),
        ("cnn", "cbam", models.AttentionCNN),
    ],
)
def test_the_network_has_the_settings(kind, attention, made):
    chosen = None if attention in ("multi_head", "none") else attention
    sizes = {"hidden_dim": 8, "num_heads": 2, "num_layers": 1, "filters": (4, 8)}
    config = ImageNetworkConfig(kind=kind, attention=chosen, dropout=0.25, **sizes)
    options = networks.options(config, "model")
    found = made(3, (8, 12, 3), **options).get_config()
    assert found["attention"] == attention
    assert found["dropout"] == 0.25
    pairs = ("patch_size", "blocks_per_stage")  # one number, and two in the config
    expected = {name: value for name, value in options.items() if name not in pairs}
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("kind", "attention"),
    [("vit", "cbam"), ("vit", "linformer"), ("cnn", "multi_head")],
)
def test_attention_of_the_other_kind_is_refused(kind, attention):
    config = ImageNetworkConfig(kind=kind, attention=attention)
    with pytest.raises(UserError, match=f"Unknown encoder.attention '{attention}'"):
        networks.options(config, "encoder")
