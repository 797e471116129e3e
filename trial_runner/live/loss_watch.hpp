// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "trial_runner/live/live_channel.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::live {

/// Reason in the outcome of a trial that made the loss infinite or NaN.
inline constexpr std::string_view k_diverged =
    "the loss became infinite or NaN while these settings were in use";

/// Finds the trial whose settings made the loss of a shared program infinite or NaN. The loss is
/// only reported at intervals, so another configuration may be set by the time it is seen.
class LossWatch {
 public:
  /// Records that the trial's settings, which differ from the program's own, apply from this
  /// configuration (`LiveStep::configuration`) on.
  void switched(std::int64_t configuration, TrialKey trial);
  /// Records that the program has started anew.
  void restarted();
  /// Adds a step. Returns the trials, one of which has made the loss non-finite; empty: none. If
  /// the loss is sometimes non-finite without any trial (batches without a label), ignores it.
  [[nodiscard]] std::set<TrialKey> add(const LiveStep& step);

 private:
  bool was_finite_ = false;
  /// With the program's own settings the loss became non-finite.
  bool comes_by_itself_ = false;
  std::map<std::int64_t, TrialKey> trials_;  ///< by configuration, from the last reported one on
};

}  // namespace steptune::live
