// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include <sys/resource.h>

#include "common/machine/processes.hpp"

namespace steptune::local {

/// Follows the memory of all processes of a trial together. Pages that several of them share, as
/// forked data-loader workers do, count once: where the plain sum of resident sizes says something
/// new, the kernel's proportional sizes are read, which costs more.
class MemoryTracker {
 public:
  explicit MemoryTracker(std::optional<double> limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Returns whether the limit is exceeded.
  bool sample(std::span<const ProcessStat> processes, double now_s);

  /// Adds what the kernel tells of a reaped process.
  void add(const rusage& usage);

  [[nodiscard]] std::optional<double> peak_bytes() const { return peak_bytes_; }
  /// Without pages of files, which the kernel gives back when memory is short. Seen at samples
  /// only.
  [[nodiscard]] std::optional<double> peak_unreclaimable_bytes() const {
    return peak_unreclaimable_bytes_;
  }

 private:
  void raise(double bytes);
  void raise_unreclaimable(std::optional<double> anonymous_bytes,
                           std::optional<double> shared_bytes);

  std::optional<double> limit_bytes_;
  std::optional<double> peak_bytes_;
  std::optional<double> peak_unreclaimable_bytes_;
  double examined_sum_bytes_ = 0.0;  // plain sum at the last exact reading
  double next_exact_s_ = 0.0;
};

}  // namespace steptune::local
