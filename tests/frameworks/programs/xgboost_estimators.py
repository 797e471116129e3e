# SPDX-License-Identifier: Apache-2.0
from sklearn.model_selection import cross_val_predict
from xgboost import XGBClassifier

from tables import table

x, y = table(3000)
labels = (y > y.mean()).astype(int)
predicted = cross_val_predict(XGBClassifier(n_estimators=5, max_depth=4, n_jobs=1), x, labels, cv=3)
print("accuracy", (predicted == labels).mean())
