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

/// Changes in the machine's state that may explain a run's deviation.
struct MachineCause {
  std::optional<MachineFigureChange> since_before{};  ///< compared with earlier in the run
  std::optional<MachineFigureChange> since_trial{};   ///< compared with the promise's trial
};

/// Returns how a run differs from its promise: phases that are longer, more frequent, new or
/// missing; parts of a step that grew; a rate that changed at once. One sentence each, for people;
/// hints, not proofs. `watched_samples`: samples since the first report that was read. The counter
/// of a run that continues from a checkpoint also has earlier samples.
[[nodiscard]] std::vector<std::string> causes_of(const Promise& promise, const Measurement& seen,
                                                 double watched_samples,
                                                 const std::optional<Deviation>& deviation,
                                                 const MachineCause& machine = {});

}  // namespace steptune
