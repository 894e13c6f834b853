"""The wording of errors: what was expected, what came."""

import importlib
import sys

import pytest

from keras_attention.errors import (
    fraction,
    import_extra,
    odd_integer,
    one_of,
    positive_integer,
    require,
)


def message_of(function, *arguments, **options):
    with pytest.raises(ValueError, match=r".") as caught:
        function(*arguments, **options)
    return str(caught.value)


def test_require_names_what_came():
    require(True, "Nothing to say.", value=1)
    assert message_of(require, False, "Be bold.", key="a", size=(1, 2)) == (
        "Be bold. Received: key='a', size=(1, 2)."
    )
    assert message_of(require, False, "Be bold.") == "Be bold."


def test_one_of_lists_the_choices():
    assert one_of("order", "b", {"b": 1, "a": 2}) == "b"
    assert message_of(one_of, "order", "c", ("b", "a")) == (
        "`order` must be one of 'a', 'b'. Received: order='c'."
    )


def test_positive_integer():
    assert positive_integer("units", 3) == 3
    for value in (0, -3, 1.0, "3", True, None):
        assert message_of(positive_integer, "units", value) == (
            f"`units` must be a positive integer. Received: units={value!r}."
        )


def test_odd_integer():
    assert odd_integer("width", 3) == 3
    assert message_of(odd_integer, "width", 0) == (
        "`width` must be a positive integer. Received: width=0."
    )
    assert message_of(odd_integer, "width", 4) == (
        "`width` must be odd: as many on either side of the middle. Received: width=4."
    )


def test_fraction():
    assert fraction("dropout", 0) == 0
    assert fraction("dropout", 0.5) == 0.5
    for value in (1, -0.1, "0.1", None):
        assert message_of(fraction, "dropout", value) == (
            f"`dropout` must be a number in [0, 1). Received: dropout={value!r}."
        )


def test_import_extra_says_what_to_install(monkeypatch):
    assert import_extra("json.decoder", "text") is sys.modules["json.decoder"]
    monkeypatch.setitem(sys.modules, "absent", None)
    with pytest.raises(ImportError, match=r".") as caught:
        import_extra("absent.inner", "pictures")
    assert str(caught.value) == (
        "`absent` is not installed. It comes with an extra: "
        "pip install 'keras-attention[pictures]'."
    )


def test_import_extra_leaves_the_failures_of_what_is_installed(tmp_path, monkeypatch):
    """A package that is here but lacks another: its extra would not help."""
    (tmp_path / "broken_package.py").write_text("import needed_by_it")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError, match="needed_by_it"):
        import_extra("broken_package", "pictures")
