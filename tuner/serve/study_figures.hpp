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

/// Main figures of a study, for lists and monitoring.
struct StudyFigures {
  ListedStudy listed;
  std::vector<ObjectiveView> objectives;
  /// Objective values of the recommended configuration. While the study runs, or without a
  /// recommendation, objective values of the current best trial. Empty if no trial was measured.
  std::vector<double> best;
  StudySpending spending;  ///< spending on trials only
  double idle_s = 0.0;     ///< total time for which pools and allocations were kept but not used
  /// Number of running trials by the rented machines they use, such as `1 ml.g5.xlarge`.
  std::map<std::string, int> machines;
  std::string fault;  ///< why the figures above could not be read; may be empty

  /// Returns the whole cost, including machines that were kept but not used. With a recommendation,
  /// it also includes the time between trials on the tuner's own machine.
  [[nodiscard]] double usd() const;
};

/// Reads the further figures of a listed study. The caller can use `history` afterwards, even after
/// an error.
[[nodiscard]] Result<StudyFigures> read_study_figures(History& history, ListedStudy listed);

}  // namespace steptune
