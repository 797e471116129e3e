// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/enum_names.hpp"
#include "common/json_record.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/guards_over_launches.hpp"
#include "tuner/verdict/recommendation.hpp"

namespace steptune {

/// Verdict on a command beside the first one. Persistent names.
enum class CommandVerdict {
  faster,
  slower,
  tied,       ///< within the margin, either way
  undecided,  ///< the time was too short, also if it was over before the first step
  failed,     ///< a run failed or could not be read
  worse,      ///< not slower, but its loss is worse
};
inline constexpr auto k_command_verdict_names = enum_names<CommandVerdict>({
    {CommandVerdict::faster, "faster"},
    {CommandVerdict::slower, "slower"},
    {CommandVerdict::tied, "tied"},
    {CommandVerdict::undecided, "undecided"},
    {CommandVerdict::failed, "failed"},
    {CommandVerdict::worse, "worse"},
});
template <>
struct JsonForm<CommandVerdict> : JsonNames<k_command_verdict_names> {};
[[nodiscard]] std::string to_text(CommandVerdict verdict);

/// A command and its verdict.
struct JudgedCommand {
  std::string name;     ///< `B`
  std::string command;  ///< words for a shell
  /// nullopt for the first command, unless it failed.
  std::optional<CommandVerdict> verdict = CommandVerdict::undecided;
  SpeedUp speed_up;                         ///< beside the first command
  std::string why;                          ///< why its comparison stopped or failed, for people
  std::optional<double> more_s;             ///< seconds that would decide an undecided command
  std::optional<double> slow_start_s = {};  ///< time without a step, if it was all that was left
  std::optional<LaunchMeans> loss = {};     ///< beside the first command's; nullopt: not compared
};

/// The comparison of the training loss.
struct JudgedLoss {
  Guard guard;
  std::string unit;  ///< of the guard's `after_samples`, plural
};

/// Result of comparing commands.
struct JudgedCommands {
  JudgedCommand first;
  std::vector<JudgedCommand> others;  ///< in the order of the command line
  double margin = 0.0;                ///< as a share
  std::optional<JudgedLoss> loss = {};
  std::string why_no_loss = {};  ///< for people; empty if not known
  double spent_s = 0.0;
  std::optional<double> longest_s = {};  ///< limit of the time
  double pair_freedom = 0.0;             ///< `MeasureSpec::pair_freedom`
};
/// Fields of `judge --json`; the command adds `fail_if`.
template <>
const JsonRecord<JudgedCommands>& json_record<JudgedCommands>();

/// Returns the configurations that such a study compares, the baseline first: those of `try`,
/// otherwise all values of its only parameter.
[[nodiscard]] std::vector<Configuration> judged_configurations(const StudySpec& study);

/// Returns their commands.
[[nodiscard]] std::vector<std::vector<std::string>> judged_words(const StudySpec& study);

/// Returns a command without the tree in which `judge --git` or `bisect` ran it (`env -C FOLDER`).
[[nodiscard]] std::vector<std::string> without_tree(std::vector<std::string> command);

/// Returns the verdicts of a study that confirms each configuration (`MeasureSpec::confirm_all`).
/// `trials` are all trials of the study; `recommendation` is its result, if it has one.
[[nodiscard]] JudgedCommands judged_commands(const StudySpec& study,
                                             std::span<const TrialRecord> trials,
                                             const std::optional<Recommendation>& recommendation,
                                             double spent_s);

/// Returns the verdicts if the first command reported no step in the `spent_s` seconds that it had:
/// all are undecided.
[[nodiscard]] JudgedCommands judged_without_start(
    const std::vector<std::vector<std::string>>& commands, double margin, double spent_s,
    double longest_s);

/// Returns the verdict of all commands together: `failed` if the first command failed. Otherwise
/// `faster` if any is, otherwise `undecided` if any is, otherwise `tied`, `worse`, `slower` if any
/// is, otherwise `failed`.
[[nodiscard]] CommandVerdict verdict_of_all(const JudgedCommands& judged);

/// Returns the fastest command; the first one unless another was shown to be faster.
[[nodiscard]] const JudgedCommand& best_of(const JudgedCommands& judged);

/// Returns the verdict on a command as a sentence without an end.
[[nodiscard]] std::string judged_sentence(const JudgedCommand& command,
                                          const JudgedCommands& judged);

/// Returns a line for each command, `loss`, `cost` and `keep`. Ends with a newline.
[[nodiscard]] std::string judged_text(const JudgedCommands& judged);

}  // namespace steptune
