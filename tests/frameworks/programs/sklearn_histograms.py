# SPDX-License-Identifier: Apache-2.0
from sklearn.ensemble import HistGradientBoostingClassifier

from tables import table

x, y = table(3000)
classes = (y > y.mean()).astype(int) + (y > y.mean() + 1)
model = HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=15, early_stopping=False).fit(x, classes)
print("prediction", float(model.predict_proba(x)[:, 0].sum()).hex())
