"""The layer that makes a sequence of an image."""

from keras_attention import layers
from tests.catalogue.one_input import NOTHING_ATTENDED
from tests.rows import EXTENDED, B, D, N, Row, V, names_of

ROWS_OF_PATCHES, COLUMNS_OF_PATCHES = 2, 5
NO_PIXELS = "patches have no pixels to mask: Keras warns that a mask of them ends here"
assert ROWS_OF_PATCHES * COLUMNS_OF_PATCHES == EXTENDED  # a length that may be unknown

PATCHES = [
    Row(
        "patch_embedding",
        "patch_embedding",
        lambda **options: layers.PatchEmbedding((3, 2), D, **options),
        ((B, 3 * ROWS_OF_PATCHES, 2 * COLUMNS_OF_PATCHES, N),),
        (B, EXTENDED, D),
        None,
        # The same image has its channels, its rows and its columns in this order.
        configured=names_of(
            layers.PatchEmbedding,
            patch_size=(5, 3),
            hidden_dim=V,
            use_bias=False,
            kernel_initializer="he_normal",
            data_format="channels_first",
        ),
        query_mask=None,
        key_mask=None,
        off={
            **NOTHING_ATTENDED,
            "output_carries_the_query_mask": NO_PIXELS,
            "masks_of_the_inputs_stay": NO_PIXELS,
        },
    ),
]
