// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "trial_runner/measure/measurer.hpp"

namespace steptune {

/// Measures a trial in which several processes may report (`Report::global_rank`), each with its
/// own clock and its own counters of the whole training. With one reporting process, or reports
/// without ranks, this is a single `Measurer`.
///
/// Otherwise the slowest process gives the measurement if its interval lies wholly above the first
/// process's interval. If not, the first process gives it. (Processes that wait for each other in
/// each step are equally fast, and the maximum of equal estimates would be too slow.) Metrics are
/// the first one's. The remark names stragglers. Uses the first 64 ranks that report; the remark
/// says if there are more. Not thread safe.
class RankMeasurers {
 public:
  explicit RankMeasurers(const MeasureOptions& options) : options_(options) {}

  void add(const Report& report);
  [[nodiscard]] const Measurement& current() const;
  /// As `Measurer::whole_run`, combined as above.
  [[nodiscard]] Measurement whole_run(double ended_s) const;
  /// As `Measurer::latest`, of the lowest rank that reports.
  [[nodiscard]] std::optional<ProgressPoint> latest() const;

 private:
  void combine();
  /// Combines several processes.
  [[nodiscard]] Measurement combination_of(const std::map<int, const Measurement*>& measured) const;

  MeasureOptions options_;
  std::map<int, Measurer> ranks_;
  int unheeded_rank_ = -1;  ///< highest ignored rank; negative: none is ignored
  Measurement combined_;    ///< of several ranks
};

/// Says, for people, which ranks delay the others. Names a rank that is slower than the first, if
/// processes do not wait for each other. Also names a rank whose part `data` exceeds the others'
/// median by at least a twentieth of a step. Other parts are not compared, because fast ranks may
/// wait in them. Empty: none, or unknown.
[[nodiscard]] std::string stragglers(const std::map<int, const Measurement*>& ranks);

}  // namespace steptune
