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

/// What the loop needs beside history and listener, made as a study file says.
struct StudyParts {
  std::unique_ptr<Searcher> searcher;
  std::unique_ptr<Scheduler> scheduler;
  RunnerParts runner;  ///< with the clock that the loop runs under
};

/// Searcher and scheduler by themselves; `study` outlives them. The searcher begins with an
/// expert's first guesses for the machines that the study's trials run on (`with_first_guesses`)
/// where `search.first_guesses` says so, or where it says nothing and `guesses` is set; a grid
/// never does.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_study_searcher(const StudySpec& study,
                                                                    bool guesses = false);
[[nodiscard]] Result<std::unique_ptr<Scheduler>> make_study_scheduler(const StudySpec& study);

/// Why nothing can be tried of a study whose trials were those of a run that went on for its own
/// sake (`exec --tune`).
[[nodiscard]] Error run_is_over(const std::string& study);

/// `study` and `system_clock` outlive the parts.
[[nodiscard]] Result<StudyParts> make_study_parts(const StudySpec& study,
                                                  const Clock& system_clock);

}  // namespace steptune
