"""What the tests of every task that writes texts ask of a model that it builds."""

import keras
import numpy as np

from applications.text.seq2seq_data import teacher_forced


def assert_learns_decodes_and_reloads(application, config, data, tmp_path, **options):
    """Of the model that `config` names.

    Args:
        application: Whose model, objective and writer are used.
        config: Of a tiny model.
        data: Its training pairs.
        tmp_path: Where the model is saved.
        **options: Of `compile`.
    """
    model = application.build_model(config, data)
    objective = application.objective(config, data)
    model.compile(optimizer=keras.optimizers.Adam(0.01), **objective, **options)
    (batch,) = data.train.epochs(0, 1).map(teacher_forced).take(1)
    losses = [model.train_on_batch(*batch)[0] for _ in range(4)]
    assert losses[-1] < losses[0]
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras", compile=False)
    np.testing.assert_array_equal(again(batch[0]), model(batch[0]))
    answers = list(application.predict(config, data, again, ["Open the file.", ""]))
    assert len(answers) == 2
    assert answers[1] == ""
