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
  std::string disagreement{};                ///< as of `ToldLength`
};

/// A positive number that an option or setting has today.
struct ToldNumber {
  std::string option;
  double number = 0.0;
  std::string from;  ///< empty: the command
};

/// How many optimizer steps and how many passes over the data a run takes.
struct ToldLength {
  std::optional<ToldNumber> steps;
  std::optional<ToldNumber> epochs;
  /// That another place tells another number, for people; empty: none does.
  std::string disagreement{};
};

/// What the command's own words say of the length; else what the files that it names, the program's
/// options, and the numbers that loops of its script count to say, in this order: the first place
/// that tells either counts. Settings of something else (`scheduler.max_epochs`) tell nothing, nor
/// does a place that has both by default, as either may end the run.
[[nodiscard]] ToldLength told_length(const ProgramFacts& program);

/// A number of samples or steps for people: `5401600`, `0.5`.
[[nodiscard]] std::string count_text(double count);

/// Samples of one pass of all ranks over the training data: batches times their size, so up to a
/// batch too many. Nothing where not exactly one training loader tells both.
[[nodiscard]] std::optional<double> samples_of_epoch(const HookLog& log);

/// `told_length` in samples, with what the survey saw of steps and data. Nothing where neither
/// passes nor steps are told.
[[nodiscard]] std::optional<PlannedLength> planned_length(const ProgramFacts& program,
                                                          const Survey& survey);

}  // namespace steptune
