// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "search/space/expression.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// Options of a study that is drafted from a survey.
struct DraftOptions {
  std::string name;
  std::vector<std::string> argv;
  bool numeric = true;                ///< also knobs that may change the loss, with a guard
  bool semantic = false;              ///< also knobs that change the training
  bool is_running = false;            ///< only knobs that can be changed in a running program
  bool must_not_fail = false;         ///< no knobs that may make the program fail
  bool cpu_computes_bfloat16 = true;  ///< true if the hardware computes it
  std::optional<double> samples_per_step = {};
  std::optional<double> planned_samples = {};
  std::optional<double> epoch_samples = {};  ///< samples between two ends of an epoch
  double worth = SearchSpec().worth;         ///< least gain that counts in the study
  /// Number of trials that the tuning time allows; nullopt: no limit.
  std::optional<double> trials = {};
  Facts facts;
};

/// True if the program's loss was NaN or infinite when it was last seen.
[[nodiscard]] bool is_diverged(const Survey& survey);

/// A study file for a program whose settings the hook changes.
struct Draft {
  Json document;
  std::vector<std::string> tuned;     ///< `num_workers 0..4, today 0`
  std::vector<std::string> left_out;  ///< `pin_memory: there is no GPU`
  /// `data loading costs 78 % of a step: at most 4.5 times as fast without it`; empty if unknown.
  std::string ceiling;
};

/// Drafts a study of the knobs that may be changed in the program. The baseline is the program's
/// own behaviour; ranges come from the table for this machine. Parameters are sorted by possible
/// gain, the largest first; first guesses keep this order. A knob is left out if it affects less
/// than 2 % of the step, or if the time allows too few trials. Knobs that are not safe come with a
/// guard on the loss after the same number of samples. If no guard is possible, numeric knobs are
/// left out. Returns an error if nothing is left to tune, or if semantic knobs are requested and no
/// guard is possible.
[[nodiscard]] Result<Draft> draft_study(const Survey& survey, const DraftOptions& options);

/// Returns the command's arguments as templates of a study file; `{` becomes `{{`.
[[nodiscard]] Json command_template(const std::vector<std::string>& argv);

/// Returns a study's name: `train` for `python3 -u src/train.py --lr 0.1` and `nice ./train`,
/// `trainer` for `python3 -m package.trainer`.
[[nodiscard]] std::string study_name_of(const std::vector<std::string>& argv);

/// Returns the value of an expression over the machine's facts, such as `2 * cpus`; NaN if it is
/// invalid.
[[nodiscard]] double fact_value(const std::string& expression, const Facts& machine);
/// Returns the range for people: `8..256`, `fp32|bf16`, `false|true`.
[[nodiscard]] std::string range_text(const Json& declaration, const Facts& machine);

/// True for 1, 2, 4 and so on.
[[nodiscard]] bool is_power_of_two(double value);

}  // namespace steptune
