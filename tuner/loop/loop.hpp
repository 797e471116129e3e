// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "search/scheduler.hpp"
#include "search/searcher.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/search_end.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

class RunningTrial;

/// Receives the loop's events, for a terminal, a log or tests. Called on the loop's thread; must
/// not call back into the loop.
class LoopListener {
 public:
  virtual ~LoopListener() = default;
  virtual void on_phase(const std::string& /*phase*/) {
  }  ///< `searching`, `confirming`, `stopping`, `detaching`
  /// Called before anything starts, if the study already has trials.
  virtual void on_resumed(const Standing& /*standing*/) {}
  /// Called with the plan for the time budget. This happens before the first trial if
  /// `LoopParts::seen_startup_s` gives the program's start-up, otherwise after the baseline.
  virtual void on_planned(const PlannedCourse& /*course*/) {}
  virtual void on_trial_started(const TrialRecord& /*trial*/) {}
  /// `standing` includes this trial.
  virtual void on_trial_ended(const TrialRecord& /*trial*/, const Standing& /*standing*/) {}
  /// Called at least once per second of the clock while trials run. The number of reports does not
  /// matter.
  virtual void on_progress(const std::vector<const RunningTrial*>& /*running*/,
                           double /*elapsed_s*/) {}
  virtual void on_warning(const std::string& /*message*/) {}
  /// Called with a warning about one trial, which `message` names.
  virtual void on_trial_warning(std::int64_t /*trial*/, const std::string& message) {
    on_warning(message);
  }
};

struct LoopResult {
  LoopEnd end = LoopEnd::budget;
  std::string reason;  ///< why the run ended, as text for people
  std::optional<Recommendation> recommendation;
  /// Trials and machines that a detached tuner leaves running, for people.
  std::string left_running{};
  /// Reason why the search ended. Never `nothing_faster`, which only the confirming runs can show.
  LoopEnd search_end = LoopEnd::budget;
};

/// Everything that the loop works with. Referenced objects outlive the loop.
struct LoopParts {
  StudySpec study;
  Searcher& searcher;
  Scheduler& scheduler;
  Runner& runner;
  History& history;
  const Clock& clock;
  LoopListener& listener;
  std::filesystem::path log_directory;  ///< for logs such as `trial-7.log`; created if missing
  /// Returns how often the user has asked to stop: 0, 1 (finish in order), 2 (at once).
  std::function<int()> interrupts;
  /// On the first interrupt, leave the trials running if the runner can (`MachineHolder::detach`).
  bool detach_on_interrupt = false;
  MachineDescription machine{};  ///< machine that trials run on, for the history
  std::string interrupted_because = "stopped by the user";
  /// Seconds spent earlier on inspecting the program; they count as tuning time.
  double inspected_s = 0.0;
  /// Seconds from the program's start to its first step, as seen before the study. Unset: not seen.
  std::optional<double> seen_startup_s{};
  /// Advice for people if the time was enough for the baseline only; empty: none.
  std::string after_too_little = "run it again with a longer --time to continue where it stopped";
  /// Called a few times a second while the first trial has reported no progress. Arguments are the
  /// trial's log and the seconds since its start. Returns why its output will never contain a
  /// report; the trial then ends as failed. Returns nullopt if that is not known. Empty: never
  /// called.
  std::function<std::optional<std::string>(const std::filesystem::path&, double)> why_unread{};
};

/// Tunes: baseline, hints, search, confirmation, recommendation. Continues an interrupted study
/// from the history: finished trials are observed, not run again; running trials are adopted or
/// launched as a further attempt. If a finished study is unchanged (budget, search, configurations
/// to try, measuring, planned run), only reports its result.
///
/// A failed baseline, or too many failures in a row, ends the run. `LoopResult::reason` then has
/// the last lines of the log. Running the study again continues it. If the baseline failed, it is
/// tried again. Errors come from the history or the runner; a failed trial is no error. If the
/// history cannot be written (disk full), the loop starts nothing new. It keeps its results and
/// tries to write them for a minute before it ends with that error.
[[nodiscard]] Result<LoopResult> run_loop(LoopParts parts);

}  // namespace steptune
