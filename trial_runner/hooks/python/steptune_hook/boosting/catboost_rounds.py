# SPDX-License-Identifier: Apache-2.0
"""Rounds of CatBoost. Its loop is not in Python, so a callback of the training sees each round."""

import os

_NAME = "catboost.CatBoost"
_USUAL_LOSSES = ("RMSE", "Logloss", "MultiClass")  # losses of programs that name no loss


class _Callback:
    def __init__(self, hook, rows, loss_names):
        self._hook = hook
        self._rows = rows
        self._loss_names = loss_names
        self._evaluations = 0
        self._loss = None

    def after_iteration(self, info):
        if self._hook.may_train():
            self._hook.guarded(self._ended, info)
        return True

    def _ended(self, info):
        losses = _losses(info.metrics, self._loss_names)
        if len(losses) != self._evaluations:
            self._evaluations, self._loss = len(losses), losses[-1]
        self._hook.step_ended(self._rows, self._loss)


def wrap(hook, catboost):
    core = catboost.core

    def wrap_train(original):
        def _train(self, train_pool, test_pool, params, *arguments, **named):
            if hook.may_train():
                params = hook.guarded(_adapted, hook, core, self, train_pool, params) or params
            return original(self, train_pool, test_pool, params, *arguments, **named)

        return _train

    hook.patches.replace(core._CatBoostBase, "_train", wrap_train)


def _adapted(hook, core, model, pool, own):
    """Returns a copy of the training's parameters with the requested ones and the callback."""
    knobs = hook.knobs.training
    params = dict(own)
    if str(params.get("task_type", "CPU")).upper() == "GPU":
        hook.trains_on("cuda")
        return params  # CatBoost accepts no callbacks on a GPU, so no step is seen
    threads = int(params.get("thread_count") or -1)
    # CatBoost uses all CPUs of the machine, whatever the variables of OpenMP say.
    threads = knobs.settle("cpu_threads", threads if threads > 0 else os.cpu_count())
    if threads is not None:
        params["thread_count"] = threads
    bins = knobs.settle("max_bin", int(params.get("border_count") or 254))
    if bins is not None:
        params["border_count"] = bins
    knobs.refuse(["histogram_layout"], "CatBoost has no layout of histograms")
    knobs.refuse(["quantized_gradients"], "CatBoost has no quantized gradients")
    knobs.refuse(["tree_method"], "CatBoost has one way to find splits")
    hook.round_begins(model, _NAME)
    if not hook.settings.prints_steps:
        return params
    # CatBoost gives a callback its whole history after each round, which takes time in proportion to the rounds so far.
    loss_names = (_kind(str(params["loss_function"])),) if params.get("loss_function") else _USUAL_LOSSES
    callbacks = getattr(params.get("callbacks"), "_callbacks", [])
    params["callbacks"] = core._TrainCallbacksWrapper([*callbacks, _Callback(hook, pool.num_row(), loss_names)])
    return params


def _kind(metric):
    return metric.partition(":")[0]


def _losses(metrics, loss_names):
    """Returns the values of the loss on the training data. Without them, returns another metric or other data. CatBoost
    gives metrics in no fixed order."""
    for data in sorted(metrics, key=lambda name: name != "learn"):
        for name in sorted(metrics[data], key=lambda name: _kind(name) not in loss_names):
            return metrics[data][name]
    return ()
