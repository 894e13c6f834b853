import pytest

from applications.classification import noted
from applications.datasets.load_images import ImageSet
from applications.datasets.load_texts import TextSet
from applications.pipeline import run as runs
from applications.text_classification.presets import PRESETS


@pytest.mark.parametrize(
    "found",
    [
        ImageSet(("cat", "dog"), (None, None, 3), "MIT"),
        TextSet(("schlecht", "\N{THUMBS UP SIGN}"), (), "CC-BY 4.0"),
    ],
)
def test_what_is_noted_reads_back_equal(root, found):
    run = runs.create(root, "text_classification", "smoke", PRESETS["smoke"])
    noted.note(run, found)
    assert noted.noted(run, type(found)) == found
