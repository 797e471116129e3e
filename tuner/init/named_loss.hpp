// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "tuner/init/line_kinds.hpp"

namespace steptune {

/// True for words that name a loss: `loss`, `train_loss`, `cost`, `nll`.
[[nodiscard]] bool is_loss_word(std::string_view word);

/// Returns the loss of the training, or of an evaluation, in a kind of line; null if no number has
/// such a name. Prefers `loss`, then `train_loss` and the like, then a cost. Sentences such as
/// `Cost after iteration 100: 0.69` and `the loss is 0.69` are understood.
[[nodiscard]] const NumberSeries* loss_in(const LineKind& kind, bool of_evaluation);

}  // namespace steptune
