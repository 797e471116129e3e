// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files that a step's supervisor writes into the step's folder and the tuner reads:
///
///   lock      locked (flock) while the supervisor lives; contains its process number
///   output.N  segments of output: records of `TIME LENGTH\n` and LENGTH bytes, TIME in seconds of
///             CLOCK_BOOTTIME; the first segment and the latest two are kept
///   status    srun's end: `exit N TIME` or `signal N TIME`, then perhaps a line `fault WHY`;
///             written last, on disk space reserved from the start (`status.newPID`)
namespace steptune::slurm {

inline constexpr const char* k_lock_file = "lock";
inline constexpr const char* k_output_file = "output.";
inline constexpr const char* k_status_file = "status";
inline constexpr long long k_segment_bytes = 16LL << 20;

}  // namespace steptune::slurm
