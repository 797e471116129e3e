// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/retune/night_prior.hpp"
#include "tuner/retune/retune.hpp"

namespace steptune {

/// One night, phase by phase: carries out `retune`.
class Retuning {
 public:
  /// Both arguments outlive the object.
  Retuning(const RetuneParts& parts, const RetuneOptions& options);

  /// Returns the night as it was recorded. It is `running` if it was interrupted; the next call
  /// continues it. Errors come from the loop and the history.
  [[nodiscard]] Result<Night> run();

 private:
  /// Result of a phase's run of the loop.
  struct Played {
    StudySpec study;
    LoopResult result;
    std::vector<TrialRecord> trials;
  };
  /// A challenger that was shown to be better than the configuration in use.
  struct Winner {
    Configuration configuration;
    SpeedUp gain;
  };

  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<std::optional<UsedConfiguration>> in_use() const;
  [[nodiscard]] Result<void> tune_from_scratch();
  [[nodiscard]] Result<void> check();
  [[nodiscard]] Result<void> search();
  [[nodiscard]] Result<void> confirm();
  /// Sets the night's result if no winner was accepted, and its reason if the configuration in use
  /// fails.
  void settle();
  [[nodiscard]] Result<void> close();

  /// Records the phase, then runs it. Returns nullopt if it was interrupted.
  [[nodiscard]] Result<std::optional<Played>> play(const PhasePlan& plan,
                                                   const NightPrior& prior = {});
  [[nodiscard]] Result<Played> play_study(StudySpec study, const NightPrior& prior);
  void take_times(const Played& played);
  [[nodiscard]] std::string why_broken(const Played& played) const;
  /// Compares tonight with the nights before.
  void watch();
  /// Returns the times of the nights that trained with the configuration in use, in order, without
  /// tonight.
  [[nodiscard]] std::vector<NightTimes> times_in_use() const;
  [[nodiscard]] std::vector<MachineChange> changes_since(std::int64_t night) const;

  /// Returns the number of search trials that are worthwhile tonight; 0: searching does not pay.
  [[nodiscard]] Result<std::int64_t> trials_worth(const NightPrior& prior) const;
  /// True if the best trial looks better than the configuration in use by the least gain.
  [[nodiscard]] bool is_promising(const Played& played) const;
  /// Returns the winner, if fresh runs side by side show one at a one-sided error of `error`.
  [[nodiscard]] std::optional<Winner> winner(const Played& played, double error) const;
  void accept(const Played& played, const Winner& winner);

  [[nodiscard]] Result<void> record();
  [[nodiscard]] Result<void> forget_old_trials();

  const RetuneParts& parts_;
  const RetuneOptions& options_;
  std::vector<Night> nights_;  ///< all nights; the last is tonight
  Night night_;
  bool interrupted_ = false;
  bool suspicious_ = false;
  std::optional<Played> checked_;  ///< unset if an earlier run of the tuner made the check
};

}  // namespace steptune
