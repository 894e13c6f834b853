def test_limits_and_searches_are_those_of_the_run(translator, config):
    assert translator.source_length == config.data.max_length
    for search in translator.searches.values():
        assert search.max_length == config.decode.max_length
    assert translator.searches["beam"].num_beams == config.decode.num_beams
