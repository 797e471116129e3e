// SPDX-License-Identifier: Apache-2.0
#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/study_list.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {
namespace {

ExitCode list_studies(CommandContext& context) {
  const auto history = History::open_for_reading(context.database());
  if (!history) return context.console.error(history.error());
  const auto studies = read_study_list(*history);
  if (!studies) return context.console.error(studies.error());
  if (context.json) {
    context.console.json_result(study_list_json(*studies));
    return ExitCode::ok;
  }
  TextTable table({{"study", Align::left},
                   {"status", Align::left},
                   {"trials", Align::right},
                   {"result", Align::left},
                   {"tuning took", Align::right},
                   {"begun", Align::left}});
  for (const ListedStudy& study : *studies) {
    table.add_row({printable_line(study.record.name, 40), to_text(study.record.status),
                   std::to_string(study.trials()), study.result_text(),
                   format_duration(study.record.elapsed_s),
                   format_utc(study.record.created_wall_s)});
  }
  context.console.result(table.text());
  return ExitCode::ok;
}

}  // namespace

void add_studies_command(CLI::App& program, CommandContext& context) {
  CLI::App* command = add_command(program, context, "studies", "List the studies of the database",
                                  "  steptune studies\n"
                                  "  steptune studies --db /srv/tuning/history.db --json");
  add_json_option(*command, context);
  command->callback([&context] { context.action = [&context] { return list_studies(context); }; });
}

}  // namespace steptune
