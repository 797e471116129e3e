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

/// A batch size that holds for an optimizer step, and the smaller one that the step is computed in.
struct StepBatch {
  std::string option;  ///< of the whole: `--global-batch-size`
  std::string from;    ///< where its value was read
  double samples = 0.0;
  SpaceKnob part;  ///< `--micro-batch-size`
  double part_samples = 0.0;
};

/// All that can be varied of a program that no ready-made space is of.
struct UsualKnobs {
  std::vector<SpaceKnob> rules;  ///< what others depend on comes first
  std::vector<LeftKnob> left;
  std::optional<StepBatch> step;  ///< where two batch sizes are understood together
};

/// By the names of its options, and of settings of the files that it reads.
[[nodiscard]] UsualKnobs usual_knobs(const ProgramFacts& program);

}  // namespace steptune
