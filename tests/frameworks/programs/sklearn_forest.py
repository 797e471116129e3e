# SPDX-License-Identifier: Apache-2.0
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.preprocessing import StandardScaler

from tables import table

x, y = table(1500)
x = StandardScaler().fit_transform(x)
forest = RandomForestRegressor(n_estimators=8, random_state=1).fit(x, y)
print("forest", float(forest.predict(x).sum()).hex(), forest.get_params()["n_jobs"])
stages = GradientBoostingRegressor(n_estimators=4, random_state=1).fit(x, y)
print("stages", float(stages.predict(x).sum()).hex())
