// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "search/searcher.hpp"
#include "tuner/history/history.hpp"
#include "tuner/retune/night.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What former nights teach a searcher, in tonight's terms.
struct NightPrior {
  std::vector<Observation> own;  ///< of nights since which nothing has changed
  /// Of all others, apart by what has changed since, the latest first, three at most: those that
  /// differ from tonight by a kernel say something else than those before a library, too. Each is
  /// an earlier study of its own, and weighs as much as it turns out to predict.
  std::vector<std::vector<Observation>> earlier;

  void teach(Searcher& searcher) const;
  [[nodiscard]] bool empty() const { return own.empty() && earlier.empty(); }
};

/// Trials of the study itself, of its nights that are still stored and of the study that the
/// configuration in use came from, but for those of `tonight`.
/// Times and costs are taken in units of the baseline's of their night and stand at tonight's, so
/// that a faster night is no better configuration. A night counts as tonight where the machine and
/// the study file are the same and neither a slowdown nor a failure of what was in use was shown
/// since, tonight included; else it tells where to look first. The latest 200 are taken of each.
///
/// Errors are those of the history.
[[nodiscard]] Result<NightPrior> night_prior(const StudySpec& study, const History& history,
                                             const std::vector<Night>& nights,
                                             const Night& tonight);

/// The mean logarithm; NaN of none.
[[nodiscard]] double mean_log(const std::vector<double>& logs);

}  // namespace steptune
