// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/exports/study_import.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

struct ImportCommandOptions {
  std::string path;
  std::string study;
  std::string name;
  std::string from;
  std::vector<std::string> columns;
};

Result<ImportColumns> columns_of(const std::vector<std::string>& words) {
  ImportColumns columns;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      return fail(ErrorKind::usage,
                  fmt::format("\"{}\" is not of the form NAME=COLUMN", printable_line(word)),
                  "--column", "--column time=seconds_per_sample");
    }
    columns[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return columns;
}

/// Stores the trials as a separate study. No run of the tuner continues this study.
Result<void> store_imported(CommandContext& context, const StudySpec& study,
                            const std::string& name, const std::string& reason,
                            std::vector<TrialRecord> trials) {
  auto history = History::open_for_writing(context.database(), context.clock);
  if (!history) return tl::unexpected(history.error());
  if (history->study(name)) {
    return fail(ErrorKind::usage, fmt::format("a study \"{}\" already exists", name), "",
                "give another --name");
  }
  StudyRecord imported;
  imported.name = name;
  imported.fingerprint = "imported-" + study.fingerprint;
  imported.document = study.document;
  imported.document["name"] = name;
  imported.seed = study.search.seed;
  imported.status = StudyStatus::finished;
  imported.stop_reason = reason;
  for (TrialRecord& trial : trials)
    trial.started_wall_s = trial.ended_wall_s = context.clock.wall_time_s();
  return history->add_ended_study(imported, trials);
}

ExitCode import_trials(CommandContext& context, const ImportCommandOptions& options) {
  const auto study = open_study_file(context, options.study);
  if (!study) return context.console.error(study.error());
  const std::string name = options.name.empty() ? study->name + "-imported" : options.name;
  if (const auto named = check_study_name(name); !named) {
    return context.console.error(named.error());
  }
  const auto columns = columns_of(options.columns);
  if (!columns) return context.console.error(columns.error());
  const auto foreign = read_foreign_trials(options.path, options.from);
  if (!foreign) return context.console.error(foreign.error());
  auto imported = translate_foreign_trials(*foreign, *study, *columns);
  if (!imported) return context.console.error(imported.error());
  const std::size_t count = imported->trials.size();
  const auto stored =
      store_imported(context, *study, name, fmt::format("imported from {}", foreign->kind),
                     std::move(imported->trials));
  if (!stored) return context.console.error(stored.error());
  if (context.json) {
    Json json = document_json();
    json["study"] = name;
    json["kind"] = foreign->kind;
    json["trials"] = count;
    json["left_out"] = Json::object();
    for (const auto& [why, rows] : imported->left_out)
      json["left_out"][why] = rows;
    json["notes"] = imported->notes;
    context.console.json_result(json);
    return ExitCode::ok;
  }
  std::string text = fmt::format("imported {} of {} trials ({}) as study \"{}\"\n", count,
                                 foreign->trials.size(), foreign->kind, name);
  for (const auto& [why, rows] : imported->left_out)
    text += fmt::format("left     {}: {}\n", rows, why);
  for (const std::string& note : imported->notes)
    text += fmt::format("note     {}\n", note);
  text += fmt::format("use      \"search\": {{\"learn_from\": [\"{}\"]}} in {}\n", name,
                      printable_line(options.study));
  context.console.result(text);
  return ExitCode::ok;
}

}  // namespace

void add_import_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<ImportCommandOptions>(
      program, context, "import", "Import trials of another program as an earlier study",
      "  steptune import optuna.db --study study.json\n"
      "  steptune import trials.csv --study study.json --column time=seconds_per_sample",
      import_trials);
  command->add_option("FILE", options->path, "SQLite file of Optuna, or CSV file")->required();
  add_value_option(*command, "--study", options->study, "FILE",
                   "Study file with their search space and objectives")
      ->required();
  add_value_option(*command, "--name", options->name, "NAME",
                   "Name of the new study [default: the study file's, with -imported]");
  add_value_option(*command, "--from", options->from, "NAME",
                   "Study of the Optuna file [default: the only one]");
  add_value_option(
      *command, "--column", options->columns, "NAME=COLUMN",
      "Column of a parameter or objective; may be repeated [default: the column of that name]")
      ->expected(1)
      ->take_all();
  add_json_option(*command, context);
}

}  // namespace steptune
