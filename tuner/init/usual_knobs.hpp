// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/init/program_facts.hpp"
#include "tuner/init/program_option.hpp"
#include "tuner/init/ready_space.hpp"

namespace steptune {

/// Returns the end of a setting's path that identifies it: `batch_size` of `data.batch_size`, and
/// `amp.enabled` of `solver.amp.enabled`.
[[nodiscard]] std::string telling_path(const std::string& plain);

/// Returns the rule for an option by its name, kind and choices. Returns nullopt for an option that
/// has no known effect on the training's speed, and for options of evaluations.
[[nodiscard]] std::optional<SpaceKnob> usual_knob(const ProgramOption& option);

/// Two batch sizes: that of an optimizer step, and the smaller one of the parts of a step.
struct StepBatch {
  std::string option;  ///< option with the batch size of the step: `--global-batch-size`
  double samples = 0.0;
  SpaceKnob part;  ///< `--micro-batch-size`
  double part_samples = 0.0;
};

/// All knobs of a program without a ready-made space.
struct UsualKnobs {
  std::vector<SpaceKnob> rules;  ///< a rule on which other rules depend comes before them
  std::vector<std::string> several_batches{};  ///< several batch sizes, so none is varied
  std::optional<StepBatch> step{};             ///< set if two batch sizes belong together
};

/// Finds the knobs by the names of the program's options and of settings in its files.
[[nodiscard]] UsualKnobs usual_knobs(const ProgramFacts& program);

}  // namespace steptune
