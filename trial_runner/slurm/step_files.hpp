// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the supervisor of a step writes into the step's folder, and the tuner reads there:
///
///   lock      locked (flock) as long as the supervisor lives; its process number
///   output.N  segments of output: records of `TIME LENGTH\n` and LENGTH bytes, TIME in seconds of
///             CLOCK_BOOTTIME; the latest two are kept
///   status    `exit N TIME` or `signal N TIME` of srun, then perhaps a line `fault WHY`; written
///             last, where the disk has room for it from the start (`status.newPID`)
namespace steptune::slurm {

inline constexpr const char* k_lock_file = "lock";
inline constexpr const char* k_output_file = "output.";
inline constexpr const char* k_status_file = "status";
inline constexpr long long k_segment_bytes = 16LL << 20;

}  // namespace steptune::slurm
