// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/history/history.hpp"
#include "tuner/verdict/recommendation.hpp"

namespace steptune {

/// A study as it stands in a list of all.
struct ListedStudy {
  StudyRecord record;
  std::map<TrialStatus, std::int64_t> counts;
  std::optional<Recommendation> recommendation;
  std::string fault{};  ///< why what it recommends could not be read; empty where it was

  [[nodiscard]] std::int64_t trials() const;
  /// `2.13x, confirmed`, `not confirmed` (of values that have no ratio), `baseline is best`, `none
  /// yet`, `cannot be read`
  [[nodiscard]] std::string result_text() const;
};

/// All studies in order of creation; reads none of their trials. Errors are the history's.
[[nodiscard]] Result<std::vector<ListedStudy>> read_study_list(const History& history);

/// `{"schema_version": 1, "studies": [...]}`
[[nodiscard]] Json study_list_json(const std::vector<ListedStudy>& studies);

}  // namespace steptune
