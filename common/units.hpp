// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

inline constexpr double k_hour_s = 3600.0;
inline constexpr double k_microsecond_s = 1e-6;
inline constexpr double k_nanosecond_s = 1e-9;
inline constexpr double k_kib_bytes = 1024.0;
inline constexpr double k_mhz_hz = 1e6;

/// Exit statuses of a shell: the command was found but cannot be executed, was not found (POSIX),
/// or was ended by SIGTERM (128 plus the signal's number, as in bash and dash).
inline constexpr int k_not_executable_status = 126;
inline constexpr int k_not_found_status = 127;
inline constexpr int k_sigterm_status = 128 + 15;

}  // namespace steptune
