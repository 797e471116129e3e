# SPDX-License-Identifier: Apache-2.0
"""Connects the parts of the family of gradient boosting."""

import weakref

from steptune_hook import loop_hook
from steptune_hook.boosting.knobs import BoostingKnobs


class BoostingHook(loop_hook.LoopHook):
    family = "boosting"
    titles = {"xgboost": "XGBoost", "lightgbm": "LightGBM", "catboost": "CatBoost", "sklearn": "scikit-learn"}
    # Programs of these frameworks may use scikit-learn for other work than training.
    yields_to = ("torch", "jax", "tensorflow")

    def __init__(self, requested):
        super().__init__(requested)
        self.trainers = set()  # names of classes that have trained, such as `lgb.Booster`
        self.knobs = BoostingKnobs(self)
        # Weak references to the trainings that have begun, by `id`: models of CatBoost cannot be hashed
        self._begun = {}
        self._device = "cpu"

    def libraries(self):
        return sorted({trainer.partition(".")[0] for trainer in self.trainers})

    def device(self):
        return self._device

    def trains_on(self, device):
        self._device = device

    def facts(self):
        return {"counts": "round", "optimizers": sorted(self.trainers)}

    def round_begins(self, training, name):
        """Called before each round. The first round of a `training` ends the time between two trainings, which belongs
        to no step. The folds of a cross-validation train in turn."""
        begun = self._begun.get(id(training))
        if begun is not None and begun() is training:
            return
        self._begun[id(training)] = weakref.ref(training)
        self.training_begins()
        if name not in self.trainers:
            self.trainers.add(name)
            self.survey_after_step()
        self.phase_ended("preparation", self.progress.last_step_s)


class Losses:
    """Last losses of a training. Prefers losses on the training data to losses on other data."""

    def __init__(self):
        self._of_training = None
        self._of_other = None

    def add(self, is_training, value):
        if is_training:
            self._of_training = value
        else:
            self._of_other = value

    def value(self):
        return self._of_other if self._of_training is None else self._of_training


def enter(module):
    loop_hook.enter(BoostingHook, _wrap, module)


def _wrap(hook, module):
    name = module.__name__
    if name == "xgboost":
        from steptune_hook.boosting import xgboost_rounds as rounds
    elif name == "lightgbm":
        from steptune_hook.boosting import lightgbm_rounds as rounds
    elif name == "catboost":
        from steptune_hook.boosting import catboost_rounds as rounds
    else:
        from steptune_hook.boosting import sklearn_rounds as rounds
    rounds.wrap(hook, module)
