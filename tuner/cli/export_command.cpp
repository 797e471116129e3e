// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/build_info.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/exports/study_export.hpp"

namespace steptune {
namespace {

struct ExportOptions {
  std::string study;
  std::string file;
  std::string format;
};

Result<void> write_text(CommandContext& context, const std::string& file, const std::string& text) {
  if (file != "-") return write_whole_file(file, text);
  context.console.result(text);
  return {};
}

Result<void> write_export(CommandContext& context, const ExportOptions& options,
                          const StudyExport& study) {
  if (options.format == "csv") return write_text(context, options.file, csv_export(study));
  if (options.format == "json") {
    return write_text(context, options.file,
                      dump_json(json_export(study, build_info().version), 2) + "\n");
  }
  if (options.file == "-") {
    return fail(ErrorKind::usage, fmt::format("{} does not go to stdout", options.format), "FILE",
                options.format == "optuna" ? "name a new file" : "name a folder");
  }
  if (options.format == "optuna") return write_optuna_study(study, options.file);
  return write_mlflow_experiment(study, options.file);
}

ExitCode export_study(CommandContext& context, const ExportOptions& options) {
  const auto study = open_stored_study(context, options.study);
  if (!study) return context.console.error(study.error());
  warn_if_unfinished(context, study->record);
  const auto everything = read_study_export(*study, study_context(context, *study));
  if (!everything) return context.console.error(everything.error());
  const auto written = write_export(context, options, *everything);
  if (!written) return context.console.error(written.error());
  if (options.file != "-") {
    context.console.message(fmt::format("wrote {}", printable_line(options.file)));
  }
  return ExitCode::ok;
}

}  // namespace

void add_export_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<ExportOptions>(
      program, context, "export", "Write a study for other programs",
      "  steptune export resnet-nightly --format csv trials.csv\n"
      "  steptune export resnet-nightly --format optuna optuna.db && optuna-dashboard "
      "sqlite:///optuna.db\n"
      "  steptune export resnet-nightly --format mlflow mlruns && MLFLOW_ALLOW_FILE_STORE=true "
      "mlflow ui --backend-store-uri mlruns",
      export_study);
  command->add_option("STUDY", options->study, "Study, by name or file")->required();
  command
      ->add_option("FILE", options->file,
                   "What to write: a file, or - for stdout (csv, json); a new file (optuna); a "
                   "folder (mlflow)")
      ->required();
  add_value_option(*command, "--format", options->format, "FORMAT",
                   "csv: a line per trial; json: everything, see export.schema.json; optuna: a "
                   "storage for Optuna 3 and later; mlflow: an experiment of a file store")
      ->required()
      ->check(CLI::IsMember({"csv", "json", "optuna", "mlflow"}));
}

}  // namespace steptune
