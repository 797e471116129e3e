// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/report.hpp"

namespace steptune {

/// `step=12/100`, `'loss': 0.5`, `time: 25.3ms`, `iter 100`: a name with a number.
struct NumberPair {
  std::string name;    ///< one word, or two where the first qualifies: `val loss` is `val_loss`
  double value = 0.0;  ///< times in seconds; NaN or infinite where the text says so
  std::optional<double> total;  ///< `100` of `12/100`
  /// The text has no decimals and no exponent; `1,000` and `1K` are whole.
  bool whole = false;
  std::size_t at = 0;   ///< where in the text the name begins
  bool scaled = false;  ///< rounded to thousands or millions: `1K`, `2M`
};

/// Finds the pairs of `text`, in order; at most 64. Keeps names as printed. Skips numbers with
/// units other than times and %, because their scale may change from line to line.
[[nodiscard]] std::vector<NumberPair> number_pairs(std::string_view text);

/// Puts a metric where it belongs: `metrics`, or `not_finite`.
void set_metric(Report& report, std::string name, double value);

/// `Val Loss` -> `val_loss`: lower case, blanks as underscores.
[[nodiscard]] std::string metric_name(std::string_view text);

}  // namespace steptune
