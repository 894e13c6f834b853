"""The recommendation task: data, models, metrics, explanation and export."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.datasets.interactions import Catalogue
from applications.datasets.load_interactions import licence
from applications.pipeline import files
from applications.pipeline.application import Application, Quality, TrainBatches
from applications.pipeline.run import Run
from applications.recommendation import evaluation, explanation, export, networks
from applications.recommendation.data import RecommendationData, read
from applications.recommendation.presets import RecommendationConfig
from applications.recommendation.recommender import Recommender

CATALOGUE = "catalogue.json"


class Recommendation(Application[RecommendationConfig, RecommendationData]):
    """What users took, in order, to what they take next."""

    name: ClassVar[str] = "recommendation"
    quality: ClassVar[Quality] = Quality("val_ndcg", higher_is_better=True)

    def about(self, config: RecommendationConfig) -> str:
        stated = licence(config.data.name, config.data.data_dir)
        return (
            f"Recommends items of `{config.data.name}` (licence: {stated}) after those "
            "that somebody took, and no others: items that came later are unknown to "
            f"it. It reads the last {config.data.max_length} items of a history. What "
            "was taken before is never recommended; an empty history gets what most "
            "users took. It repeats what its log shows, what is popular above all. "
            "Attention shows what was read, not why an item was chosen: see the "
            "deletion test."
        )

    # ----------------------------------------------------------------------- data

    def prepare(self, config: RecommendationConfig, run: Run) -> None:
        """Note the items, which are what a model knows."""
        networks.require_attention(config)  # before the log is read
        catalogue = read(config.data).log.catalogue
        text = json.dumps(catalogue._asdict(), indent=0)
        files.write_text(run.path(CATALOGUE), text + "\n")

    def load(self, config: RecommendationConfig, run: Run) -> RecommendationData:
        noted = json.loads(run.path(CATALOGUE).read_text(encoding="utf-8"))
        known = {name: tuple(values) for name, values in noted.items()}
        return RecommendationData(config, Catalogue(**known))

    def train_batches(
        self, config: RecommendationConfig, data: RecommendationData
    ) -> TrainBatches:
        train = data.train
        items = sum(map(len, data.learned))
        left_out = data.interactions.missing, data.interactions.log.repeated
        print(
            f"{len(data.learned)} users took {items} training items of "
            f"{data.num_items}, in {train.examples} rows and {train.count} batches; "
            f"left out: {left_out[0]} rows with a value missing, {left_out[1]} repeated"
        )
        return TrainBatches(train.count, train.epoch)

    # ---------------------------------------------------------------------- model

    def build_model(
        self, config: RecommendationConfig, data: RecommendationData
    ) -> keras.Model:
        return networks.build(config, data.num_items)

    def objective(
        self, config: RecommendationConfig, data: RecommendationData
    ) -> dict[str, Any]:
        return {"loss": networks.loss(config)}

    # --------------------------------------------------------------------- stages

    def validate(
        self,
        config: RecommendationConfig,
        data: RecommendationData,
        model: keras.Model,
    ) -> dict[str, float]:
        return evaluation.validate(config, data, model)

    def evaluate(
        self,
        config: RecommendationConfig,
        data: RecommendationData,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

    def predict(
        self,
        config: RecommendationConfig,
        data: RecommendationData,
        model: keras.Model,
        inputs: Sequence[str],
    ) -> Iterable[str]:
        """Yield what comes after each history: names of items, commas between."""
        found = self.recommender(config, data, model)
        histories = [found.numbers(text) for text in inputs]
        yield from (found.describe(history) for history in histories)

    def explain(
        self,
        config: RecommendationConfig,
        data: RecommendationData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        recommender = self.recommender(config, data, model)
        return explanation.explain(data, model, run, recommender, inputs)

    def export(
        self,
        config: RecommendationConfig,
        data: RecommendationData,
        model: keras.Model,
        directory: Path,
    ) -> dict[str, Any]:
        recommender = self.recommender(config, data, model)
        export.export(recommender, directory)
        export.check(directory, data.held_out("test").histories, recommender)
        return {}

    def recommender(
        self,
        config: RecommendationConfig,
        data: RecommendationData,
        model: keras.Model,
    ) -> Recommender:
        """What answers histories."""
        top_k = config.evaluation.top_k
        return Recommender(model, data.catalogue, data.counts, top_k)
