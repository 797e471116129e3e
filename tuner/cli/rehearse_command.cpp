// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/rehearsal/projection.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

struct RehearseOptions {
  std::string study;
  std::string seconds_per_sample;
  int repeats = 5;
};

Json range_json(const std::optional<Estimate>& range) {
  if (!range) return nullptr;
  return {{"mean", range->mean}, {"low", range->low}, {"high", range->high}};
}

ExitCode rehearse(CommandContext& context, const RehearseOptions& options) {
  const auto study = open_study_file(context, options.study);
  if (!study) return context.console.error(study.error());
  const auto projection =
      project_tuning(*study, {options.seconds_per_sample, options.repeats, context.database()});
  if (!projection) return context.console.error(projection.error());
  if (context.json) {
    context.console.json_result(
        document_json({{"name", study->name},
                       {"speeds", projection->speeds},
                       {"repeats", options.repeats},
                       {"duration_s", range_json(projection->duration_s)},
                       {"bill_usd", range_json(projection->usd)},
                       {"not_training_usd", range_json(projection->not_training_usd)},
                       {"waiting_usd", range_json(projection->waiting_usd)},
                       {"machine_hours", range_json(projection->machine_hours)},
                       {"trials", range_json(projection->trials)},
                       {"cold_starts", range_json(projection->cold_starts)},
                       {"warm_starts", range_json(projection->warm_starts)},
                       {"budget_usd", json_of(study->budget.cost_usd)},
                       {"warnings", projection->warnings}}));
    return ExitCode::ok;
  }
  const std::size_t title_width = std::string_view("duration  ").size();
  context.console.result(wrapped_entries(projection_text(*study, *projection),
                                         context.console.stdout_width(), title_width));
  return ExitCode::ok;
}

}  // namespace

void add_rehearse_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<RehearseOptions>(
      program, context, "rehearse",
      "Simulate the tuning of a study: its duration and bill, before you pay",
      "  steptune rehearse study.json\n"
      "  steptune rehearse study.json --seconds-per-sample \"0.002 + 0.01 / batch_size\"",
      rehearse);
  command->add_option("STUDY", options->study, "Study file whose trials cost money")->required();
  add_value_option(
      *command, "--seconds-per-sample", options->seconds_per_sample, "EXPRESSION",
      "How fast trials are: an expression over the parameters [default: as measured by "
      "an earlier run of this study, else 0.1 s a step]");
  add_value_option(*command, "--repeats", options->repeats, "N",
                   "Rehearsals, each with its own random numbers [default: 5]")
      ->check(CLI::Range(1, 1000));
  add_json_option(*command, context);
}

}  // namespace steptune
