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
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// A trial under way, for display.
struct TrialUnderWay {
  const TrialRecord* trial = nullptr;
  double started_s = 0.0;  ///< loop's clock
  const Measurement* measurement = nullptr;
};

/// What the loop tells whoever watches (terminal, log, tests). Called on the loop's thread; must
/// not call back into the loop.
class LoopListener {
 public:
  virtual ~LoopListener() = default;
  virtual void on_phase(const std::string& /*phase*/) {
  }  ///< `searching`, `confirming`, `stopping`, `detaching`
  /// A study goes on that has trials; before anything is started.
  virtual void on_resumed(const Standing& /*standing*/) {}
  /// Tells how far the budget of time goes: before the first trial if `LoopParts::seen_startup_s`
  /// tells the program's start-up, else after the baseline.
  virtual void on_planned(const PlannedCourse& /*course*/) {}
  virtual void on_trial_started(const TrialRecord& /*trial*/) {}
  /// `standing` is what it has become with this trial.
  virtual void on_trial_ended(const TrialRecord& /*trial*/, const Standing& /*standing*/) {}
  /// At least once per second of the clock while trials run, however many reports arrive.
  virtual void on_progress(const std::vector<TrialUnderWay>& /*running*/, double /*elapsed_s*/) {}
  virtual void on_warning(const std::string& /*message*/) {}
  /// A warning about one trial, which `message` names.
  virtual void on_trial_warning(std::int64_t /*trial*/, const std::string& message) {
    on_warning(message);
  }
};

/// Why a run of the tuner ended. Persistent names.
enum class LoopEnd {
  budget,
  exhausted,
  payback,
  interrupted,
  too_many_failures,
  no_feasible_trial,
  nothing_faster,  ///< finished, and nothing was shown to be better than the baseline
  nothing_to_gain  ///< finished: the baseline is within `search.worth` of the best
};
[[nodiscard]] std::string to_text(LoopEnd end);
[[nodiscard]] std::optional<LoopEnd> loop_end_from_text(std::string_view text);

struct LoopResult {
  LoopEnd end = LoopEnd::budget;
  std::string reason;  ///< for people
  std::optional<Recommendation> recommendation;
  std::string left_running{};  ///< what goes on and costs money after a detachment, for people
  /// Why nothing more was tried, whatever was found by then: not `nothing_faster`.
  LoopEnd search_end = LoopEnd::budget;
};

/// Everything the loop works with; what it refers to outlives it.
struct LoopParts {
  StudySpec study;
  Searcher& searcher;
  Scheduler& scheduler;
  Runner& runner;
  History& history;
  const Clock& clock;
  LoopListener& listener;
  std::filesystem::path log_directory;  ///< of this study's logs: `trial-7.log`; made if need be
  /// How often the user has asked to stop: 0, 1 (finish in order), 2 (at once).
  std::function<int()> interrupts;
  /// On the first interrupt, leave the trials running where the runner can
  /// (`MachineHolder::detach`).
  bool detach_on_interrupt = false;
  MachineDescription machine{};  ///< that trials run on, for the history
  std::string interrupted_because = "stopped by the user";
  /// Tuning time that was spent before, on looking at the program; counts as the study's.
  double looked_s = 0.0;
  /// Seconds from the program's start to its first step, as seen before the study; nothing: not
  /// seen.
  std::optional<double> seen_startup_s{};
  /// What to do about a time that was enough for the baseline only, for people; empty: nothing.
  std::string after_too_little = "run it again with a longer --time, and it goes on";
  /// Asked a few times a second about a first trial that has told no progress: its log, and the
  /// seconds since its start. Returns why nothing will be read from its output; the trial then ends
  /// as failed. Nothing: not known. Empty: nobody is asked.
  std::function<std::optional<std::string>(const std::filesystem::path&, double)> why_unread{};
};

/// Tunes: baseline, hints, search, confirmation, recommendation. Continues an interrupted study
/// from the history: finished trials are observed, not run again; running ones are adopted or
/// launched anew as a further attempt. A finished study whose budget is as it was only reports its
/// result.
///
/// A failed baseline or too many failures in a row end the run with the last lines of the log in
/// `LoopResult::reason`; running it again goes on (with another baseline trial if that one failed).
/// Errors are those of the history or the runner; a failed trial is none. When the history cannot
/// be written (disk full), nothing new is started and the results at hand are kept and tried again
/// for a minute before the run ends with that error.
[[nodiscard]] Result<LoopResult> run_loop(LoopParts parts);

}  // namespace steptune
