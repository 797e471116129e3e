// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/fail_conditions.hpp"
#include "tuner/report/judged_commands.hpp"
#include "tuner/verdict/speed_up_record.hpp"

namespace steptune {

template <>
const JsonRecord<LaunchMeans>& json_record<LaunchMeans>() {
  using L = LaunchMeans;
  static const auto record =
      JsonRecord<L>()
          .field("value", &L::value)
          .field("first", &L::baseline, "Of the first command")
          .field("difference", &L::difference, "As a share of the first command's")
          .field("half_width", &L::half_width, "Of the 95 % interval of the difference")
          .field("launches", &L::launches, "Launches of each of both, at least")
          .field("worse", &L::is_violated, "Certainly more than 2 % worse");
  return record;
}

template <>
const JsonRecord<JudgedCommand>& json_record<JudgedCommand>() {
  using J = JudgedCommand;
  static const auto record =
      JsonRecord<J>()
          .field("name", &J::name, "A, B, ...; with --git the revision, with --study the trial")
          .field("command", &J::command, "Words for a shell")
          .field("verdict", &J::verdict,
                 "Beside the first command, whose own verdict is null unless it failed")
          .field("speed_up", &J::speed_up)
          .text_or_null("why", &J::why, "Why the comparison stopped, or why it failed")
          .field("more_s", &J::more_s, "Further time that would decide")
          .field("loss", &J::loss,
                 "Mean loss over launches, beside the first command's; null: not compared");
  return record;
}

template <>
const JsonRecord<JudgedLoss>& json_record<JudgedLoss>() {
  using J = JudgedLoss;
  static const auto record =
      JsonRecord<J>()
          .computed("metric", [](const J& loss) { return loss.guard.metric; })
          .computed("after_samples", [](const J& loss) { return loss.guard.after_samples; });
  return record;
}

namespace {

std::optional<std::string> kept_name(const JudgedCommands& judged) {
  if (judged.first.verdict == CommandVerdict::failed) return std::nullopt;
  return best_of(judged).name;
}

std::vector<JudgedCommand> all_commands(const JudgedCommands& judged) {
  std::vector<JudgedCommand> all{judged.first};
  all.insert(all.end(), judged.others.begin(), judged.others.end());
  return all;
}

}  // namespace

template <>
const JsonRecord<JudgedCommands>& json_record<JudgedCommands>() {
  using J = JudgedCommands;
  static const auto record =
      JsonRecord<J>()
          .computed("verdict", verdict_of_all,
                    "Of all commands together: failed if the first failed, otherwise faster if any "
                    "is, then undecided, tied, worse, slower, failed")
          .computed("keep", kept_name, "Name of the command to keep")
          .field("margin", &J::margin, "Largest difference that counts as a tie, as a share")
          .field("loss", &J::loss, "Where the training loss is compared; null: nowhere")
          .text_or_null("why_no_loss", &J::why_no_loss, "Why the loss is not compared")
          .field("spent_s", &J::spent_s)
          .field("time_s", &J::longest_s, "Limit of the time")
          .computed("commands", all_commands);
  return record;
}

template <>
const JsonRecord<FailResult>& json_record<FailResult>() {
  using F = FailResult;
  static const auto record =
      JsonRecord<F>()
          .computed("condition", [](const F& result) { return result.condition.text; })
          .field("holds", &F::holds, "null: not known")
          .field("commands", &F::commands, "Names of the commands for which it is true");
  return record;
}

}  // namespace steptune
