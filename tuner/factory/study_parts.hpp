// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "search/scheduler.hpp"
#include "search/searcher.hpp"
#include "trial_runner/runner_kind.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Objects that the loop needs for a study, except history and listener.
struct StudyParts {
  std::unique_ptr<Searcher> searcher;
  std::unique_ptr<Scheduler> scheduler;
  RunnerParts runner;  ///< runner, with the clock that the loop uses
};

/// Makes the searcher of a study; `study` outlives it. If `search.first_guesses` is true, the
/// searcher starts with an expert's first guesses for the trials' machines (`with_first_guesses`).
/// If it is unset, `guesses` decides. The searchers `grid` and `scaling` never start with first
/// guesses.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_study_searcher(const StudySpec& study,
                                                                    bool guesses = false);
[[nodiscard]] Result<std::unique_ptr<Scheduler>> make_study_scheduler(const StudySpec& study);

/// Returns the error for a study of `exec --tune`: its trials were part of one long run, which has
/// ended.
[[nodiscard]] Error run_is_over(const std::string& study);

/// Makes all parts. `study` and `system_clock` outlive the parts.
[[nodiscard]] Result<StudyParts> make_study_parts(const StudySpec& study,
                                                  const Clock& system_clock);

}  // namespace steptune
