// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "search/searcher.hpp"
#include "tuner/history/history.hpp"
#include "tuner/retune/night.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Observations of former nights, converted to tonight's conditions, for a searcher.
struct NightPrior {
  std::vector<Observation> own;  ///< from nights since which nothing has changed
  /// From all other nights, in at most three groups, the latest first. Nights of a group differ
  /// from tonight by the same changes. For example, nights before a new kernel are one group.
  /// Nights before a new kernel and a new library are another group. The searcher treats each group
  /// as an earlier study and weighs it by how well it predicts.
  std::vector<std::vector<Observation>> earlier;

  void teach(Searcher& searcher) const;
};

/// Collects trials of three kinds of studies: the study itself, its stored nights, and the study
/// from which the configuration in use came. Leaves out the trials of `tonight`.
///
/// Divides times and costs by the baseline's value on their night, and multiplies them by the
/// baseline's value tonight. So a fast night does not make a configuration look better. A night's
/// trials count like tonight's (`own`) if machine and study file have been the same since then.
/// They do not if the configuration in use became slower or failed on a later night, tonight
/// included. All other nights only guide the search. Takes the latest 200 configurations of each
/// group.
[[nodiscard]] Result<NightPrior> night_prior(const StudySpec& study, const History& history,
                                             const std::vector<Night>& nights,
                                             const Night& tonight);

}  // namespace steptune
