import numpy as np
import pytest

from applications.datasets.errors import DataError
from applications.datasets.r_data import character_vectors
from tests.applications.datasets import r_files

OBJECTS = {
    "first": np.array(["One £ line", "", "  another"]),
    "second": np.array(["Café"]),
}


@pytest.fixture
def folder(tmp_path):
    return r_files.write(tmp_path / "data", OBJECTS)


def test_vectors_are_read_by_their_names(folder):
    found = character_vectors(folder, "extra")
    assert found == {name: value.tolist() for name, value in OBJECTS.items()}
    assert all(type(line) is str for lines in found.values() for line in lines)


def broken(folder, case):
    if case == "missing":
        (folder / "Rdata.rdb").unlink()
    elif case == "cut":
        content = (folder / "Rdata.rdb").read_bytes()
        (folder / "Rdata.rdb").write_bytes(content[:-20])
    elif case == "no index":
        (folder / "Rdata.rdx").write_bytes(b"something else")
    elif case == "garbage":
        size = (folder / "Rdata.rdb").stat().st_size
        (folder / "Rdata.rdb").write_bytes(bytes(size))


@pytest.mark.filterwarnings("ignore:Unknown file type")
@pytest.mark.parametrize("case", ["missing", "cut", "no index", "garbage"])
def test_what_cannot_be_read_is_one_line(case, folder):
    broken(folder, case)
    with pytest.raises(DataError, match=r"The R data in .* cannot be read") as error:
        character_vectors(folder, "extra")
    assert "\n" not in str(error.value)
