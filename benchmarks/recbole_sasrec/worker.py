"""RecBole's SASRec on a log, in an environment that has RecBole and nothing of ours.

`python -I worker.py ASKED ANSWER`: `ASKED` is JSON, see `__main__`; the ranks of every
test user go to the file `ANSWER`. Model, loss, optimizer, batches and sizes are
RecBole's own defaults; only validation and test are ours, since RecBole's leave items
that a user took in the ranking of models of sequences.
"""

import copy
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import recbole
import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.data.interaction import Interaction
from recbole.model.sequential_recommender import SASRec
from recbole.trainer import Trainer
from recbole.utils import init_seed

_USERS_AT_ONCE = 256


def main(asked, answer):
    """Train until validation stops improving, then rank the test items."""
    config = _config(asked)
    init_seed(config["seed"], config["reproducibility"])
    dataset = create_dataset(config)
    train, _, _ = data_preparation(config, dataset)
    init_seed(config["seed"], config["reproducibility"])
    model = SASRec(config, train.dataset).to(config["device"])
    trainer = Trainer(config, model)
    histories = read(Path(asked["folder"]) / "log" / "log.inter")
    numbers = numbering(dataset, asked["items"])

    def ranked(place):
        return ranks(model, histories, numbers, place, asked["max_length"])

    best, best_epoch, weights, seconds, epoch = -1.0, 0, None, 0.0, 0
    for epoch in range(1, asked["epochs"] + 1):
        began = time.perf_counter()
        loss = trainer._train_epoch(train, epoch - 1)
        value = float(np.mean(gains(*ranked(-2), asked["k"])))
        seconds += time.perf_counter() - began
        print(
            f"epoch {epoch}: loss {loss:.3f}, validation NDCG {value:.4f}", flush=True
        )
        if value > best:
            best, best_epoch = value, epoch
            weights = copy.deepcopy(model.state_dict())
        if epoch - best_epoch >= asked["patience"]:
            break
    model.load_state_dict(weights)
    above, tied = ranked(-1)
    content = {
        "seed": asked["seed"],
        "epochs": epoch,
        "best_epoch": best_epoch,
        "validation_ndcg": best,
        "seconds": round(seconds, 1),
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "above": above.tolist(),
        "tied": tied.tolist(),
        "versions": {"recbole": recbole.__version__, "torch": torch.__version__},
    }
    Path(answer).write_text(json.dumps(content), encoding="utf-8")


def _config(asked):
    sys.argv = sys.argv[:1]  # RecBole would read settings from the command line
    settings = {
        "data_path": asked["folder"],
        "checkpoint_dir": asked["folder"],
        "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
        "eval_args": {
            "split": {"LS": "valid_and_test"},
            "order": "TO",
            "group_by": "user",
            "mode": "full",
        },
        "train_neg_sample_args": None,  # cross-entropy over all items
        "MAX_ITEM_LIST_LENGTH": asked["max_length"],
        "seed": asked["seed"] + 1,
        "use_gpu": False,
        "show_progress": False,
        "state": "WARNING",
    }
    return Config(model="SASRec", dataset="log", config_dict=settings)


def read(path):
    """The items of each user, as they stand in the file."""
    histories = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        user, item, _ = line.split("\t")
        histories.setdefault(user, []).append(int(item))
    return list(histories.values())


def numbering(dataset, items):
    """RecBole's number of each of our items; 0, its padding, where it has none."""
    known = dataset.field2token_id[dataset.iid_field]
    return np.array([0, *(known.get(str(item), 0) for item in range(1, items + 1))])


def ranks(model, histories, numbers, place, max_length):
    """How many items are above the one at a place of each history, and how many tie.

    What a user took before it is no candidate. Users with fewer than three items are
    left out.
    """
    model.eval()
    above, tied = [], []
    tested = [items for items in histories if len(items) >= 3]
    for start in range(0, len(tested), _USERS_AT_ONCE):
        block = [numbers[items] for items in tested[start : start + _USERS_AT_ONCE]]
        scores = _scores(model, [items[:place] for items in block], max_length)
        for items, row in zip(block, scores, strict=True):
            own = row[items[place]]
            row[0] = row[items[:place]] = -math.inf
            above.append(int((row > own).sum()))
            tied.append(int((row == own).sum()))
    return np.array(above), np.array(tied)


def _scores(model, histories, max_length):
    """Of all items, `(n, V)`."""
    read = np.zeros((len(histories), max_length), "int64")
    lengths = [min(len(items), max_length) for items in histories]
    for row, items, length in zip(read, histories, lengths, strict=True):
        row[:length] = items[-length:]
    interaction = Interaction(
        {
            model.ITEM_SEQ: torch.from_numpy(read),
            model.ITEM_SEQ_LEN: torch.tensor(lengths),
        }
    )
    with torch.no_grad():
        return model.full_sort_predict(interaction).numpy()


def gains(above, tied, k):
    """What NDCG is the mean of: the mean over the orders of items that tie."""
    discounts = np.concatenate([[0], np.cumsum(1 / np.log2(2 + np.arange(k)))])
    last = discounts[np.minimum(above + tied, k)]
    return (last - discounts[np.minimum(above, k)]) / np.maximum(tied, 1)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2])
