"""One row per public layer, and per configuration that takes a path of its own.

`test_contract.py` checks every property of the attention contract over every row. A
row switches a property off only with a written reason. Every axis has a prime of its
own, so that a transposition cannot go unseen.
"""

from tests.catalogue.feature_maps import FEATURE_MAPS
from tests.catalogue.multi_head import MULTI_HEAD
from tests.catalogue.one_input import ONE_INPUT
from tests.catalogue.patches import PATCHES
from tests.catalogue.position_biases import BIASES
from tests.catalogue.recurrent import RECURRENT
from tests.catalogue.single_head import SINGLE_HEAD
from tests.catalogue.unscored import UNSCORED

ROWS = [
    *BIASES,
    *SINGLE_HEAD,
    *MULTI_HEAD,
    *RECURRENT,
    *UNSCORED,
    *ONE_INPUT,
    *FEATURE_MAPS,
    *PATCHES,
]
