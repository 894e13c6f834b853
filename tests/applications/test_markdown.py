from applications.markdown import table


def test_table():
    assert table(["a", "b"], [["1", "x | y"], ["3", "-"]]) == [
        "| a | b |",
        "| --- | --- |",
        "| 1 | x \\| y |",
        "| 3 | - |",
    ]
