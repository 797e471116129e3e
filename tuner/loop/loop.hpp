// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/json.hpp"
#include "search/scheduler.hpp"
#include "search/searcher.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/cache_seen.hpp"
#include "tuner/loop/speed_up.hpp"
#include "tuner/loop/standing.hpp"
#include "tuner/study/study_spec.hpp"

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

/// What a recommendation claims. Persistent names.
enum class Claim {
  faster,          ///< confirmed by fresh runs
  nothing_faster,  ///< nothing was shown to be better than the baseline, which is recommended
  /// Decided: the baseline is within `search.worth` of the best that the settings allow.
  nothing_to_gain,
  unconfirmed,  ///< best of the search; no fresh run has confirmed it (yet)
  /// Nothing was shown to be better than the baseline, but that violates a guard: the best that
  /// does not is recommended.
  feasible,
};
[[nodiscard]] std::string to_text(Claim claim);
[[nodiscard]] std::optional<Claim> claim_from_text(std::string_view text);

/// What the confirming runs have shown of one configuration.
struct FinalistResult {
  std::int64_t trial = 0;  ///< the search trial that found it
  Verdict verdict = Verdict::open;
  SpeedUp speed_up;
};

/// A parameter whose best value was not found in the time there was: its values in the recommended
/// configuration and in those that cannot be told from it, each once and in order.
struct UndecidedParameter {
  std::string name;
  std::vector<Value> values;
};

/// An object: the values of each parameter by its name.
[[nodiscard]] Json to_json(const std::vector<UndecidedParameter>& undecided);

/// True if the claim recommends the baseline.
[[nodiscard]] bool keeps_baseline(Claim claim);

/// Reason why the recommended configuration has as many changes as it has. Persistent names.
enum class ReductionState {
  not_needed,  ///< at most one change, or each change has a measurable effect
  reset,       ///< changes without a measurable effect were reset: see `Reduction::reset`
  all_needed,  ///< configurations with fewer changes were measured, and were slower
  no_time,     ///< some changes may be needless; the budget had no room for another trial
};
[[nodiscard]] std::string to_text(ReductionState state);
[[nodiscard]] std::optional<ReductionState> reduction_state_from_text(std::string_view text);

/// A setting that was reset before the confirmation.
struct ResetSetting {
  std::string name;
  Value found;  ///< by the search
  /// Nothing if the recommended configuration has no such setting (`prefetch` without workers).
  std::optional<Value> now;
};

/// Backward elimination of changes without a measurable effect.
struct Reduction {
  ReductionState state = ReductionState::not_needed;
  std::int64_t from_trial = 0;  ///< the search trial whose changes were reset; 0: none
  std::vector<ResetSetting> reset;
};
[[nodiscard]] Json to_json(const Reduction& reduction);

/// Subject of a note that both a recommendation and a table of trials may have. Persistent names.
enum class NoteSubject { other, batch_size, drift };
[[nodiscard]] std::string to_text(NoteSubject subject);
[[nodiscard]] std::optional<NoteSubject> note_subject_from_text(std::string_view text);

/// A sentence for people beside a result.
struct Note {
  std::string text;
  NoteSubject subject = NoteSubject::other;
};
[[nodiscard]] std::vector<std::string> texts_of(const std::vector<Note>& notes);

/// What the user is told in the end.
struct Recommendation {
  std::int64_t incumbent_trial = 0;  ///< the baseline's own trial if nothing was shown to be better
  Configuration configuration;
  /// Of the confirming runs (geometric means) where there are any, else of the search trials, so
  /// that they agree with `speed_up`.
  std::vector<double> baseline_objectives;
  std::vector<double> incumbent_objectives;
  /// Half-widths of the 95 % intervals of what one further launch of each takes, launches that
  /// differ included; NaN where unknown (a metric that the program reports).
  std::vector<double> baseline_half_widths;
  std::vector<double> incumbent_half_widths;
  /// Seconds of steady training that the incumbent's values are extrapolated from; 0 where unknown.
  double measured_s = 0.0;
  std::string samples_counted;  ///< what a step was taken to be, for people; empty where unknown
  Claim claim = Claim::unconfirmed;
  SpeedUp speed_up;  ///< of the first objective; not measured (NaN) where the baseline is best
  std::vector<FinalistResult> finalists;      ///< in the order of their confirmation
  std::vector<std::int64_t> tied;             ///< trials that cannot be told from the incumbent
  std::vector<UndecidedParameter> undecided;  ///< in what these differ from it, in order of name
  std::vector<std::int64_t> pareto;           ///< two objectives: see `Standing::front`
  double tuning_s = 0.0;
  double tuning_usd = 0.0;
  std::optional<double> payback_share;  ///< of the planned run after which the tuning has paid
  /// Its 95 % interval, by that of the speed-up; infinite where nothing may be saved, NaN unknown.
  double payback_low = std::numeric_limits<double>::quiet_NaN();
  double payback_high = std::numeric_limits<double>::quiet_NaN();
  /// How many times the samples another batch size needs, from the least to the most; 1 where it is
  /// the baseline's, or nothing is known about the gradient noise scale.
  double least_samples_ratio = 1.0;
  double most_samples_ratio = 1.0;
  /// Settings that differ from the baseline, in order of name.
  std::vector<std::string> changed;
  Reduction reduction;
  double worth = 0.0;  ///< least gain that counts (`search.worth`), as a share; 0: any
  /// The largest gain that a measured configuration may still have, as a share (0.03: 3 %), with
  /// `Claim::nothing_to_gain`; NaN otherwise.
  double most_gain = std::numeric_limits<double>::quiet_NaN();
  /// Tuning time that the budget had left at the end; nothing without a budget of time.
  std::optional<double> unused_s;
  CacheSeen page_cache;     ///< of the runs that its figures are of
  std::vector<Note> notes;  ///< what the plan assumes and nobody has seen
};

/// The recommendation as it stands in the history, and back. Errors (`store`): it cannot be read;
/// `where` says whose it is.
[[nodiscard]] Json to_json(const Recommendation& recommendation);
[[nodiscard]] Result<Recommendation> recommendation_from_json(const Json& json,
                                                              const std::string& where);

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
