// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/hooks/hook_log.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// Length of the run that a command starts.
struct PlannedLength {
  double samples = 0.0;
  std::string why;  ///< `--epochs 14 of 60032 samples`
  /// Samples of a pass over the data, if there are several passes.
  std::optional<double> epoch_samples = {};
  std::string disagreement{};  ///< as in `RunLength`
};

/// A positive number that an option or setting has today.
struct CurrentNumber {
  std::string option;
  double number = 0.0;
  std::string from;  ///< source; empty: the command
};

/// Number of optimizer steps and of passes over the data in a run.
struct RunLength {
  std::optional<CurrentNumber> steps;
  std::optional<CurrentNumber> epochs;
  /// Text for people if two places state different numbers; otherwise empty.
  std::string disagreement{};
};

/// Returns the number in a setting that may be the length of a run: positive, and small enough for
/// a run. Programs use 9223372036854775807 and the like to mean "without end".
[[nodiscard]] std::optional<double> length_number(const std::string& text);

/// Finds the length of the run. The first of these places that has a length counts: the words of
/// the command, the files that it names, the program's options. Then come the script's option
/// declarations, and the numbers to which the script's loops count. Ignores lengths of other things
/// (`scheduler.max_epochs`). Ignores a place that has defaults for both steps and epochs, because
/// either may end the run.
[[nodiscard]] RunLength run_length(const ProgramFacts& program);

/// Formats a number of samples or steps for people: `5401600`, `0.5`.
[[nodiscard]] std::string count_text(double count);

/// Returns the samples of one pass of all ranks over the training data. Uses the loader's own
/// count. If there is none, multiplies batches by their size, which counts at most one batch too
/// many. Returns nullopt unless exactly one training loader reports its batches and their size.
[[nodiscard]] std::optional<double> samples_of_epoch(const HookLog& log);

/// Returns the length that the hook saw the program give to its framework. If the hook saw none,
/// returns `run_length` in samples, computed from the steps and data that the survey saw. nullopt
/// if no length is known.
[[nodiscard]] std::optional<PlannedLength> planned_length(const ProgramFacts& program,
                                                          const Survey& survey);

}  // namespace steptune
