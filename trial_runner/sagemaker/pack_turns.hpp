// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/log_follower.hpp"

namespace steptune {

/// Limit for which a job's shell ends a trial.
enum class TurnLimit {
  time,      ///< the trial's time is over
  slowness,  ///< the trial is clearly slower than the best one (`SlowLimit`)
  silence,   ///< the trial has printed nothing for too long
};

/// Turns of a pack's trials, as reported by the job's shell, and each trial's share of the bill.
/// Times come from the log, in seconds since 1970.
class PackTurns {
 public:
  /// `trials` is the number of trials in the pack.
  explicit PackTurns(std::size_t trials) : trials_(trials) {}

  /// Stores a line. Lines may arrive in another order than they were printed.
  void keep(LogLine line);
  /// Returns the stored lines printed until `wall_s`, in order of printing.
  [[nodiscard]] std::vector<LogLine> take_until(double wall_s);

  /// Records the start of a turn. Returns false if the start is already known.
  bool begin(TrialKey key, double wall_s);
  /// Records that the shell ends the trial because of `limit`. The shell also reports `time` after
  /// another limit; the other limit then remains.
  void set_limit(TrialKey key, TurnLimit limit);
  /// Records the end of a turn. Returns false if the end is already known, or if the turn has not
  /// begun.
  bool end(TrialKey key, double wall_s);

  [[nodiscard]] bool none_has_begun() const { return turns_.empty(); }
  [[nodiscard]] std::optional<TurnLimit> limit_of(TrialKey key) const;
  [[nodiscard]] bool has_ended(TrialKey key) const;
  /// Returns the trial whose turn was recorded last and has not ended; nullopt before the first
  /// turn and between turns.
  [[nodiscard]] std::optional<TrialKey> whose_turn() const;

  /// Sets when the job's billing began.
  void set_billed_since(double wall_s) { billed_since_s_ = wall_s; }
  /// Charges a trial whose turn has ended, and returns its billed seconds: the length of its turn,
  /// and an equal part of the job's time before the first turn.
  double take_share_s(TrialKey key);
  /// Sets the job's billed seconds, when the service has reported them.
  void set_billable(double billable_s) { billable_s_ = billable_s; }
  /// Charges and returns the billed seconds that are not charged yet.
  double take_rest_s();

 private:
  struct Turn {
    TrialKey key;
    double begin_s = 0.0;
    std::optional<double> end_s{};
    std::optional<TurnLimit> limit{};
  };
  [[nodiscard]] Turn* find(TrialKey key);
  [[nodiscard]] const Turn* find(TrialKey key) const;

  std::size_t trials_;
  std::multimap<double, LogLine> lines_;  ///< stored lines, by time
  std::vector<Turn> turns_;
  std::optional<double> billed_since_s_;
  double billable_s_ = 0.0;
  double charged_s_ = 0.0;  ///< billed seconds charged so far
};

}  // namespace steptune
