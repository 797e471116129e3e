// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include <sys/resource.h>

#include "common/machine/processes.hpp"

namespace steptune::local {

/// Tracks the memory of all processes of a trial together. Pages shared by several processes, such
/// as forked data-loader workers, count once. If there are several processes, it reads the kernel's
/// proportional set sizes for this. These are slow to read, so it reads them at most once a second.
/// It reads them after the sum of resident sizes has grown by 5 %, or while that sum exceeds the
/// limit.
class MemoryTracker {
 public:
  explicit MemoryTracker(std::optional<double> limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Takes a sample. Returns true if it shows that the limit is exceeded.
  bool sample(std::span<const ProcessStat> processes, double now_s);

  /// Adds the peak of a reaped process.
  void add(const rusage& usage);

  [[nodiscard]] std::optional<double> peak_bytes() const { return peak_bytes_; }
  /// Returns the peak without file pages, which the kernel frees when memory is short. Known from
  /// samples only.
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
  double examined_sum_bytes_ = 0.0;  // plain sum when exact sizes were last read
  double next_exact_s_ = 0.0;
};

}  // namespace steptune::local
