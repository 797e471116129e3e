// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/scaling_report.hpp"

namespace steptune {
namespace {

struct ScalingArguments {
  std::string study;
  ScalingOptions options;
  std::string deadline;
};

ExitCode show_scaling(CommandContext& context, ScalingArguments arguments) {
  if (!arguments.deadline.empty()) {
    const auto deadline = parse_duration_s(arguments.deadline);
    if (!deadline) return context.console.error(deadline.error());
    if (!(*deadline > 0.0)) {
      return context.console.error({ErrorKind::usage, "--deadline must be greater than zero",
                                    arguments.deadline, "give a duration such as 12h"});
    }
    arguments.options.deadline_s = *deadline;
  }
  const auto study = open_stored_study(context, arguments.study);
  if (!study) return context.console.error(study.error());
  const auto scaling = read_scaling(*study, arguments.options);
  if (!scaling) return context.console.error(scaling.error());
  return print_part(
      context, study->record, "scaling", [&] { return scaling_json(*scaling); },
      [&] { return scaling_text(*scaling, style_on_stdout(context.console)); });
}

}  // namespace

void add_scaling_command(CLI::App& program, CommandContext& context) {
  auto [command, arguments] = add_command<ScalingArguments>(
      program, context, "scaling",
      "Show time, cost and efficiency against the number of machines, and why",
      "  steptune scaling\n"
      "  steptune scaling resnet-cluster --deadline 12h\n"
      "  steptune scaling resnet-cluster --over gpus --min-efficiency 0.5",
      show_scaling);
  command->add_option("STUDY", arguments->study, "Study, by name or file [default: the latest]");
  add_value_option(*command, "--over", arguments->options.over, "PARAM",
                   "Parameter that counts machines, GPUs or processes [default: the study's "
                   "\"over\", else what the "
                   "runner's \"nodes\" or \"instance_count\" names]");
  add_value_option(*command, "--min-efficiency", arguments->options.min_efficiency, "SHARE",
                   "Least gain of each further machine, as a share of the first one's "
                   "[default: the study's \"min_efficiency\", 0.7]")
      ->check(number_within(0.01, 1.0));
  add_value_option(*command, "--deadline", arguments->deadline, "DURATION",
                   "How long the run may take, such as 12h [default: planned_run.deadline]");
  add_json_option(*command, context);
}

}  // namespace steptune
