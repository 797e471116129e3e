// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "trial_runner/live/live_channel.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::live {

/// How a trial ends that has done it.
inline constexpr std::string_view k_diverged =
    "the loss became infinite or NaN while these settings were in force";

/// Finds whose settings made the loss of a shared program infinite or NaN. The loss is told now and
/// then, so that others may be in force by then.
class LossWatch {
 public:
  /// From that configuration (`LiveStep::configuration`) on the trial's settings are in force,
  /// which are not the program's own.
  void switched(std::int64_t configuration, TrialKey trial);
  /// The program has started anew.
  void restarted();
  /// Trials one of which has just done it; empty: none. A program whose loss is so without any, be
  /// it now and then (batches without a label), is taken as it is.
  [[nodiscard]] std::set<TrialKey> add(const LiveStep& step);

 private:
  bool was_finite_ = false;
  bool comes_by_itself_ = false;             ///< with the program's own settings, from a finite one
  std::map<std::int64_t, TrialKey> trials_;  ///< by configuration, from the one that was last told
};

}  // namespace steptune::live
