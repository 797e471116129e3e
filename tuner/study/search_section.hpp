// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/study/node.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

/// `search`, less `try`.
[[nodiscard]] SearchSpec read_search(const Node& node);
[[nodiscard]] BudgetSpec read_budget(const Node& node);
/// A study without any limit would run until its space is exhausted.
void default_budget(BudgetSpec& budget);
[[nodiscard]] MeasureSpec read_measure(const Node& node);

}  // namespace steptune::study
