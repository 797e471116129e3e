// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files that a step's supervisor writes into the step's folder and the tuner reads:
///
///   lock      locked (flock) while the supervisor lives; contains its process number
///   output.N  segment N of srun's output. Each record is a line `TIME LENGTH` and LENGTH bytes of
///             output; TIME is in seconds of CLOCK_BOOTTIME. The supervisor keeps the first segment
///             and the latest two.
///   status    how and when srun ended: `exit N TIME` or `signal N TIME`. If the supervisor could
///             not write all output, a line `fault WHY` follows. The supervisor writes this file
///             last. It reserves the disk space before srun starts, in `status.newPID`.
namespace steptune::slurm {

inline constexpr const char* k_lock_file = "lock";
inline constexpr const char* k_output_file = "output.";
inline constexpr const char* k_status_file = "status";
inline constexpr long long k_segment_bytes = 16LL << 20;

}  // namespace steptune::slurm
