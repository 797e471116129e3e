# SPDX-License-Identifier: Apache-2.0
"""Family of gradient boosting and of scikit-learn. One step is a boosting round, a tree of a forest, or a batch of a
network. The samples of a step are the rows of the training data.

hook        connects the parts
knobs       settings of the libraries, found when a training begins
xgboost_rounds, lightgbm_rounds, catboost_rounds, sklearn_rounds   the wrapped calls of each library
"""

_SKLEARN = (
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting",
    "sklearn.ensemble._forest",
    "sklearn.ensemble._gb",
    "sklearn.neural_network._multilayer_perceptron",
)
MODULES = ("xgboost", "lightgbm", "catboost", *_SKLEARN)


def install(module):
    from steptune_hook.boosting import hook

    hook.enter(module)
