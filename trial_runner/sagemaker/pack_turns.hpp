// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/log_follower.hpp"

namespace steptune {

/// What the job's shell ends a trial's turn for.
enum class TurnLimit {
  time,      ///< its own is over
  slowness,  ///< it is clearly slower than the best (`SlowLimit`)
  silence,   ///< it has printed nothing for too long
};

/// The turns of a pack's trials as the job's shell has told them, and how its bill is shared. Times
/// are those of the log, seconds since 1970.
class PackTurns {
 public:
  /// `trials`: in the pack.
  explicit PackTurns(std::size_t trials) : trials_(trials) {}

  /// Keeps a line until it is taken: lines may be found in another order than they were printed.
  void keep(LogLine line);
  /// The kept lines that were printed until then, in that order.
  [[nodiscard]] std::vector<LogLine> take_until(double wall_s);

  /// False: it is known.
  bool begin(TrialKey key, double wall_s);
  /// The shell is ending it. `time` follows the others, which are told first, and changes nothing.
  void set_limit(TrialKey key, TurnLimit limit);
  /// False: it is known, or has not begun.
  bool end(TrialKey key, double wall_s);

  [[nodiscard]] bool none_has_begun() const { return turns_.empty(); }
  [[nodiscard]] std::optional<TurnLimit> limit_of(TrialKey key) const;
  [[nodiscard]] bool has_ended(TrialKey key) const;
  /// Whose turn it is by the marks so far; nothing before the first and between two.
  [[nodiscard]] std::optional<TrialKey> whose_turn() const;

  /// From when on the job is billed.
  void set_billed_since(double wall_s) { billed_since_s_ = wall_s; }
  /// The share of a trial whose turn has ended: its own seconds, and an even part of what the job
  /// took before the first. Counted as told.
  double take_share_s(TrialKey key);
  /// All that the job was billed, now that it is known.
  void set_billable(double billable_s) { billable_s_ = billable_s; }
  /// What of that was not told yet. Counted as told.
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
  std::multimap<double, LogLine> lines_;  ///< by time
  std::vector<Turn> turns_;
  std::optional<double> billed_since_s_;
  double billable_s_ = 0.0;
  double told_s_ = 0.0;
};

}  // namespace steptune
