from applications.pipeline import memory


def test_growth_is_what_was_held_at_the_highest():
    before = memory.start_of_growth()
    held = b"\x01" * 100_000_000
    del held
    assert 95 < memory.growth_since(before) < 150
