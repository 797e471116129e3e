// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/report_format.hpp"

namespace steptune {

/// A kind of line that a program repeats: the same words with other numbers.
struct RepeatedLine {
  std::string line;       ///< the last line of this kind, as people see it
  std::size_t count = 0;  ///< number of such lines
  bool has_loss = false;  ///< true if a repeated line names a loss, so that the program trains
  /// Expressions that read the line: the counter first, then the epoch and a loss if the output has
  /// them. Empty if none of its numbers grows steadily, if a test of the expressions failed, or if
  /// one is too long for a study file.
  std::vector<MetricDefinition> metrics;
  /// Unit of the counter. An epoch counts as one sample; in percent the whole run has 100.
  CountUnit unit = CountUnit::steps;
  /// True if the counter certainly counts the training, so that the expressions may be used at
  /// once.
  bool is_certain = false;
};

/// Returns the kind of line that shows the training's progress best. It must occur at least three
/// times. The line's counter is a whole number that grows steadily, preferably a number called a
/// step, an iteration or samples. Returns nullopt if no kind of line repeats with other numbers.
/// Reads the last 64 KiB. Returns only expressions that were tested on the lines.
[[nodiscard]] std::optional<RepeatedLine> repeated_line(std::string_view output);

/// Returns expressions for a `loss` of the training and an `eval_loss` of an evaluation in lines
/// that repeat. Returns only expressions that were tested on the lines.
[[nodiscard]] std::vector<MetricDefinition> loss_expressions(std::string_view output);

/// Returns a metric's element in `metrics` of `reports`.
[[nodiscard]] Json metric_json(const MetricDefinition& metric);

/// Returns `reports` for a study file that reads the line; null if there is no expression.
[[nodiscard]] Json reports_for(const RepeatedLine& line);

/// Returns `reports_for` as text for people, over several lines: `"reports": {...}`.
[[nodiscard]] std::string reports_text(const RepeatedLine& line);

}  // namespace steptune
