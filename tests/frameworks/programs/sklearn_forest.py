# SPDX-License-Identifier: Apache-2.0
"""Argument `all`: the forest uses all CPUs."""

import sys

from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.preprocessing import StandardScaler

from tables import table

x, y = table(1500)
x = StandardScaler().fit_transform(x)
jobs = -1 if "all" in sys.argv else None
forest = RandomForestRegressor(n_estimators=8, random_state=1, n_jobs=jobs).fit(x, y)
print("forest", float(forest.predict(x).sum()).hex(), forest.get_params()["n_jobs"])
stages = GradientBoostingRegressor(n_estimators=4, random_state=1).fit(x, y)
print("stages", float(stages.predict(x).sum()).hex())
