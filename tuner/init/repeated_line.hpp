// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/reports/report_format.hpp"

namespace steptune {

/// A kind of line that a program prints again and again: the same words with other numbers.
struct RepeatedLine {
  std::string line;       ///< the last of them, as a person sees it
  std::size_t count = 0;  ///< how often it came
  bool has_loss = false;  ///< it names a loss, so the program trains
  /// Expressions that read it: a counter first, the epoch and a loss if the output has them. Empty
  /// if none of its numbers grows steadily.
  std::vector<MetricDefinition> metrics;
  bool counts_percent = false;  ///< the counter is a percentage: the whole run is 100 samples
  bool counts_epochs = false;   ///< the counter counts epochs, each as a sample
};

/// The kind of line that tells most of the training, which came three times at the least. A whole
/// number that grows steadily is its counter; a counter that is called a step, an iteration or
/// samples is preferred. Nothing if no line repeats with other numbers. Reads the last 64 KiB. The
/// expressions have read the lines when this returns.
[[nodiscard]] std::optional<RepeatedLine> repeated_line(std::string_view output);

/// `reports` of a study file that reads the line; null if there is no expression.
[[nodiscard]] Json reports_for(const RepeatedLine& line);

/// The same as people write it, over several lines: `"reports": {...}`.
[[nodiscard]] std::string reports_text(const RepeatedLine& line);

}  // namespace steptune
