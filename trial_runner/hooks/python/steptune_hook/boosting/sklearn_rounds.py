# SPDX-License-Identifier: Apache-2.0
"""Steps of scikit-learn: an iteration of gradient boosting, a tree of a forest, a batch of a network."""

import threading

import joblib


def wrap(hook, module):
    if hasattr(module, "TreeGrower"):
        _wrap_histograms(hook, module)
    elif hasattr(module, "BaseForest"):
        _wrap_forests(hook, module)
    elif hasattr(module, "BaseGradientBoosting"):
        owner, why = module.BaseGradientBoosting, "GradientBoosting trains on one thread"
        _wrap_steps(hook, owner, "_fit_stage", 1, why, _score_before)
    else:
        owner, why = module.BaseMultilayerPerceptron, "networks compute with NumPy's threads"
        _wrap_steps(hook, owner, "_backprop", 0, why, lambda estimator, arguments, result: result[0])


def _name(estimator):
    return "sklearn." + type(estimator).__name__


_OF_OTHERS = ("histogram_layout", "quantized_gradients", "tree_method", "max_bin")


def _wrap_histograms(hook, module):
    current = threading.local()

    def wrap_fit(original):
        def fit(self, X, *arguments, **named):
            if not hook.may_train():
                return original(self, X, *arguments, **named)
            before = getattr(current, "estimator", None)
            # Without a request, scikit-learn may use only the physical cores.
            today = module._openmp_effective_n_threads()
            current.threads = hook.guarded(hook.knobs.training.settle, "cpu_threads", today)
            current.estimator, current.trees = self, 0
            hook.knobs.training.refuse(_OF_OTHERS, "HistGradientBoosting has no such parameter")
            try:
                return original(self, X, *arguments, **named)
            finally:
                current.estimator = before

        return fit

    def wrap_threads(original):
        def effective_n_threads(n_threads=None):
            if n_threads is None and getattr(current, "estimator", None) and current.threads:
                return current.threads
            return original(n_threads)

        return effective_n_threads

    def wrap_grow(original):
        def grow(self):
            estimator = getattr(current, "estimator", None)
            if estimator is None or not hook.may_train():
                return original(self)
            hook.guarded(hook.round_begins, estimator, _name(estimator))
            result = original(self)
            hook.guarded(grown, self, estimator)
            return result

        return grow

    def grown(grower, estimator):
        current.trees += 1
        if current.trees % estimator.n_trees_per_iteration_ == 0:
            hook.step_ended(grower.X_binned.shape[0])

    hook.patches.replace(module.BaseHistGradientBoosting, "fit", wrap_fit)
    hook.patches.replace(module, "_openmp_effective_n_threads", wrap_threads)
    hook.patches.replace(module.TreeGrower, "grow", wrap_grow)


def _wrap_forests(hook, module):
    current = threading.local()

    def wrap_fit(original):
        def fit(self, *arguments, **named):
            if not hook.may_train():
                return original(self, *arguments, **named)
            current.jobs = hook.guarded(_jobs, hook, self)
            current.is_fitting = True
            try:
                return original(self, *arguments, **named)
            finally:
                current.is_fitting = False

        return fit

    def wrap_parallel(original):
        def parallel(*arguments, **named):
            if getattr(current, "is_fitting", False) and current.jobs:
                named["n_jobs"] = current.jobs
            return original(*arguments, **named)

        return parallel

    def wrap_build(original):
        def build(tree, bootstrap, X, *arguments, **named):
            if not hook.may_train():
                return original(tree, bootstrap, X, *arguments, **named)
            result = original(tree, bootstrap, X, *arguments, **named)
            hook.guarded(hook.step_ended, X.shape[0])
            return result

        return build

    def _jobs(hook, forest):
        jobs = forest.n_jobs or 1
        hook.knobs.training.refuse(_OF_OTHERS, "forests have no such parameter")
        hook.round_begins(forest, _name(forest))
        # Joblib does not read the variables of OpenMP.
        threads = jobs if jobs > 0 else max(1, joblib.cpu_count() + 1 + jobs)
        return hook.knobs.training.settle("cpu_threads", threads)

    hook.patches.replace(module.BaseForest, "fit", wrap_fit)
    hook.patches.replace(module, "Parallel", wrap_parallel)
    hook.patches.replace(module, "_parallel_build_trees", wrap_build)


def _wrap_steps(hook, owner, method, place, why, loss):
    """Counts calls of a method as steps. `place`: index of the data among the method's arguments. `why`: reason why the
    number of threads cannot change. `loss(estimator, arguments, result)` returns the loss of a call."""

    def wrap_step(original):
        def step(self, *arguments, **named):
            if not hook.may_train():
                return original(self, *arguments, **named)
            hook.knobs.training.refuse(("cpu_threads", *_OF_OTHERS), why)
            hook.guarded(hook.round_begins, self, _name(self))
            result = original(self, *arguments, **named)
            hook.guarded(hook.step_ended, arguments[place].shape[0], loss(self, arguments, result))
            return result

        return step

    hook.patches.replace(owner, method, wrap_step)


def _score_before(estimator, arguments, _):
    number = arguments[0]
    return lambda: estimator.train_score_[number - 1] if number else None
