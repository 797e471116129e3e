// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/machine_second.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "tuner/follow/progress_track.hpp"
#include "tuner/follow/promise.hpp"

namespace steptune {

/// What the machine does where a run deviates that may explain it.
struct MachineCause {
  std::optional<MachineFigureChange> since_before{};  ///< than earlier in the run
  std::optional<MachineFigureChange> since_trial{};   ///< than in the promise's trial
};

/// What of a run is not as it was promised: phases that are longer, more frequent, new or not
/// there although the plan has them, parts of a step that grew, a rate that changed at once. One
/// sentence each, for people; hints, not proofs. `watched_samples`: of the run since the first
/// report that was read; a run that goes on from a checkpoint has counted others before.
[[nodiscard]] std::vector<std::string> causes_of(const Promise& promise, const Measurement& seen,
                                                 double watched_samples,
                                                 const std::optional<Deviation>& deviation,
                                                 const MachineCause& machine = {});

}  // namespace steptune
