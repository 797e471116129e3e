// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "search/space/expression.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// What is wanted of a study that is drafted from a survey.
struct DraftOptions {
  std::string name;
  std::vector<std::string> argv;
  bool numeric = true;                ///< knobs that change rounding, too, with a guard on the loss
  bool semantic = false;              ///< and those that change the training
  bool is_running = false;            ///< only knobs that can be switched in a running program
  bool must_go_on = false;            ///< and none that the program may fail with
  bool cpu_computes_bfloat16 = true;  ///< in hardware
  std::optional<double> samples_per_step = {};
  std::optional<double> planned_samples = {};
  std::optional<double> epoch_samples = {};  ///< between two ends of an epoch
  /// Trials that the tuning time allows; nothing: as many as it takes.
  std::optional<double> trials = {};
  Facts facts;
};

/// Whether the program's loss was NaN or infinite when it was last seen.
[[nodiscard]] bool is_diverged(const Survey& survey);

/// A study file for a program as it is.
struct Draft {
  Json document;
  std::vector<std::string> tuned;  ///< `num_workers 0..4, today 0`
  std::vector<std::string> left;   ///< `pin_memory: there is no GPU`
  /// `data loading costs 78 % of a step: at most 4.5 times as fast without it`; empty if it is not
  /// known.
  std::string ceiling;
};

/// A study of the knobs that may be changed in the program: the baseline is what it does by itself,
/// ranges are the table's for this machine. Parameters come by their possible gain, the largest
/// first; the first guesses keep this order. Knobs are left out if their part of the step takes
/// less than 2 % of its time, or if the time allows too few trials for them. Knobs beyond the safe
/// ones come with a guard on the loss at the same samples: numeric ones are left out where there
/// can be none. An error where nothing is left to tune, or where semantic ones are asked for and
/// there can be no guard.
[[nodiscard]] Result<Draft> draft_study(const Survey& survey, const DraftOptions& options);

/// The command's arguments as a study file's templates: a brace is a brace.
[[nodiscard]] Json command_template(const std::vector<std::string>& argv);

/// `train` for `python3 -u src/train.py --lr 0.1`, `trainer` for `python3 -m package.trainer`: a
/// study's name.
[[nodiscard]] std::string study_name_of(const std::vector<std::string>& argv);

}  // namespace steptune
