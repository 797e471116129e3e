// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/machine/cpus.hpp"
#include "common/text.hpp"
#include "trial_runner/runner_kinds.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/doctor_checks.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/history/history.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/text_table.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

Diagnosis check_sqlite() {
  return {"sqlite", DiagnosisStatus::ok, sqlite_version(), ""};
}

Diagnosis check_history(const std::filesystem::path& database) {
  std::error_code fault;
  if (!std::filesystem::exists(database, fault)) {
    return {"history", DiagnosisStatus::ok, fmt::format("{}: none yet", database.string()), ""};
  }
  const auto history = History::open_for_reading(database);
  if (!history) {
    return {"history", DiagnosisStatus::fail, history.error().message, history.error().hint};
  }
  const auto studies = history->studies();
  if (!studies) {
    return {"history", DiagnosisStatus::fail, studies.error().message, studies.error().hint};
  }
  const std::string found = fmt::format("{}: {} stud{}", database.string(), studies->size(),
                                        studies->size() == 1 ? "y" : "ies");
  return {"history", DiagnosisStatus::ok, found, ""};
}

std::vector<Diagnosis> all_checks(const std::filesystem::path& database) {
  const SystemFiles files;
  const auto allowed = allowed_cpus();
  const std::vector<int> cpus = allowed ? *allowed : std::vector<int>{};
  std::vector<Diagnosis> checks = {
      check_cpus(files, cpus), check_smt(files),
      check_governor(files),   check_load(files, static_cast<int>(cpus.size())),
      check_memory(files),     check_clock_source(files),
      check_gpu(files)};
  for (const RunnerKind* kind : runner_kinds()) {
    for (Diagnosis& check : kind->diagnose())
      checks.push_back(std::move(check));
  }
  checks.push_back(check_sqlite());
  checks.push_back(check_history(database));
  checks.push_back(check_file_system(file_system_of(present_folder_of(database))));
  checks.push_back(check_disk(database));
  return checks;
}

/// Returns the columns left for findings beside status and title; 0 means no limit.
std::size_t room_for_findings(const std::vector<Diagnosis>& checks, std::size_t width) {
  TextTable beside({{"", Align::left}, {"", Align::left}, {"", Align::left}});
  for (const Diagnosis& check : checks)
    beside.add_row({to_text(check.status), with_blanks(check.name)});
  return width > beside.width() ? width - beside.width() : 0;
}

/// Adds one row for each line, the first with `status` and `title`.
void add_lines(TextTable& table, std::string status, std::string title, std::string_view lines) {
  for (const std::string_view line : split_lines(lines))
    table.add_row({std::exchange(status, {}), std::exchange(title, {}), std::string(line)});
}

std::string checks_text(const std::vector<Diagnosis>& checks, bool color, std::size_t width) {
  const std::size_t room = room_for_findings(checks, width);
  constexpr std::string_view k_arrow = "-> ";
  TextTable table({{"", Align::left}, {"", Align::left}, {"", Align::left}});
  for (const Diagnosis& check : checks) {
    std::string status = to_text(check.status);
    if (color) {
      const char* code = check.status == DiagnosisStatus::ok     ? "\x1b[32m"
                         : check.status == DiagnosisStatus::warn ? "\x1b[1;33m"
                                                                 : "\x1b[1;31m";
      status = fmt::format("{}{}\x1b[0m", code, status);
    }
    add_lines(table, std::move(status), with_blanks(check.name), wrapped(check.found, room));
    if (check.advice.empty()) continue;
    add_lines(table, "", "",
              wrapped_entry(fmt::format("{}{}", k_arrow, check.advice), room, k_arrow.size()));
  }
  return table.text();
}

Json checks_json(const std::vector<Diagnosis>& checks, bool failed) {
  Json json = document_json();
  json["ok"] = !failed;
  json["checks"] = Json::array();
  for (const Diagnosis& check : checks) {
    json["checks"].push_back({{"name", check.name},
                              {"status", to_text(check.status)},
                              {"found", check.found},
                              {"advice", text_or_null(check.advice)}});
  }
  return json;
}

ExitCode examine(CommandContext& context) {
  const auto checks = all_checks(context.database());
  const bool failed = std::any_of(checks.begin(), checks.end(), [](const Diagnosis& check) {
    return check.status == DiagnosisStatus::fail;
  });
  context.print([&] { return checks_json(checks, failed); },
                [&] {
                  return checks_text(checks, context.console.color_on_stdout(),
                                     context.console.stdout_width());
                });
  return failed ? ExitCode::failure : ExitCode::ok;
}

}  // namespace

void add_doctor_command(CLI::App& program, CommandContext& context) {
  CLI::App* command =
      add_command(program, context, "doctor", "Check this machine for what disturbs tuning",
                  "  steptune doctor\n"
                  "  steptune doctor --json",
                  examine);
  add_json_option(*command, context);
}

}  // namespace steptune
