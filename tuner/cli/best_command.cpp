// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <fmt/format.h>

#include "tuner/cli/best_apply.hpp"
#include "tuner/cli/best_choice.hpp"
#include "tuner/cli/best_formats.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/audit.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/study/config_files.hpp"

namespace steptune {
namespace {

struct BestOptions {
  std::string study;
  std::string format = "text";
  std::string objective;
  bool verbose = false;
  ApplyOptions apply;
};

Json best_json(const CommandContext& context, const StoredStudy& study, const BestChoice& choice) {
  Json json = document_json();
  json["study"] = json_of(study.record);
  json["trial"] = choice.trial.number;
  json["trial_study"] = choice.from_study;
  json["configuration"] = to_json(choice.trial.configuration);
  json["argv"] = choice.command.argv;
  json["knobs"] = Json::object();
  if (choice.command.hook) {
    for (const auto& [name, value] : choice.command.hook->knobs)
      json["knobs"][name] = to_json(value);
  }
  json["environment"] = Json::object();
  for (const auto& [name, value] : choice.command.environment)
    json["environment"][name] = value;
  json["working_directory"] = choice.study.working_directory.string();
  json["config_files"] = config_files_json(choice.study, choice.trial.configuration);
  json["recommendation"] =
      choice.is_recommended()
          ? recommendation_json(*choice.recommendation,
                                recommendation_context(context, study, choice.trial.configuration))
          : Json(nullptr);
  return json;
}

std::string best_text(const CommandContext& context, const StoredStudy& study,
                      const BestChoice& choice, bool verbose) {
  const auto words = recommendation_context(context, study, choice.trial.configuration);
  const std::size_t width = context.console.stdout_width();
  std::string text;
  const FinalistResult* finalist =
      choice.recommendation ? finalist_of(*choice.recommendation, choice.trial.number) : nullptr;
  if (choice.is_recommended()) {
    text = result_text(*choice.recommendation, words, width);
    if (verbose) text += details_text(*choice.recommendation, words, width);
  } else if (words.changes.empty()) {
    text = fmt::format("keep today's settings (trial {})\n", choice.trial.number);
  } else {
    text = finalist == nullptr
               ? fmt::format("trial {}, not confirmed by fresh launches\n", choice.trial.number)
               : wrapped(finalist_text(*finalist, words), width);
    text += change_lines(words.changes, width);
  }
  text += wrapped_entry(fmt::format("config  {}", configuration_text(choice.trial.configuration,
                                                                     words.parameter_order)),
                        width, 8);
  if (choice.command.argv.empty()) return text;
  text += fmt::format("in      {}\n", choice.study.working_directory.string());
  for (const auto& [name, value] : choice.command.environment) {
    text += fmt::format("env     {}={}\n", name, shell_quoted(value));
  }
  for (const std::string& command :
       pending_edits(choice, shell_quoted(choice.requested_study) + context.database_option())) {
    text += fmt::format("edit    {}\n", command);
  }
  const std::string hooked =
      choice.command.needs_hook() ? exec_words(context, choice) + " -- " : "";
  text += fmt::format("run     {}{}\n", hooked, shell_quoted(choice.command.argv));
  return text;
}

/// Audits the choice and prints a warning on stderr for each failed check. Returns the results of
/// all checks, for the JSON document.
Result<std::vector<AuditResult>> audited(CommandContext& context, const StoredStudy& study,
                                         const BestChoice& choice) {
  const auto night = open_study_of_night(context, study, choice.from_study);
  if (!night) return tl::unexpected(night.error());
  auto results = audit(*night ? **night : study, choice.study, choice.trial, choice.recommendation,
                       describe_machine(SystemFiles{}));
  if (!results) return results;
  for (const std::string& line : audit_warnings(*results))
    context.console.warning(line);
  return results;
}

ExitCode print_best(CommandContext& context, const BestOptions& options) {
  const auto opened = open_choice(context, options.study, 0, options.objective);
  if (!opened) return context.console.error(opened.error());
  const auto& [study, choice] = *opened;
  warn_if_unfinished(context, study.record);
  const auto audit = audited(context, study, choice);
  if (!audit) return context.console.error(audit.error());
  if (!options.apply.file.empty()) return apply_best(context, choice, options.apply);
  if (context.json || options.format == "json") {
    Json json = best_json(context, study, choice);
    json["audit"] = json_of(*audit);
    context.console.json_result(json);
  } else if (options.format == "text") {
    context.console.result(best_text(context, study, choice, options.verbose));
  } else {
    return print_launch_format(context, study, choice, options.format);
  }
  return ExitCode::ok;
}

void add_apply_options(CLI::App& command, ApplyOptions& options) {
  CLI::Option* apply = add_value_option(
      command, "--apply", options.file, "FILE",
      "Write the values into this YAML, JSON, TOML or INI configuration, comments and "
      "order kept, after showing the difference [default: none]");
  add_value_option(command, "--map", options.keys, "PARAMETER=KEY",
                   "Where the file keeps a parameter, as batch_size=train.loader.batch_size; "
                   "PARAMETER= leaves it out; may be repeated [default: the key called like it]")
      ->expected(1)
      ->take_all()
      ->needs(apply);
  CLI::Option* dry_run =
      command.add_flag("--dry-run", options.dry_run, "Only show the difference")->needs(apply);
  command.add_flag("--yes", options.yes, "Write without asking")->needs(apply)->excludes(dry_run);
}

}  // namespace

void add_best_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<BestOptions>(
      program, context, "best", "Print the configuration to train with",
      "  steptune best\n"
      "  eval \"$(steptune best resnet-nightly --format args)\"\n"
      "  steptune best --apply configs/train.yaml --map workers=data.num_workers",
      print_best);
  command->add_option("STUDY", options->study, "Study, by name or file [default: the latest]");
  std::vector<std::string> formats{"text", "json"};
  std::string described = "text";
  for (const LaunchFormat& format : launch_formats()) {
    formats.push_back(format.name);
    described += fmt::format("; {}: {}", format.name, format.description);
  }
  CLI::Option* format = add_value_option(*command, "--format", options->format, "FORMAT",
                                         described + "; json [default: text]")
                            ->check(CLI::IsMember(formats));
  add_value_option(*command, "--objective", options->objective, "OBJECTIVE",
                   "Objective to be best in [default: the recommendation]");
  command->add_flag("--verbose", options->verbose,
                    "Print the evidence, too: other finalists, ties, notes");
  add_apply_options(*command, options->apply);
  format->excludes(command->get_option("--apply"));
  add_json_option(*command, context);
}

}  // namespace steptune
