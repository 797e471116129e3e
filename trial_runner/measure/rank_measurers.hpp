// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "trial_runner/measure/measurer.hpp"

namespace steptune {

/// Measures a trial of which several processes may report (`Report::global_rank`), each by its own
/// clock and by its own counters of what all of them did together. Where one does, or none says
/// which it is, this is its `Measurer`. Else the measurement is that of the slowest process, if its
/// interval lies wholly above that of the first (processes that wait for each other in each step
/// are equally fast, and the greatest of equal estimates would be too slow); metrics are the first
/// one's. The remark names stragglers. The first 64 ranks that report are heeded; the remark tells
/// where there are more. Not thread safe.
class RankMeasurers {
 public:
  explicit RankMeasurers(const MeasureOptions& options) : options_(options) {}

  void add(const Report& report);
  [[nodiscard]] const Measurement& current() const;
  /// As of `Measurer`, of several processes as above.
  [[nodiscard]] Measurement whole_run(double ended_s) const;

 private:
  void combine();
  /// Of several.
  [[nodiscard]] Measurement combination_of(const std::map<int, const Measurement*>& measured) const;

  MeasureOptions options_;
  std::map<int, Measurer> ranks_;
  int unheeded_rank_ = -1;  ///< the highest; negative: all that report are heeded
  Measurement combined_;    ///< of several
};

/// Who holds the others up, for people: a rank that is slower than the first (processes that do not
/// wait for each other), and one whose part `data` takes longer than the others' median by at least
/// a twentieth of a step. In other parts the quick ones may wait for the slow. Empty: nobody, or it
/// cannot be told.
[[nodiscard]] std::string stragglers(const std::map<int, const Measurement*>& ranks);

}  // namespace steptune
