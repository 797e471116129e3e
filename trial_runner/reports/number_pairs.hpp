// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/report.hpp"

namespace steptune {

/// A name with a number: `step=12/100`, `'loss': 0.5`, `time: 25.3ms`, `iter 100`.
struct NumberPair {
  /// One word; two words if the first is a qualifier: `val loss` becomes `val_loss`.
  std::string name;
  double value = 0.0;           ///< times are converted to seconds; may be NaN or infinite
  std::optional<double> total;  ///< `100` of `12/100`
  /// True if the text has no decimals and no exponent; also for `1,000` and `1K`.
  bool whole = false;
  std::size_t at = 0;      ///< position of the name in the text
  bool scaled = false;     ///< rounded to thousands or millions: `1K`, `2M`
  bool shortened = false;  ///< `name` lacks a first word that is no qualifier: `Actor Steps`
};

/// Finds at most 64 pairs in `text`, in order. Keeps names as printed. Skips numbers with a unit,
/// because its scale may change from line to line (`512 KB`, `1 MB`). Units of time and % are
/// accepted.
[[nodiscard]] std::vector<NumberPair> number_pairs(std::string_view text);

/// Adds a metric to `metrics`, or to `not_finite` if its value is NaN or infinite.
void set_metric(Report& report, std::string name, double value);

/// Converts `Val Loss` to `val_loss`: lower case, underscores for blanks.
[[nodiscard]] std::string metric_name(std::string_view text);

}  // namespace steptune
