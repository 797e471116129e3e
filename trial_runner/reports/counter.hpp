// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

namespace steptune {

/// What a line told about one counter.
struct Count {
  double value = 0.0;
  std::optional<double> total;  ///< `100` of `12/100`
  std::optional<double> epoch;
  /// The counter is known to start again with each epoch (progress bars); otherwise a restart is
  /// recognised by the value going back.
  bool per_epoch = false;
};

/// Makes a counter that starts again with each epoch cumulative. Small steps back, as from several
/// ranks that print in turn, are no restart: the counter then stands still.
class CumulativeCounter {
 public:
  double add(const Count& count);
  [[nodiscard]] double value() const { return base_ + last_; }

 private:
  [[nodiscard]] bool restarted(const Count& count) const;

  double base_ = 0.0;
  double last_ = 0.0;
  std::optional<double> total_;
  std::optional<double> epoch_;
};

/// Several counters that compete (an outer and an inner progress bar, `iter` and `batch`): the one
/// that counts furthest is the trial's step. Holds at most 16 counters.
class CounterSet {
 public:
  /// The cumulative count if this counter is the furthest of all, else nothing.
  std::optional<double> add(const std::string& key, const Count& count);

 private:
  std::map<std::string, CumulativeCounter> counters_;
  double furthest_ = 0.0;
};

}  // namespace steptune
