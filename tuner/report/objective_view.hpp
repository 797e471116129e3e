// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/study/unit_name.hpp"

namespace steptune {

/// Name and format of one objective's values.
struct ObjectiveView {
  Objective objective;
  /// True if `time` and `cost` are for the whole planned run, false if they are for a million
  /// samples.
  bool planned_run = false;
  UnitName counted{};  ///< unit of the study's samples

  [[nodiscard]] std::string title() const;  ///< `time`, `time/1M samples`, `loss`
  [[nodiscard]] std::string unit() const;   ///< `s`, `s/1e6 samples`, `USD`; empty for metrics
  /// Formats the value for people: `19.3 h`, `$23.39`, `0.4127`.
  [[nodiscard]] std::string text(double value) const;
  /// Formats the value of a single trial for people. Without a planned run, returns the speed, such
  /// as `322 samples/s`. Readers would mistake the time for a million samples for the trial's
  /// duration.
  [[nodiscard]] std::string text_of_trial(double value) const;
  /// Returns the ratio of `value` to `reference`, above 1 if `value` is better; NaN if a ratio has
  /// no meaning (a value that is not positive).
  [[nodiscard]] double gain(double reference, double value) const;
  /// True if `a` ranks before `b`.
  [[nodiscard]] bool better(double a, double b) const {
    return objective.direction == Direction::minimize ? a < b : a > b;
  }
};

/// Returns the unit of the samples of the study with these objectives.
[[nodiscard]] const UnitName& unit_of(const std::vector<ObjectiveView>& objectives);

[[nodiscard]] std::vector<ObjectiveView> objective_views(const StudySpec& study);
/// Reads the objectives' views from a stored study document, without the machine's facts that a
/// StudySpec needs. A document without objectives has the default objective, `time`.
[[nodiscard]] std::vector<ObjectiveView> objective_views(const Json& document);

/// Returns the parameters' names in the order of their declaration in a stored study document.
[[nodiscard]] std::vector<std::string> parameter_order(const Json& document);

/// Returns the half-width of the 95 % interval of a trial's objective; 0 if unknown.
[[nodiscard]] double half_width_95(const TrialRecord& trial, std::size_t objective);

}  // namespace steptune
