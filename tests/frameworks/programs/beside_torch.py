# SPDX-License-Identifier: Apache-2.0
"""Uses scikit-learn beside another framework, of which only the name is needed here."""

import sys
import types

torch = sys.modules["torch"] = types.ModuleType("torch")
torch.Tensor = type("Tensor", (), {})

from sklearn.ensemble import RandomForestRegressor  # noqa: E402

from tables import table  # noqa: E402

x, y = table(300)
RandomForestRegressor(n_estimators=3, random_state=1).fit(x, y)
