// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/hooks/hook_log.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// How long the run is that a command begins.
struct PlannedLength {
  double samples = 0.0;
  std::string why;                           ///< `--epochs 14 of 60032 samples`
  std::optional<double> epoch_samples = {};  ///< of a pass over the data, if there are several
};

/// Plain names of options that tell how many passes over the data, and how many optimizer steps, a
/// run takes.
[[nodiscard]] const std::vector<std::string>& epoch_options();
[[nodiscard]] const std::vector<std::string>& step_options();

/// Whether a setting of this plain name may tell the length of the run: `trainer.max_epochs` does,
/// `scheduler.max_epochs` and `diffusion.num_steps` do not.
[[nodiscard]] bool is_of_run(const std::string& plain);

/// A number of samples or steps for people: `5401600`, `0.5`.
[[nodiscard]] std::string count_text(double count);

/// Samples of one pass of all ranks over the training data: batches times their size, so up to a
/// batch too many. Nothing where not exactly one training loader tells both.
[[nodiscard]] std::optional<double> samples_of_epoch(const HookLog& log);

/// What the command's own words say of its length, with what the survey saw of steps and data;
/// else what the program's options, the files that the command names, and the numbers that loops
/// of its script count to say, in this order. Nothing where none of them tells passes or steps.
[[nodiscard]] std::optional<PlannedLength> planned_length(const ProgramFacts& program,
                                                          const Survey& survey);

}  // namespace steptune
