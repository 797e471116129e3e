// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/retune/night_prior.hpp"
#include "tuner/retune/retune.hpp"

namespace steptune {

/// One night, phase by phase: what `retune` does.
class Retuning {
 public:
  /// Both outlive the object.
  Retuning(const RetuneParts& parts, const RetuneOptions& options);

  /// The night as it was recorded; `running` if it was interrupted: the next call goes on with it.
  /// Errors are those of the loop and of the history.
  [[nodiscard]] Result<Night> run();

 private:
  /// What a phase's run of the loop left behind.
  struct Played {
    StudySpec study;
    LoopResult result;
    std::vector<TrialRecord> trials;
  };
  /// A challenger that is shown to be better than the configuration in use.
  struct Winner {
    Configuration configuration;
    SpeedUp gain;
  };

  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<std::optional<UsedConfiguration>> in_use() const;
  [[nodiscard]] Result<void> tune_from_scratch();
  [[nodiscard]] Result<void> check();
  [[nodiscard]] Result<void> search();
  [[nodiscard]] Result<void> duel();
  /// What is told of a configuration that fails, and the night's result where no winner was
  /// accepted.
  void settle();
  [[nodiscard]] Result<void> close();

  /// Records the phase, then plays it. Nothing: it was interrupted.
  [[nodiscard]] Result<std::optional<Played>> play(const PhasePlan& plan,
                                                   const NightPrior& prior = {});
  [[nodiscard]] Result<Played> play_study(StudySpec study, const NightPrior& prior);
  void take_times(const Played& played);
  [[nodiscard]] std::string why_broken(const Played& played) const;
  /// Compares tonight with the nights before.
  void watch();
  /// Of the nights that trained with what is in use tonight, in order, tonight left out.
  [[nodiscard]] std::vector<NightTimes> times_in_use() const;
  [[nodiscard]] std::vector<MachineChange> changes_since(std::int64_t night) const;

  /// How many trials the search may take tonight; 0: it does not pay.
  [[nodiscard]] Result<std::int64_t> trials_worth(const NightPrior& prior) const;
  /// Whether the best trial looks better than what is in use, by the least gain.
  [[nodiscard]] bool is_promising(const Played& played) const;
  /// Shown by fresh runs side by side, at a one-sided error of `error`.
  [[nodiscard]] std::optional<Winner> winner(const Played& played, double error) const;
  void accept(const Played& played, const Winner& winner);

  [[nodiscard]] Result<void> record();
  [[nodiscard]] Result<void> forget_old_trials();

  const RetuneParts& parts_;
  const RetuneOptions& options_;
  std::vector<Night> nights_;  ///< all, tonight's the last
  Night night_;
  bool interrupted_ = false;
  bool suspicious_ = false;
  std::optional<Played> checked_;  ///< nothing in a night that went on after its check
};

}  // namespace steptune
