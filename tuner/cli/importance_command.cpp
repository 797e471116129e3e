// SPDX-License-Identifier: Apache-2.0

#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/importance_report.hpp"

namespace steptune {
namespace {

ExitCode show_importance(CommandContext& context, const std::string& name) {
  const auto study = open_stored_study(context, name);
  if (!study) return context.console.error(study.error());
  const auto importance = read_importance(*study);
  if (!importance) return context.console.error(importance.error());
  return print_part(
      context, study->record, "importance", [&] { return importance_json(*importance); },
      [&] { return importance_text(*importance, style_on_stdout(context.console)); });
}

}  // namespace

void add_importance_command(CLI::App& program, CommandContext& context) {
  auto [command, name] = add_command<std::string>(
      program, context, "importance",
      "Show which parameters mattered, and what each contributes from baseline to best",
      "  steptune importance\n"
      "  steptune importance resnet-nightly --json",
      show_importance);
  command->add_option("STUDY", *name, "Study, by name or file [default: the latest]");
  add_json_option(*command, context);
}

}  // namespace steptune
