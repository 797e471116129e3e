// SPDX-License-Identifier: Apache-2.0
#pragma once

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
};

/// The pairs that stand in `text`, in order; at most 64. Names are kept as printed. Numbers with
/// units other than times and % are left out: their scale may change from line to line.
[[nodiscard]] std::vector<NumberPair> number_pairs(std::string_view text);

/// Puts a metric where it belongs: `metrics`, or `not_finite`.
void set_metric(Report& report, std::string name, double value);

/// `Val Loss` -> `val_loss`: lower case, blanks as underscores.
[[nodiscard]] std::string metric_name(std::string_view text);

}  // namespace steptune
