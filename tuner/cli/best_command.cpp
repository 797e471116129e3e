// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "tuner/cli/command.hpp"
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

/// The configuration to use, where it comes from, and how to start it.
struct BestChoice {
  TrialRecord trial;
  std::optional<Recommendation> recommendation;  ///< if the trial is the recommended one
  RenderedCommand command;
  std::filesystem::path working_directory;
};

Result<TrialRecord> best_by(const StoredStudy& study, std::size_t objective) {
  const auto standing = read_standing(study, objective);
  if (!standing) return tl::unexpected(standing.error());
  if (const TrialRecord* best = standing->incumbent()) return *best;
  return fail(ErrorKind::not_found,
              fmt::format("study \"{}\" has no completed trial yet", study.record.name), "",
              fmt::format("see 'steptune leaderboard {} --all'", study.record.name));
}

Result<TrialRecord> chosen_trial(const StoredStudy& study, const BestOptions& options,
                                 const std::optional<Recommendation>& recommendation) {
  if (!options.objective.empty()) {
    const auto index = objective_index(study.objectives, options.objective);
    if (!index) return tl::unexpected(index.error());
    // Ties in the first objective are settled by the recommendation, which knows what else counts.
    if (*index > 0 || !recommendation) return best_by(study, *index);
  }
  if (!recommendation) return best_by(study, 0);
  return study.history.trial(study.record.id, recommendation->incumbent_trial);
}

/// Variables that the study sets, and the thread counts that the trial ran under: without them the
/// long run is not what was measured.
std::map<std::string, std::string> environment_of(const TrialRecord& trial,
                                                  std::map<std::string, std::string> rendered) {
  for (const auto& [name, value] : trial.placement) {
    if (name.ends_with("_NUM_THREADS")) rendered.emplace(name, value);
  }
  return rendered;
}

Result<BestChoice> choose(const StoredStudy& study, const BestOptions& options) {
  auto recommendation = stored_recommendation(study.record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  auto trial = chosen_trial(study, options, *recommendation);
  if (!trial) return tl::unexpected(trial.error());
  const auto spec = stored_spec(study.record);
  if (!spec) return tl::unexpected(spec.error());
  BestChoice choice;
  choice.command = render_command(*spec, trial->configuration);
  choice.command.environment = environment_of(*trial, std::move(choice.command.environment));
  choice.working_directory = spec->working_directory;
  if (*recommendation && (*recommendation)->incumbent_trial == trial->number) {
    choice.recommendation = std::move(*recommendation);
  }
  choice.trial = std::move(*trial);
  return choice;
}

Json best_json(const CommandContext& context, const StoredStudy& study, const BestChoice& choice) {
  Json json;
  json["schema_version"] = k_json_schema_version;
  json["study"] = study_json(study.record);
  json["trial"] = choice.trial.number;
  json["configuration"] = to_json(choice.trial.configuration);
  json["argv"] = choice.command.argv;
  json["environment"] = Json::object();
  for (const auto& [name, value] : choice.command.environment)
    json["environment"][name] = value;
  json["working_directory"] = choice.working_directory.string();
  json["recommendation"] =
      choice.recommendation
          ? recommendation_json(*choice.recommendation,
                                recommendation_context(context, study.record, study.objectives))
          : Json(nullptr);
  return json;
}

std::string environment_lines(const BestChoice& choice) {
  std::string text;
  for (const auto& [name, value] : choice.command.environment) {
    text += fmt::format("{}={}\n", name, shell_quoted(value));
  }
  return text;
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
  text += fmt::format("in     {}\n", choice.working_directory.string());
  for (const auto& [name, value] : choice.command.environment) {
    text += fmt::format("env    {}={}\n", name, shell_quoted(value));
  }
  text += fmt::format("run    {}\n", shell_quoted(choice.command.argv));
  return text;
}

/// What `args` leaves out, for people who paste it.
void advise(CommandContext& context, const BestChoice& choice) {
  std::error_code fault;
  const auto here = std::filesystem::current_path(fault);
  if (!fault && here != choice.working_directory) {
    context.console.message(fmt::format("run it in {}", choice.working_directory.string()));
  }
  if (!choice.command.environment.empty()) {
    context.console.message("it was measured with environment variables: see --format env");
  }
}

ExitCode print_best(CommandContext& context, const BestOptions& options) {
  const auto study = open_stored_study(context, options.study);
  if (!study) return context.console.error(study.error());
  const auto choice = choose(*study, options);
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
    advise(context, *choice);
  } else if (options.format == "env") {
    context.console.result(environment_lines(*choice));
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
                   "KEY=VALUE; json [default: text]")
      ->option_text("FORMAT")
      ->check(CLI::IsMember({"text", "args", "env", "json"}));
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
