from benchmarks import worker


def test_growth_is_what_was_held_at_the_highest():
    before = worker._start_of_growth()
    held = b"\x01" * 100_000_000
    del held
    growth = worker._resident("VmHWM") - before
    assert 95 < growth < 150
