// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
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
  /// Objective values of what is recommended once the study has ended, of the best trial so far
  /// while it goes on; empty while none was measured.
  std::vector<double> best;
  StudySpending spending;  ///< by trials alone
  double idle_s = 0.0;     ///< pools and allocations were kept and not used, added up
  /// Trials that run now by the rented machines that they run on, as `1 ml.g5.xlarge`.
  std::map<std::string, int> machines;
  std::string fault;  ///< why the figures above could not be read; empty where they were

  /// All that it cost, machines that were kept and not used included; once there is a
  /// recommendation, the time between trials on the tuner's own machine, too.
  [[nodiscard]] double usd() const;
};

/// Reads a listed study's further figures; `history` is given back in any case.
[[nodiscard]] Result<StudyFigures> read_study_figures(History& history, ListedStudy listed);

}  // namespace steptune
