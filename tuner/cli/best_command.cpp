// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "tuner/cli/best_choice.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/python_edits.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

struct BestOptions {
  std::string study;
  std::string format = "text";
  std::string objective;
};

Json best_json(const CommandContext& context, const StoredStudy& study, const BestChoice& choice) {
  Json json;
  json["schema_version"] = k_json_schema_version;
  json["study"] = study_json(study.record);
  json["trial"] = choice.trial.number;
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
  json["recommendation"] =
      choice.recommendation
          ? recommendation_json(*choice.recommendation,
                                recommendation_context(context, study.record, study.objectives))
          : Json(nullptr);
  return json;
}

/// How a program is started with what the hook puts into it.
std::string exec_words(const CommandContext& context, const StoredStudy& study) {
  return fmt::format("steptune exec {}{}", study.record.name, context.database_option());
}

/// With what brings the hook in, if there is anything to put into the program.
ExitCode print_environment(CommandContext& context, const BestChoice& choice) {
  const auto variables =
      long_run_variables(choice, context.console.environment(), /*reports=*/false);
  if (!variables) return context.console.error(variables.error());
  std::string text;
  for (const auto& [name, value] : *variables)
    text += fmt::format("{}={}\n", name, shell_quoted(value));
  context.console.result(text);
  return ExitCode::ok;
}

std::string best_text(const CommandContext& context, const StoredStudy& study,
                      const BestChoice& choice) {
  const auto words = recommendation_context(context, study.record, study.objectives);
  std::string text;
  if (choice.recommendation) {
    text = recommendation_text(*choice.recommendation, words);
    text.erase(text.find("next   "));
  } else {
    text = fmt::format("best   {}\n",
                       configuration_text(choice.trial.configuration, words.parameter_order));
    text += fmt::format("       trial {}, from the search trials only, not confirmed\n",
                        choice.trial.number);
  }
  if (choice.command.argv.empty()) return text;
  text += fmt::format("in     {}\n", choice.study.working_directory.string());
  for (const auto& [name, value] : choice.command.environment) {
    text += fmt::format("env    {}={}\n", name, shell_quoted(value));
  }
  const std::string hooked = choice.command.needs_hook() ? exec_words(context, study) + " -- " : "";
  text += fmt::format("run    {}{}\n", hooked, shell_quoted(choice.command.argv));
  return text;
}

/// What `args` leaves out, for people who paste it.
void advise(CommandContext& context, const StoredStudy& study, const BestChoice& choice) {
  std::error_code fault;
  const auto here = std::filesystem::current_path(fault);
  if (!fault && here != choice.study.working_directory) {
    context.console.message(fmt::format("run it in {}", choice.study.working_directory.string()));
  }
  if (!choice.command.environment.empty()) {
    context.console.message("it was measured with environment variables: see --format env");
  }
  if (choice.command.needs_hook()) {
    context.console.message(fmt::format(
        "it was measured with settings that the program has no options for: start it with '{} -- "
        "...', or see --format python",
        exec_words(context, study)));
  }
}

ExitCode print_python(CommandContext& context, const StoredStudy& study, const BestChoice& choice) {
  if (!choice.command.hook) {
    return context.console.error(
        {ErrorKind::not_found,
         fmt::format("study \"{}\" puts nothing into the program: its settings are options",
                     study.record.name),
         "", "see --format args"});
  }
  HookLog seen;
  const auto trials = study.history.standing_trials(study.record.id, 1);
  if (!trials) return context.console.error(trials.error());
  for (const TrialRecord& trial : *trials) {
    if (!trial.hook.is_null()) seen = HookLog::from_json(trial.hook);
  }
  context.console.result(python_edits(choice.command.hook->knobs, seen));
  return ExitCode::ok;
}

ExitCode print_best(CommandContext& context, const BestOptions& options) {
  const auto study = open_stored_study(context, options.study);
  if (!study) return context.console.error(study.error());
  const auto choice = choose_best(*study, options.objective);
  if (!choice) return context.console.error(choice.error());
  if (context.json || options.format == "json") {
    context.console.json_result(best_json(context, *study, *choice));
  } else if (options.format == "args") {
    if (choice->command.argv.empty()) {
      return context.console.error(
          {ErrorKind::not_found,
           fmt::format("study \"{}\" was replayed and has no command", study->record.name), "",
           "see --format json"});
    }
    context.console.result(shell_quoted(choice->command.argv) + "\n");
    advise(context, *study, *choice);
  } else if (options.format == "python") {
    return print_python(context, *study, *choice);
  } else if (options.format == "env") {
    return print_environment(context, *choice);
  } else {
    context.console.result(best_text(context, *study, *choice));
  }
  return ExitCode::ok;
}

}  // namespace

void add_best_command(CLI::App& program, CommandContext& context) {
  auto options = std::make_shared<BestOptions>();
  CLI::App* command = add_command(program, context, "best", "Print the configuration to train with",
                                  "  steptune best\n"
                                  "  eval \"$(steptune best resnet-nightly --format args)\"");
  command->add_option("STUDY", options->study, "Study, by name or file [default: the latest]");
  command
      ->add_option("--format", options->format,
                   "text; args: the command line, quoted for a shell; env: its environment, "
                   "KEY=VALUE; python: the lines to change in a program that was tuned as it is; "
                   "json [default: text]")
      ->option_text("FORMAT")
      ->check(CLI::IsMember({"text", "args", "env", "python", "json"}));
  command
      ->add_option("--objective", options->objective,
                   "Objective to be best in [default: the recommendation]")
      ->option_text("OBJECTIVE");
  add_json_option(*command, context);
  command->callback([&context, options] {
    context.action = [&context, options] { return print_best(context, *options); };
  });
}

}  // namespace steptune
