// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "common/enum_names.hpp"
#include "common/numbers.hpp"
#include "tuner/verdict/cache_use.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune {

/// The claim of a recommendation. The history stores the names, so they must not change.
enum class Claim {
  faster,          ///< confirmed by fresh runs
  nothing_faster,  ///< nothing was shown to be better than the baseline, which is recommended
  /// The trials have shown that no configuration is better than the baseline by `search.worth`.
  nothing_to_gain,
  unconfirmed,  ///< best trial of the search; no fresh run has confirmed it (yet)
  /// Nothing was shown to be better than the baseline, but the baseline violates a guard. The best
  /// trial that violates none is recommended.
  feasible,
};
inline constexpr auto k_claim_names = enum_names<Claim>({
    {Claim::faster, "faster"},
    {Claim::nothing_faster, "nothing_faster"},
    {Claim::nothing_to_gain, "nothing_to_gain"},
    {Claim::unconfirmed, "unconfirmed"},
    {Claim::feasible, "feasible"},
});
[[nodiscard]] std::string to_text(Claim claim);

/// Result of the confirming runs for one configuration.
struct FinalistResult {
  std::int64_t trial = 0;  ///< the search trial that found the configuration
  Verdict verdict = Verdict::open;
  SpeedUp speed_up;
};

/// A parameter whose best value was not found in the available time. `values` are its values in the
/// recommended configuration and in configurations tied with it, each value once, in order.
struct UndecidedParameter {
  std::string name;
  std::vector<Value> values;
};

/// True if the claim recommends the baseline.
[[nodiscard]] bool keeps_baseline(Claim claim);

/// Result of the attempt to reset needless changes of the recommended configuration. The history
/// stores the names, so they must not change.
enum class ReductionState {
  not_needed,  ///< at most one change, or each change has a measurable effect
  reset,       ///< changes without a measurable effect were reset: see `Reduction::reset`
  all_needed,  ///< configurations with fewer changes were measured, and were slower
  no_time,     ///< some changes may be needless; the budget had no room for another trial
};
inline constexpr auto k_reduction_state_names = enum_names<ReductionState>({
    {ReductionState::not_needed, "not_needed"},
    {ReductionState::reset, "reset"},
    {ReductionState::all_needed, "all_needed"},
    {ReductionState::no_time, "no_time"},
});

/// A setting that was reset before the confirmation.
struct ResetSetting {
  std::string name;
  Value found;  ///< value that the search found
  /// Unset if the recommended configuration has no such setting (`prefetch` without workers).
  std::optional<Value> now;
};

/// Backward elimination of changes without a measurable effect.
struct Reduction {
  ReductionState state = ReductionState::not_needed;
  /// The search trial whose changes were reset; unset if none was.
  std::optional<std::int64_t> from_trial;
  std::vector<ResetSetting> reset;
};

/// Subject of a note that may appear both in a recommendation and in a table of trials. The history
/// stores the names, so they must not change.
enum class NoteSubject { other, batch_size, drift };
inline constexpr auto k_note_subject_names = enum_names<NoteSubject>({
    {NoteSubject::other, "other"},
    {NoteSubject::batch_size, "batch_size"},
    {NoteSubject::drift, "drift"},
});

/// A sentence for people next to a result.
struct Note {
  std::string text;
  NoteSubject subject = NoteSubject::other;
};
[[nodiscard]] std::vector<std::string> texts_of(const std::vector<Note>& notes);

/// The result of a study.
struct Recommendation {
  std::int64_t incumbent_trial = 0;  ///< the baseline's own trial if nothing was shown to be better
  Configuration configuration;
  /// Geometric means of the confirming runs. If there are none, values of the search trials. So
  /// they agree with `speed_up`.
  std::vector<double> baseline_objectives;
  std::vector<double> incumbent_objectives;
  /// Half-widths of the 95 % intervals for one further launch of each configuration, including the
  /// variation between launches. NaN if unknown (a metric that the program reports).
  std::vector<double> baseline_half_widths;
  std::vector<double> incumbent_half_widths;
  /// Seconds of steady training from which the incumbent's values are extrapolated; NaN if unknown.
  double measured_s = k_nan;
  /// How the samples of a step were counted, for people; empty if unknown.
  std::string samples_counted;
  Claim claim = Claim::unconfirmed;
  SpeedUp speed_up;  ///< speed-up in the first objective; NaN if the baseline is recommended
  std::vector<FinalistResult> finalists;  ///< results in the order of the confirmation
  std::vector<std::int64_t> tied;         ///< trials tied with the incumbent
  /// Parameters in which the tied trials differ from the incumbent, in order of name.
  std::vector<UndecidedParameter> undecided;
  std::vector<std::int64_t> pareto;  ///< two objectives: see `Standing::front`
  double tuning_s = 0.0;
  double tuning_usd = 0.0;
  /// Share of the planned run after which the tuning has paid.
  std::optional<double> payback_share;
  /// 95 % interval of `payback_share`, from the speed-up's interval. `payback_high` is infinite if
  /// possibly nothing is saved. NaN if unknown.
  double payback_low = k_nan;
  double payback_high = k_nan;
  /// Least and largest number of samples that the recommended batch size needs, as multiples of the
  /// baseline's number. Both are 1 for the baseline's batch size, or if the gradient noise scale is
  /// unknown.
  double least_samples_ratio = 1.0;
  double most_samples_ratio = 1.0;
  /// Settings that differ from the baseline, in order of name.
  std::vector<std::string> changed;
  Reduction reduction;
  double worth = 0.0;  ///< least gain that counts (`search.worth`), as a share; 0: any
  /// Largest gain that any configuration may still have, as a share (0.03: 3 %). NaN unless the
  /// claim is `nothing_to_gain`.
  double most_gain = k_nan;
  /// Tuning time that the budget had left at the end; unset without a time budget.
  std::optional<double> unused_s;
  CacheUse page_cache;      ///< cache use of the runs behind the figures
  std::vector<Note> notes;  ///< assumptions of the plan that no trial has shown
};

/// Returns the result of the trial's confirming runs; null if there were none.
[[nodiscard]] const FinalistResult* finalist_of(const Recommendation& recommendation,
                                                std::int64_t trial);

}  // namespace steptune
