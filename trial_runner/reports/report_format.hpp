// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// A regular expression that reads one metric from a line, as in SageMaker's MetricDefinitions; the
/// first capture group is the number. `step`, `samples` and `clock` are the report's counters. A
/// step or sample count that starts again in each epoch is made cumulative. The name
/// `phase:evaluation` reads a phase: if the group is a number, the phase has ended and lasted that
/// many seconds; if the group is empty, the phase begins.
struct MetricDefinition {
  std::string name;
  std::string regex;  ///< RE2 syntax: Perl's without look-around and back-references
};

/// Describes how to read a trial's output. `[steptune]` lines are always read.
struct ReportFormat {
  std::optional<std::string> preset;  ///< `tqdm`, `keras`, `hf-trainer`, `lightning`, `key=value`
  std::vector<MetricDefinition> metrics;  ///< read by regular expressions, besides the preset
  /// Samples per step in this trial's configuration. Converts steps into samples if the output does
  /// not contain samples.
  std::optional<double> samples_per_step;
};

}  // namespace steptune
