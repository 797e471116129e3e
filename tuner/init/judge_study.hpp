// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/init/program_look.hpp"
#include "tuner/study/limits.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Name of the parameter that chooses the command in a study that judges commands.
inline constexpr const char* k_judged_parameter = "command";
/// Commands to compare with the first one, and settings of the comparison.
struct JudgeRequest {
  std::string name;                                ///< of the study
  std::vector<std::vector<std::string>> commands;  ///< 2 to `k_most_judged`, none empty
  double margin = 0.02;  ///< largest difference that counts as a tie, as a share
  double time_s = 0.0;   ///< limit of the whole study
  bool terminal = false;
  std::string input = {};  ///< file for standard input; empty: none
  std::optional<CampaignSpec> campaign = {};
  double error = k_one_sided_error;  ///< `MeasureSpec::confirm_error`
  double slowdown = 0.0;             ///< `MeasureSpec::confirm_slowdown`
  double pair_deviation = 0.0;       ///< `MeasureSpec::pair_deviation`
  double pair_freedom = 0.0;         ///< `MeasureSpec::pair_freedom`
  bool compares_loss = false;        ///< also compare the training loss, if it is reported
};

/// A study file that compares commands.
struct JudgeStudy {
  Json document;
  std::string why_no_loss;  ///< why the loss is not compared, for people; empty if it is compared
};

/// Sets the keys that make a study compare `count` configurations in fresh runs: name, search,
/// budget, measuring and limits.
void set_judging(const JudgeRequest& request, std::size_t count, Json& document);

/// Returns the study file of a comparison: one parameter chooses the command, the first command is
/// the baseline, and fresh runs confirm each one. `look` shows how to read the first command's
/// progress; the other commands are read in the same way. If `JudgeRequest::compares_loss` is set,
/// a guard compares the loss over several launches. Fails with `usage` if `look` shows no progress.
[[nodiscard]] Result<JudgeStudy> judge_study(const JudgeRequest& request, const OutputLook& look);

}  // namespace steptune
