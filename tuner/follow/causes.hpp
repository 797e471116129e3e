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
  std::optional<MachineFigureChange> since_before{};  ///< compared with the earlier part of the run
  /// Compared with the trial that the promise comes from.
  std::optional<MachineFigureChange> since_trial{};
};

/// Returns differences between a run and its promise that may explain the deviation, one sentence
/// for each. A phase may be longer, more frequent, new or missing. A part of a step may have grown.
/// The rate may have changed at once. The sentences are hints for people, not proofs.
/// `watched_samples` is the number of samples since the first report that was read. It is smaller
/// than the run's counter if the run continues from a checkpoint.
[[nodiscard]] std::vector<std::string> causes_of(const Promise& promise, const Measurement& seen,
                                                 double watched_samples,
                                                 const std::optional<Deviation>& deviation,
                                                 const MachineCause& machine = {});

}  // namespace steptune
