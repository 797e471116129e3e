// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "trial_runner/reports/progress_bar.hpp"

namespace steptune {

/// Distinguishes the training's progress bar from an earlier bar of data preparation, which may
/// have a higher count. The training's bar begins when the earlier bar is full. Either it shows
/// metrics that the earlier bar lacks, or it runs longer at less than a twentieth of the earlier
/// bar's speed. An evaluation's bar after the training's bar may look the same. But then the
/// earlier bar continues and counts as the training's bar from that moment on. Stores at most
/// `k_most_counters` bars.
class TrainingBar {
 public:
  /// Records a drawn bar. Returns true if it takes over as the training's bar.
  bool takes_lead(const std::string& key, const ProgressBar& bar, bool has_metrics, double now_s);
  /// Records that this bar now counts as the training's bar.
  void leads(const std::string& key);
  /// True if another bar took the lead from the bar `key`, and the bar `key` has not continued
  /// since.
  [[nodiscard]] bool was_before(const std::string& key) const;
  /// True if the bar `key` shows an evaluation: it took the lead, but then the bar before it
  /// continued.
  [[nodiscard]] bool is_evaluation(const std::string& key) const;
  /// Accepts the current leader as the training's bar for good.
  void settle() { is_settled_ = true; }

 private:
  struct Bar {
    double begin_s = 0.0;
    double full_s = 0.0;  ///< when it was full, or last drawn
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
