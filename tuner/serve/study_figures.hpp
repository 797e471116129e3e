// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/report/study_list.hpp"

namespace steptune {

/// A study in a few numbers, as lists and monitoring show it.
struct StudyFigures {
  ListedStudy listed;
  std::vector<ObjectiveView> objectives;
  std::optional<TrialRecord> best;  ///< the best so far; nothing while none was measured
  StudySpending spending;           ///< by trials alone
  double idle_s = 0.0;              ///< pools and allocations were kept and not used, added up
  /// Trials that run now by the rented machines that they run on, as `1 ml.g5.xlarge`.
  std::map<std::string, int> machines;
  std::string fault;  ///< why the figures above could not be read; empty where they were

  /// All that it cost, machines that were kept and not used included.
  [[nodiscard]] double usd() const { return spending.usd + listed.record.overhead_usd; }
};

/// Reads a listed study's further figures; `history` is given back in any case.
[[nodiscard]] Result<StudyFigures> read_study_figures(History& history, ListedStudy listed);

}  // namespace steptune
