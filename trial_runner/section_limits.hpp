// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Bounds of keys that several sections of a study have.
inline constexpr double k_most_parallel_trials = 1024.0;
inline constexpr double k_most_machines = 10'000.0;  ///< machines of one trial
inline constexpr double k_most_processes_per_machine = 1024.0;

}  // namespace steptune
