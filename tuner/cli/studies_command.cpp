// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/report/text_table.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

std::int64_t sum_of(const std::map<TrialStatus, std::int64_t>& counts) {
  std::int64_t sum = 0;
  for (const auto& [status, count] : counts)
    sum += count;
  return sum;
}

std::string result_text(const std::optional<Recommendation>& recommendation) {
  if (!recommendation) return "none yet";
  switch (recommendation->claim) {
    case Claim::faster:
      return format_ratio(recommendation->speed_up.ratio) + ", confirmed";
    case Claim::nothing_faster:
      return "baseline is best";
    case Claim::feasible:
      return "respects all guards";
    case Claim::unconfirmed:
      break;
  }
  return format_ratio(recommendation->speed_up.ratio) + ", not confirmed";
}

ExitCode list_studies(CommandContext& context) {
  const auto history = History::open_for_reading(context.database());
  if (!history) return context.console.error(history.error());
  const auto studies = history->studies();
  if (!studies) return context.console.error(studies.error());
  TextTable table({{"study", Align::left},
                   {"status", Align::left},
                   {"trials", Align::right},
                   {"result", Align::left},
                   {"tuning took", Align::right},
                   {"begun", Align::left}});
  Json list = Json::array();
  for (const StudyRecord& study : *studies) {
    const auto counts = history->status_counts(study.id);
    if (!counts) return context.console.error(counts.error());
    const auto recommendation = stored_recommendation(study);
    if (!recommendation) return context.console.error(recommendation.error());
    table.add_row({printable_line(study.name, 40), to_text(study.status),
                   std::to_string(sum_of(*counts)), result_text(*recommendation),
                   format_duration(study.elapsed_s), format_utc(study.created_wall_s)});
    Json entry = study_json(study);
    entry["trials"] = sum_of(*counts);
    entry["claim"] = *recommendation ? Json(to_text((*recommendation)->claim)) : Json(nullptr);
    entry["speed_up"] = *recommendation && std::isfinite((*recommendation)->speed_up.ratio)
                            ? Json((*recommendation)->speed_up.ratio)
                            : Json(nullptr);
    list.push_back(std::move(entry));
  }
  if (context.json) {
    context.console.json_result({{"schema_version", k_json_schema_version}, {"studies", list}});
  } else {
    context.console.result(table.text());
  }
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
