// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "search/space/expression.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// A made-up PyTorch program on two CPUs whose step time is known for all settings.
struct MadeUpProgram {
  std::string name;
  Survey survey;  ///< survey as PyTorch's hook would report it
  /// Returns the seconds of a step. A knob that the configuration lacks keeps its current value.
  std::function<double(const Configuration&)> step_s;
  double best_s = 0.0;  ///< lowest step time over all settings that the hook can change
  double startup_s = 3.0;
};

[[nodiscard]] const Facts& made_up_facts();
[[nodiscard]] std::vector<MadeUpProgram> made_up_programs();

}  // namespace steptune
