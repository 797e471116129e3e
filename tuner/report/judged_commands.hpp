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

/// Verdict on a command compared with the first command. Scripts read the names, so they must not
/// change.
enum class CommandVerdict {
  faster,
  slower,
  tied,       ///< as fast as the first command, within the margin
  undecided,  ///< the time was too short, perhaps even for a first step
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
  /// For the first command: nullopt, or `failed`.
  std::optional<CommandVerdict> verdict = CommandVerdict::undecided;
  SpeedUp speed_up;  ///< speed-up over the first command
  std::string why;   ///< why the comparison stopped or failed, for people
  /// Further seconds that would decide an undecided command.
  std::optional<double> more_s;
  /// Seconds without a first step, if they used up the remaining time.
  std::optional<double> slow_start_s = {};
  /// Its loss and the first command's loss; nullopt: not compared.
  std::optional<LaunchMeans> loss = {};
};

/// The comparison of the training loss.
struct JudgedLoss {
  Guard guard;
  std::string unit;  ///< plural name of the unit of `guard.after_samples`
};

/// Result of comparing commands.
struct JudgedCommands {
  JudgedCommand first;
  std::vector<JudgedCommand> others;  ///< in the order of the command line
  double margin = 0.0;                ///< differences up to this share are a tie
  std::optional<JudgedLoss> loss = {};
  std::string why_no_loss = {};  ///< why the loss was not compared, for people; empty if not known
  double spent_s = 0.0;
  std::optional<double> longest_s = {};  ///< limit of the time
  double pair_freedom = 0.0;             ///< `MeasureSpec::pair_freedom`
};
/// Fields of `judge --json`; the command adds `fail_if`.
template <>
const JsonRecord<JudgedCommands>& json_record<JudgedCommands>();

/// Returns the configurations that a judgement's study compares, the baseline first. They are those
/// of `try`, or without `try` all values of the study's only parameter.
[[nodiscard]] std::vector<Configuration> judged_configurations(const StudySpec& study);

/// Returns the commands of `judged_configurations`.
[[nodiscard]] std::vector<std::vector<std::string>> judged_words(const StudySpec& study);

/// Returns a command without the tree in which `judge --git` or `bisect` ran it (`env -C FOLDER`).
[[nodiscard]] std::vector<std::string> without_tree(std::vector<std::string> command);

/// Returns the verdicts of a judgement's study, which confirms each configuration
/// (`MeasureSpec::confirm_all`). `trials` are all trials of the study. `recommendation` is its
/// result, if it has one.
[[nodiscard]] JudgedCommands judged_commands(const StudySpec& study,
                                             std::span<const TrialRecord> trials,
                                             const std::optional<Recommendation>& recommendation,
                                             double spent_s);

/// Returns the verdicts if the first command reported no step within its `spent_s` seconds. All are
/// `undecided`.
[[nodiscard]] JudgedCommands judged_without_start(
    const std::vector<std::vector<std::string>>& commands, double margin, double spent_s,
    double longest_s);

/// Returns one verdict for all commands. If the first command failed, returns `failed`. Otherwise
/// returns the first of these verdicts that some command has: `faster`, `undecided`, `tied`,
/// `worse`, `slower`, `failed`.
[[nodiscard]] CommandVerdict verdict_of_all(const JudgedCommands& judged);

/// Returns the fastest command. If no command was shown to be faster than the first one, returns
/// the first one.
[[nodiscard]] const JudgedCommand& best_of(const JudgedCommands& judged);

/// Returns the verdict on a command as a sentence without a full stop.
[[nodiscard]] std::string judged_sentence(const JudgedCommand& command,
                                          const JudgedCommands& judged);

/// Returns a line for each command, then the lines `loss`, `cost` and `keep`. Ends with a newline.
[[nodiscard]] std::string judged_text(const JudgedCommands& judged);

}  // namespace steptune
