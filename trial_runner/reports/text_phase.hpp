// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// True for a name, in lower case, of an evaluation or of one of its metrics: `val`, `validation`,
/// `test_loss`, `loss_val`. False for `value_loss`.
[[nodiscard]] bool is_evaluation_name(std::string_view name);

/// Returns the prefix for metrics in a line about an evaluation, such as `val`, `validation` or
/// `test`; empty for other lines.
[[nodiscard]] std::string evaluation_of_line(std::string_view line);

/// Returns the prefix of the metrics that follow `text`, the beginning of a line: `val` after
/// `epoch 3 | train: loss 0.4 | val: `, empty after `train: `.
/// Also reads `test = (` and `"val": {`, until the bracket closes.
[[nodiscard]] std::string evaluation_before(std::string_view text);

}  // namespace steptune
