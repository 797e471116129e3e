// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/bottleneck_report.hpp"
#include "tuner/report/study_analysis.hpp"

namespace steptune {
namespace {

struct BottleneckOptions {
  std::string study;
  std::string trial;
};

ExitCode show_bottleneck(CommandContext& context, const BottleneckOptions& options) {
  std::optional<std::int64_t> trial;
  if (!options.trial.empty()) {
    const auto number = trial_number(options.trial);
    if (!number) return context.console.error(number.error());
    trial = *number;
  }
  const auto study = open_stored_study(context, options.study);
  if (!study) return context.console.error(study.error());
  const auto bottleneck = read_bottleneck(*study, trial);
  if (!bottleneck) return context.console.error(bottleneck.error());
  return print_part(
      context, study->record, "bottleneck", [&] { return json_of(*bottleneck); },
      [&] { return bottleneck_text(*bottleneck, style_on_stdout(context.console)); });
}

}  // namespace

void add_bottleneck_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<BottleneckOptions>(
      program, context, "bottleneck", "Show what the steps of a trial wait for",
      "  steptune bottleneck\n"
      "  steptune bottleneck resnet-nightly --trial 1",
      show_bottleneck);
  command->add_option("STUDY", options->study, "Study, by name or file [default: the latest]");
  add_value_option(*command, "--trial", options->trial, "N",
                   "Number of the trial to look at [default: the best, else the baseline's]");
  add_json_option(*command, context);
}

}  // namespace steptune
