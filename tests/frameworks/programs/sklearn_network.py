# SPDX-License-Identifier: Apache-2.0
import warnings

from sklearn.neural_network import MLPRegressor

from tables import table

warnings.simplefilter("ignore")
x, y = table(1000)
model = MLPRegressor(hidden_layer_sizes=(16,), batch_size=100, max_iter=2, random_state=1).fit(x, y)
print("loss", float(model.loss_).hex())
