"""The data of an R package, read without R."""

import zlib
from pathlib import Path

from applications.datasets.errors import DataError
from keras_attention.errors import import_extra

_LENGTH_BYTES = 4  # of the length that stands before what is compressed

# What reading other or broken files ends in.
_BROKEN = (
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    TypeError,
    ValueError,
    zlib.error,
)


def character_vectors(folder: Path, extra: str) -> dict[str, list[str]]:
    """The character vectors that an installed R package keeps, by their names.

    R keeps the data of a package in two files: `Rdata.rdx` says where each object
    begins in `Rdata.rdb` and how long it is, and there it lies compressed by zlib.

    Args:
        folder: The folder `data` of the package.
        extra: Which extra of this package brings `rdata`.

    Raises:
        DataError: The files are missing or something else.
        ImportError: `rdata` is not installed; says how to install it.
    """
    rdata = import_extra("rdata", extra)
    try:
        index = rdata.read_rds(folder / "Rdata.rdx")["variables"]
        content = (folder / "Rdata.rdb").read_bytes()
        found = {}
        for name, (start, length) in index.items():
            packed = content[int(start) :][_LENGTH_BYTES : int(length)]
            parsed = rdata.parser.parse_data(zlib.decompress(packed), extension=".rds")
            found[str(name)] = [str(x) for x in rdata.conversion.convert(parsed)]
    except _BROKEN as error:
        raise DataError(f"The R data in {folder} cannot be read: {error}.") from error
    return found
