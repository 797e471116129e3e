// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// A regular expression that reads one metric from a line, as in SageMaker's MetricDefinitions: the
/// first capture group is the number. `step`, `samples` and `clock` are the report's counters; a
/// step or sample count that starts again with each epoch is made cumulative. `phase:evaluation`
/// tells a phase: it has ended and took so many seconds, or where the group is empty it begins.
struct MetricDefinition {
  std::string name;
  std::string regex;  ///< RE2 syntax: Perl's without look-around and back-references; linear time
};

/// How to read a trial's output. `[steptune]` lines are always understood.
struct ReportFormat {
  std::optional<std::string> preset;  ///< `tqdm`, `keras`, `hf-trainer`, `lightning`, `key=value`
  std::vector<MetricDefinition> metrics;  ///< in addition to the preset
  /// Samples per step under this trial's configuration: turns steps into samples where the output
  /// does not tell samples.
  std::optional<double> samples_per_step;
};

}  // namespace steptune
