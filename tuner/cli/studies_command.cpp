// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/study_list.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {
namespace {

TextTable table_of_studies(const std::vector<ListedStudy>& studies, std::size_t widest_name,
                           bool with_dates) {
  std::vector<TextTable::Column> columns{{"study", Align::left},
                                         {"status", Align::left},
                                         {"trials", Align::right},
                                         {"result", Align::left},
                                         {"tuning took", Align::right}};
  if (with_dates) columns.push_back({"begun", Align::left});
  TextTable table(std::move(columns));
  for (const ListedStudy& study : studies) {
    std::vector<std::string> cells{elide_middle(printable_line(study.record.name), widest_name),
                                   to_text(study.record.status), std::to_string(study.trials()),
                                   study.result_text(), format_duration(study.record.elapsed_s)};
    if (with_dates) cells.push_back(format_utc(study.record.created_wall_s));
    table.add_row(std::move(cells));
  }
  return table;
}

/// Returns the table of studies. If it is wider than the terminal, drops dates, then cuts names in
/// the middle.
std::string study_table(const std::vector<ListedStudy>& studies, std::size_t width) {
  const TextTable whole = table_of_studies(studies, k_any_length, true);
  if (width == 0 || whole.width() <= width) return whole.text();
  const TextTable undated = table_of_studies(studies, k_any_length, false);
  if (undated.width() <= width) return undated.text();
  const std::size_t widest = cut_width(width, table_of_studies(studies, 0, false), "study");
  return table_of_studies(studies, widest, false).text();
}

ExitCode list_studies(CommandContext& context) {
  const auto history = History::open_for_reading(context.database());
  if (!history) return context.console.error(history.error());
  const auto studies = read_study_list(*history);
  if (!studies) return context.console.error(studies.error());
  for (const ListedStudy& study : *studies)
    if (!study.fault.empty()) context.console.warning(study.fault);
  return context.print([&] { return study_list_json(*studies); },
                       [&] { return study_table(*studies, context.console.stdout_width()); });
}

}  // namespace

void add_studies_command(CLI::App& program, CommandContext& context) {
  CLI::App* command = add_command(program, context, "studies", "List the studies of the database",
                                  "  steptune studies\n"
                                  "  steptune studies --db /srv/tuning/history.db --json",
                                  list_studies);
  add_json_option(*command, context);
}

}  // namespace steptune
