// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "common/error.hpp"
#include "search/searcher.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/ended_trials.hpp"
#include "tuner/loop/pending_trials.hpp"
#include "tuner/loop/study_run.hpp"
#include "tuner/verdict/payback.hpp"

namespace steptune {

/// Chooses the trials of the search and decides when it ends. Starts nothing.
class SearchTrials {
 public:
  /// All arguments outlive the object.
  SearchTrials(StudyRun& run, PendingTrials& pending, const EndedTrials& ended)
      : run_(&run), pending_(&pending), ended_(&ended), payback_(run.record.unpaid_suggestions) {}

  /// Returns the next trial if one is to be launched now. Sets `StudyRun::end` if no trial will
  /// follow.
  [[nodiscard]] Result<std::optional<TrialRecord>> next();
  /// True if the trials have shown that no configuration can gain enough (`search.worth`).
  [[nodiscard]] bool is_nothing_to_gain() const;
  /// Returns the expected improvement of the latest suggestion (`Suggestion`), which an earlier run
  /// of the tuner may have made.
  [[nodiscard]] std::optional<double> expected_improvement() const;

 private:
  /// True if the rest of the budget is only enough for the trials that `next_reduction` needs.
  [[nodiscard]] bool ends_soon(Spending spending) const;
  [[nodiscard]] Result<std::optional<TrialRecord>> next_suggestion();
  /// True if the search stops before it tries this suggestion, because the suggestion does not pay.
  [[nodiscard]] bool stops_at_payback(const Suggestion& suggestion, std::int64_t trial);

  StudyRun* run_;
  PendingTrials* pending_;
  const EndedTrials* ended_;
  PaybackRule payback_;
  std::optional<double> expected_improvement_;  ///< of the latest suggestion in this run
};

}  // namespace steptune
