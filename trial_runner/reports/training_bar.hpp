// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "trial_runner/reports/progress_bar.hpp"

namespace steptune {

/// Tells the training's bar from one that was there before it, of data that were prepared, which
/// nothing describes and which may count further. The training's begins when that one is full, and
/// shows metrics that it did not, or takes longer than it did at a twentieth of its speed at most.
/// An evaluation's may, too, but then the bar before goes on, and is believed for good. Holds at
/// most 16 bars.
class TrainingBar {
 public:
  /// A bar is drawn. True if its count is the training's from now on, in place of another's.
  bool takes_lead(const std::string& key, const ProgressBar& bar, bool has_metrics, double now_s);
  /// Its count is taken for the training's.
  void leads(const std::string& key);
  /// Whether another bar has taken the lead from this one, which has not gone on since.
  [[nodiscard]] bool was_before(const std::string& key) const;
  /// Whether it has led, and the one before has gone on.
  [[nodiscard]] bool is_evaluation(const std::string& key) const;
  /// Whatever leads now is the training's.
  void settle() { is_settled_ = true; }

 private:
  struct Bar {
    double begin_s = 0.0;
    double full_s = 0.0;  ///< or when it was drawn last
    double done = 0.0;
    bool full = false;
    bool has_metrics = false;
    bool was_before = false;
    bool is_evaluation = false;
  };
  [[nodiscard]] bool is_of_preparation(const Bar& before, const Bar& drawn, double now_s) const;

  std::map<std::string, Bar> bars_;
  std::string leader_;
  bool is_settled_ = false;
};

}  // namespace steptune
