// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/study_scaling.hpp"

namespace steptune {

/// A curve in words; each is a sentence without full stop, or empty where nothing is known.
struct ScalingWords {
  std::string law;          ///< which law the counts support
  std::string shares;       ///< serial and communication, with intervals
  std::string at_greatest;  ///< what the time on the most machines goes to
  std::string knee;
  std::string choice;  ///< the cheapest count, in time where there is a deadline
};
[[nodiscard]] ScalingWords in_words(const StudyScaling& study);

/// `8 nodes`, as the parameter calls them; `nodes=8` where the name is no plural.
[[nodiscard]] std::string count_text(const std::string& over, double count);
/// `$12.30`, or `8.2 machine-hours` where the study has no price.
[[nodiscard]] std::string scaling_cost_text(const StudyScaling& study, double cost);
/// `12 % (8-15)`
[[nodiscard]] std::string percent_interval(const Estimate& share);
[[nodiscard]] std::string law_title(ScalingLaw law);
/// Persistent: `amdahl`, `amdahl_linear`, ...
[[nodiscard]] std::string to_text(ScalingLaw law);

/// A row for each count, then what explains them; ends with a newline. Where it is wider than the
/// terminal, columns give way.
[[nodiscard]] std::string scaling_text(const StudyScaling& study, const TextStyle& style);
[[nodiscard]] Json scaling_json(const StudyScaling& study);
/// Of it, what was asked and the answers: knee and cheapest count.
[[nodiscard]] Json scaling_summary_json(const StudyScaling& study);

}  // namespace steptune
