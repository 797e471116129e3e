// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/json_record.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/study_scaling.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {

/// Description of a scaling curve, in sentences without a full stop. A sentence is empty if its
/// fact is unknown.
struct ScalingWords {
  std::string law;          ///< law that the counts support
  std::string shares;       ///< serial share and communication, with intervals
  std::string at_greatest;  ///< shares of the time on the largest number of machines
  std::string knee;
  std::string choice;  ///< the cheapest count that meets the deadline, if there is one
};
[[nodiscard]] ScalingWords in_words(const StudyScaling& study);

/// Returns `8 nodes`, made from the parameter's name; `nodes=8` if the name is no plural.
[[nodiscard]] std::string count_text(const std::string& over, double count);
[[nodiscard]] std::string law_title(ScalingLaw law);
/// Returns the law's name, `amdahl`, `amdahl_linear`, ... Scripts read it, so it must not change.
[[nodiscard]] std::string to_text(ScalingLaw law);

/// Columns of the table of counts. Each value leaves out more columns than the value before it.
enum class TableDetail { all, no_trials, no_intervals, least };
/// Returns a table with a row for each count of machines.
[[nodiscard]] TextTable scaling_table(const StudyScaling& study, TableDetail detail);
/// Returns the table, then the explanation; ends with a newline. Drops columns on a
/// narrow terminal.
[[nodiscard]] std::string scaling_text(const StudyScaling& study, const TextStyle& style);

template <>
const JsonRecord<ScalingCount>& json_record<ScalingCount>();
template <>
const JsonRecord<ScalingPrediction>& json_record<ScalingPrediction>();
template <>
const JsonRecord<ScalingKnee>& json_record<ScalingKnee>();
template <>
const JsonRecord<ScalingChoice>& json_record<ScalingChoice>();
[[nodiscard]] Json scaling_json(const StudyScaling& study);
/// Returns only the question and its two answers: the knee and the cheapest count.
[[nodiscard]] Json scaling_summary_json(const StudyScaling& study);

}  // namespace steptune
