# SPDX-License-Identifier: Apache-2.0
"""Rounds of LightGBM: `Booster.update`, which `train`, `cv` and the estimators call."""

import inspect
import weakref

from steptune_hook.boosting.hook import Losses
from steptune_hook.boosting.knobs import openmp_threads

_NAME = "lightgbm.Booster"
_LAYOUTS = {"columns": "force_col_wise", "rows": "force_row_wise"}
_QUANTIZED = "use_quantized_grad"
_INNER_EVAL = "_Booster__inner_eval"  # called for each data set that the program evaluates


def wrap(hook, lightgbm):
    booster_class = lightgbm.basic.Booster
    rows = weakref.WeakKeyDictionary()  # rows of the training data, by booster
    losses = weakref.WeakKeyDictionary()  # by booster
    aliases = lightgbm.basic._ConfigAliases

    def wrap_init(original):
        signature = inspect.signature(original)

        def __init__(self, *arguments, **named):
            bound = signature.bind(self, *arguments, **named)
            data = bound.arguments.get("train_set")
            if data is not None and hook.may_train():
                own = bound.arguments.get("params") or {}
                bound.arguments["params"] = hook.guarded(_adapted, hook, own, aliases) or own
            original(*bound.args, **bound.kwargs)
            if data is not None and hook.may_train():
                rows[self] = hook.guarded(data.num_data) or 0

        return __init__

    def wrap_update(original):
        def update(self, *arguments, **named):
            if self not in rows or not hook.may_train():
                return original(self, *arguments, **named)
            hook.guarded(hook.round_begins, self, _NAME)
            result = original(self, *arguments, **named)
            hook.guarded(hook.step_ended, rows[self], losses.setdefault(self, Losses()).value)
            return result

        return update

    def wrap_inner_eval(original):
        signature = inspect.signature(original)

        def inner_eval(self, *arguments, **named):
            results = original(self, *arguments, **named)
            if self in rows and hook.may_train():
                of = signature.bind(self, *arguments, **named).arguments.get("data_idx")
                hook.guarded(_read_losses, losses.setdefault(self, Losses()), of == 0, results)
            return results

        return inner_eval

    hook.patches.replace(booster_class, "__init__", wrap_init)
    hook.patches.replace(booster_class, "update", wrap_update)
    if hasattr(booster_class, _INNER_EVAL):
        hook.patches.replace(booster_class, _INNER_EVAL, wrap_inner_eval)


def _adapted(hook, own, aliases):
    """Returns a copy of the program's parameters with the requested ones."""
    knobs = hook.knobs.training
    params = dict(own)

    def value(name, otherwise):
        # LightGBM ignores a parameter that is None.
        given = (params.get(alias) for alias in sorted(aliases.get(name)))
        return next((one for one in given if one is not None), otherwise)

    def put(name, value):
        for alias in aliases.get(name):
            params.pop(alias, None)
        params[name] = value

    device = str(value("device_type", "cpu"))
    is_on_cpu = device == "cpu"
    hook.trains_on("cpu" if is_on_cpu else "cuda")
    threads = int(value("num_threads", 0))
    threads = knobs.settle("cpu_threads", threads if threads > 0 else openmp_threads())
    if threads is not None:
        put("num_threads", threads)
    forced = [layout for layout, name in _LAYOUTS.items() if _is_true(value(name, False))]
    layout = knobs.settle(
        "histogram_layout", forced[0] if forced else "auto", None if is_on_cpu else "LightGBM has layouts on CPUs only"
    )
    if layout is not None:
        for name in _LAYOUTS.values():
            put(name, name == _LAYOUTS.get(layout))
    list_all = getattr(aliases, "_get_all_param_aliases", dict)  # LightGBM 3 lacks both
    why = None if _QUANTIZED in list_all() else "this LightGBM has no quantized gradients"
    quantized = knobs.settle("quantized_gradients", _is_true(value(_QUANTIZED, False)), why)
    if quantized is not None:
        put(_QUANTIZED, quantized)
    knobs.refuse(["tree_method"], "LightGBM has one way to find splits")
    knobs.refuse(["max_bin"], "LightGBM bins its data before the training: give Dataset another max_bin")
    return params


def _is_true(value):
    return str(value).lower() in ("true", "1", "+")


def _read_losses(losses, is_training, results):
    """Reads tuples: data set, metric, value, and True if higher values are better. The first loss counts."""
    for _, _, value, higher_is_better in results:
        if not higher_is_better:
            losses.add(is_training, float(value))
            return
