// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// Prefix of the metrics (`val`, `test`, `eval`) of a line about an evaluation, otherwise empty.
[[nodiscard]] std::string evaluation_of_line(std::string_view line);

/// Prefix of the metrics that follow `text`, the part of a line before them: `val` after
/// `epoch 3 | train: loss 0.4 | val: `, empty after `train: `.
[[nodiscard]] std::string evaluation_before(std::string_view text);

}  // namespace steptune
