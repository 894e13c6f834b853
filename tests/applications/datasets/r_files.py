"""R packages for tests: their data as R's own tools would store it."""

import struct
import zlib
from pathlib import Path

import numpy as np
import rdata


def write(folder: Path, objects: dict) -> Path:
    """Write the lazily loaded data of a package: an index and what it points into."""
    folder.mkdir(parents=True, exist_ok=True)
    content, places = b"", {}
    for name, value in objects.items():
        parsed = rdata.conversion.convert_python_to_r_data(value)
        plain = rdata.unparser.unparse_data(parsed)
        packed = struct.pack(">I", len(plain)) + zlib.compress(plain)
        places[name] = np.array([len(content), len(packed)], np.int32)
        content += packed
    index = {"variables": places, "references": {}, "compressed": np.array([True])}
    rdata.write_rds(folder / "Rdata.rdx", index)
    (folder / "Rdata.rdb").write_bytes(content)
    return folder
