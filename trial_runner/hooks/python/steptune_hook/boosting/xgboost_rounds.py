# SPDX-License-Identifier: Apache-2.0
"""Rounds of XGBoost: `Booster.update`, which `train`, `cv` and the estimators call, and `Booster.boost`."""

import threading
import weakref

from steptune_hook.boosting.hook import Losses
from steptune_hook.boosting.knobs import openmp_threads, usable_cpus

_NAME = "xgboost.Booster"
_THREADS = ("nthread", "n_jobs")
_HIGHER_IS_BETTER = ("auc", "map", "ndcg", "pre", "ams", "interval-regression-accuracy")


def wrap(hook, xgboost):
    booster_class = xgboost.core.Booster
    # XGBoost 2 does not limit the number of threads.
    has_limit = int(xgboost.__version__.split(".")[0]) >= 3
    own = weakref.WeakKeyDictionary()  # the program's parameters, by booster
    begun = weakref.WeakSet()
    losses = weakref.WeakKeyDictionary()  # by booster
    trained_on = weakref.WeakKeyDictionary()  # reference to the training data, by booster
    current = threading.local()

    def wrap_set_param(original):
        def set_param(self, params, value=None):
            if not hasattr(params, "items") and not isinstance(params, str):
                params = list(params)  # an iterator can be read only once
            if not getattr(current, "is_ours", False):
                hook.guarded(_note, own.setdefault(self, {}), params, value)
            return original(self, params, value)

        return set_param

    def wrap_round(original):
        def one_round(self, dtrain, *arguments, **named):
            if getattr(current, "is_inside", False) or not hook.may_train():
                return original(self, dtrain, *arguments, **named)
            if self not in begun:
                begun.add(self)
                hook.guarded(begin, self, dtrain)
            hook.guarded(hook.round_begins, self, _NAME)
            current.is_inside = True
            try:
                result = original(self, dtrain, *arguments, **named)
            finally:
                current.is_inside = False
            trained_on[self] = weakref.ref(dtrain)
            hook.guarded(ended, self, dtrain)
            return result

        return one_round

    def begin(booster, dtrain):
        settings = _settings(hook, own.get(booster, {}), dtrain, has_limit)
        current.is_ours = True
        try:
            if settings:
                booster.set_param(settings)
        finally:
            current.is_ours = False

    def ended(booster, dtrain):
        hook.step_ended(dtrain.num_row(), losses.setdefault(booster, Losses()).value)

    def wrap_eval_set(original):
        def eval_set(self, evals, *arguments, **named):
            text = original(self, evals, *arguments, **named)
            if hook.may_train():
                data = trained_on.get(self, lambda: None)()
                hook.guarded(_read_losses, losses.setdefault(self, Losses()), text, evals, data)
            return text

        return eval_set

    hook.patches.replace(booster_class, "set_param", wrap_set_param)
    hook.patches.replace(booster_class, "update", wrap_round)
    hook.patches.replace(booster_class, "boost", wrap_round)
    hook.patches.replace(booster_class, "eval_set", wrap_eval_set)


def _note(noted, params, value):
    pairs = [(params, value)] if isinstance(params, str) else params.items() if hasattr(params, "items") else params
    noted.update({name: value for name, value in pairs if value is not None})


def _settings(hook, own, dtrain, has_limit):
    """Returns the parameters to set, given the program's own parameters. `has_limit`: XGBoost never uses more threads than
    OpenMP does by itself."""
    knobs = hook.knobs.training
    is_binned = any("QuantileDMatrix" in kind.__name__ for kind in type(dtrain).__mro__)
    why = "a QuantileDMatrix is binned before the training" if is_binned else None
    threads = next((int(own[name]) for name in _THREADS if name in own), 0)
    most = min(usable_cpus(), openmp_threads())
    if threads <= 0 or (has_limit and threads > most):
        threads = most
    is_limited = has_limit and most < usable_cpus()
    why_threads = "OMP_NUM_THREADS limits XGBoost's threads" if is_limited else None
    device = str(own.get("device", "cpu"))
    method = str(own.get("tree_method", "auto"))
    if device.startswith(("cuda", "gpu")) or method == "gpu_hist":
        hook.trains_on("cuda")
    settings = {
        "nthread": knobs.settle("cpu_threads", threads, why_threads),
        "tree_method": knobs.settle("tree_method", method, why),
        "max_bin": knobs.settle("max_bin", int(own.get("max_bin", 256)), why),
    }
    knobs.refuse(["histogram_layout"], "XGBoost has no layout of histograms")
    knobs.refuse(["quantized_gradients"], "XGBoost has no quantized gradients")
    return {name: value for name, value in settings.items() if value is not None}


def _read_losses(losses, text, evals, data):
    """Reads `[3]\\ttrain-rmse:0.5\\tvalid-rmse:0.6`: the first metric of each data set that is a loss."""
    seen = set()
    for token in text.split("\t")[1:]:
        for matrix, name in evals:
            metric, colon, value = token[len(name) + 1 :].rpartition(":")
            if not token.startswith(name + "-") or not colon or not _is_loss(metric):
                continue
            if name not in seen:
                seen.add(name)
                losses.add(matrix is data, float(value))


def _is_loss(metric):
    return metric == "mape" or not metric.startswith(_HIGHER_IS_BETTER)
