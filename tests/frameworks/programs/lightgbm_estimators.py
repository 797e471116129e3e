# SPDX-License-Identifier: Apache-2.0
import pickle

from lightgbm import LGBMRegressor

from tables import table

x, y = table(3000)
model = LGBMRegressor(n_estimators=6, num_leaves=15, n_jobs=1, verbose=-1)
model.fit(x[:2000], y[:2000], eval_set=[(x[2000:], y[2000:])])
again = pickle.loads(pickle.dumps(model))
print("prediction", float(again.predict(x).sum()).hex())
