// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/comparison.hpp"

namespace steptune {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

ExitCode compare_trials(CommandContext& context, std::vector<std::string> arguments) {
  std::string name;
  if (!is_number(arguments.front())) {
    name = arguments.front();
    arguments.erase(arguments.begin());
  }
  if (arguments.size() < 2) {
    return context.console.error({ErrorKind::usage, "two trials or more are needed", "",
                                  "for example 'steptune compare 1 7'"});
  }
  const auto study = open_stored_study(context, name);
  if (!study) return context.console.error(study.error());
  std::vector<TrialRecord> trials;
  for (const std::string& text : arguments) {
    const auto number = trial_number(text);
    if (!number) return context.console.error(number.error());
    if (std::ranges::find(trials, *number, &TrialRecord::number) != trials.end()) {
      return context.console.error(
          {ErrorKind::usage, fmt::format("trial {} is named twice", *number), "", ""});
    }
    auto trial = study->history.trial(study->record.id, *number);
    if (!trial) return context.console.error(trial.error());
    trials.push_back(*std::move(trial));
  }
  const auto order = parameter_order(study->record.document);
  return print_part(
      context, study->record, "comparison",
      [&] { return comparison_json(trials, study->objectives, order); },
      [&] {
        return comparison_text(trials, study->objectives, order, context.console.stdout_width());
      });
}

}  // namespace

void add_compare_command(CLI::App& program, CommandContext& context) {
  auto [command, arguments] = add_command<std::vector<std::string>>(
      program, context, "compare", "Put trials side by side: what differs, and by how much",
      "  steptune compare 1 7\n"
      "  steptune compare resnet-nightly 1 7 12",
      compare_trials);
  command
      ->add_option("TRIALS", *arguments,
                   "Study, by name or file [default: the latest], and numbers of two trials or "
                   "more; each is compared with the first")
      ->option_text("[STUDY] TRIAL TRIAL...")
      ->required()
      ->expected(2, 21);
  add_json_option(*command, context);
}

}  // namespace steptune
