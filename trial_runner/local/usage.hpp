// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

namespace steptune::local {

/// Returns the CPU time of a process and of its descendants that were waited for.
[[nodiscard]] inline double cpu_seconds(const rusage& usage) {
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/// Returns the bytes that a process and its descendants that were waited for read from storage. The
/// kernel counts blocks of 512 bytes (getrusage(2)).
[[nodiscard]] inline double storage_read_bytes(const rusage& usage) {
  return 512.0 * static_cast<double>(usage.ru_inblock);
}

}  // namespace steptune::local
