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

/// A study in a list of all studies.
struct ListedStudy {
  StudyRecord record;
  std::map<TrialStatus, std::int64_t> counts;
  std::optional<Recommendation> recommendation;
  std::string fault{};  ///< why the study's recommendation could not be read; may be empty

  [[nodiscard]] std::int64_t trials() const;
  /// Returns the result in a few words: `2.13x, confirmed`, `2.13x, not confirmed` (without the
  /// ratio if there is none), `baseline is best`, `nothing to gain`, `respects all limits`,
  /// `none yet` or `cannot be read`.
  [[nodiscard]] std::string result_text() const;
};

/// Reads all studies in order of creation, but none of their trials. Errors come from the history.
[[nodiscard]] Result<std::vector<ListedStudy>> read_study_list(const History& history);

/// Returns `{"schema_version": 1, "studies": [...]}`.
[[nodiscard]] Json study_list_json(const std::vector<ListedStudy>& studies);

}  // namespace steptune
