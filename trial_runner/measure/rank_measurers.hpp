// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "trial_runner/measure/measurer.hpp"

namespace steptune {

/// Measures a trial in which several processes may report (`Report::global_rank`), each with its
/// own clock. Each counts the steps and samples of the whole training. With one reporting process,
/// or reports without ranks, this is a single `Measurer`.
///
/// Otherwise the process with the lowest rank gives the measurement. If the confidence interval of
/// the slowest process lies wholly above, the slowest process gives it. (Processes that wait for
/// each other in each step are equally fast, and the maximum of several equal estimates would be
/// too slow.) Metrics come from the process with the lowest rank. The remark names stragglers. Uses
/// the first 64 ranks that report; the remark says if there are more. Not thread safe.
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

/// Returns a text for people about ranks that delay the training. Names the slowest rank if it is
/// slower than the lowest rank, as when processes do not wait for each other. Also names a rank
/// whose time for the part `data` exceeds the other ranks' median by at least 5 % of a step. Does
/// not compare other parts, because fast ranks may wait for slow ones in them. Empty if no such
/// rank is known.
[[nodiscard]] std::string stragglers(const std::map<int, const Measurement*>& ranks);

}  // namespace steptune
