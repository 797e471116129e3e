// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/init/program_facts.hpp"
#include "tuner/init/ready_space.hpp"

namespace steptune {

/// An option that is not varied, and why.
struct LeftKnob {
  std::string option;
  std::string why;
};

/// The batch size of an optimizer step, and the smaller one in which the step is computed.
struct StepBatch {
  std::string option;  ///< option of the whole: `--global-batch-size`
  std::string from;    ///< source of its value
  double samples = 0.0;
  SpaceKnob part;  ///< `--micro-batch-size`
  double part_samples = 0.0;
};

/// All knobs of a program without a ready-made space.
struct UsualKnobs {
  std::vector<SpaceKnob> rules;  ///< rules on which others depend come first
  std::vector<LeftKnob> left;
  std::optional<StepBatch> step;  ///< set if two batch sizes belong together
};

/// Finds them by the names of the program's options and of settings in its files.
[[nodiscard]] UsualKnobs usual_knobs(const ProgramFacts& program);

}  // namespace steptune
