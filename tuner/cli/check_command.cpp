// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "search/searcher.hpp"
#include "trial_runner/launch/launch_words.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/program_study.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/factory/study_parts.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/study_summary.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/study/config_files.hpp"

namespace steptune {
namespace {

struct CheckOptions {
  std::vector<std::string> words;  ///< a study file, or the command after `--`
  ProgramOptions program;
  std::size_t show = 3;
};

/// Returns the configurations that the study would try if the searcher learned nothing: baseline,
/// hints and the searcher's first suggestions. Stops before suggestions that depend on results.
/// `bayes` starts with Sobol points, so the preview uses the Sobol searcher. After these points,
/// `bayes` suggests other configurations.
Result<std::vector<Suggestion>> first_trials(StudySpec study, std::size_t count) {
  std::vector<Suggestion> previews{{study.baseline, "baseline", {}}};
  for (const Configuration& hint : study.search.hints)
    previews.push_back({hint, "try", {}});
  if (study.search.searcher == "bayes") study.search.searcher = "sobol";
  auto searcher = make_study_searcher(study);
  if (!searcher) return tl::unexpected(searcher.error());
  while (previews.size() < count) {
    std::vector<Configuration> running;
    for (const Suggestion& preview : previews)
      running.push_back(preview.configuration);
    // The first suggestion never depends on results. If the searcher learns, later suggestions do.
    if (previews.size() > 1 && (*searcher)->learns()) break;
    auto suggestion =
        (*searcher)->suggest({static_cast<std::int64_t>(previews.size()) + 1, running, nullptr});
    if (!suggestion) return tl::unexpected(suggestion.error());
    if (!*suggestion) break;
    previews.push_back(**std::move(suggestion));
  }
  if (previews.size() > count) previews.resize(count);
  return previews;
}

/// Returns the environment with the hook's settings, but without the hook's folder in PYTHONPATH:
/// that folder is not part of the study.
std::map<std::string, std::string> shown_environment(const RenderedCommand& command) {
  auto environment = command.environment;
  if (command.hook) set_hook_variables(*command.hook, environment);
  return environment;
}

/// Returns the command as a person would type it.
std::vector<std::string> argv_to_type(const RenderedCommand& command) {
  return command.launch ? typed_words(*command.launch, command.argv) : command.argv;
}

/// Returns a line for each configuration file, with the values that the trial's copy gets:
/// `   ds.json with bf16.enabled=true`.
std::string files_text(const StudySpec& study, const Configuration& configuration) {
  std::string text;
  for (const auto& [name, config] : study.config_files) {
    const ConfigValues wanted = config_values(config, configuration);
    Configuration by_key;
    for (const auto& [parameter, key] : wanted.keys)
      by_key.set(key, *wanted.values.find(parameter));
    text += fmt::format("   {} with {}\n", printable_line(config.file.filename().string(), 80),
                        printable_line(by_key.text()));
  }
  return text;
}

std::string preview_text(const StudySpec& study, const std::vector<Suggestion>& previews) {
  std::string text;
  for (std::size_t i = 0; i < previews.size(); ++i) {
    const RenderedCommand command = render_command(study, previews[i].configuration);
    std::string line;
    for (const auto& [name, value] : shown_environment(command)) {
      line += fmt::format("{}={} ", name, shell_quoted(value));
    }
    line += shell_quoted(argv_to_type(command));
    text +=
        fmt::format("\n{}  {}  {}\n", i + 1, previews[i].origin,
                    configuration_text(previews[i].configuration, parameter_order(study.document)));
    if (!command.argv.empty()) text += fmt::format("   {}\n", line);
    text += files_text(study, previews[i].configuration);
  }
  return text;
}

Json preview_json(const StudySpec& study, const Suggestion& preview) {
  const RenderedCommand command = render_command(study, preview.configuration);
  Json json;
  json["origin"] = preview.origin;
  json["configuration"] = to_json(preview.configuration);
  json["argv"] = argv_to_type(command);
  json["environment"] = Json::object();
  for (const auto& [name, value] : shown_environment(command))
    json["environment"][name] = value;
  json["config_files"] = config_files_json(study, preview.configuration);
  return json;
}

Json check_json(const StudySpec& study, const SpaceSize& size,
                const std::vector<Suggestion>& previews) {
  Json json = document_json();
  json["name"] = study.name;
  json["fingerprint"] = study.fingerprint;
  json["space"] = {{"parameters", study.space.parameters().size()},
                   {"combinations", size.product ? Json(*size.product) : Json(nullptr)},
                   {"feasible", size.feasible ? Json(*size.feasible) : Json(nullptr)}};
  json["study"] = study.document;
  json["trials"] = Json::array();
  for (const Suggestion& preview : previews)
    json["trials"].push_back(preview_json(study, preview));
  return json;
}

/// If the runner would refuse all trials, prints this error and returns its exit code. The study
/// file is valid.
ExitCode end_of_check(CommandContext& context, const std::vector<SummaryLine>& runner_lines) {
  const auto fatal = std::ranges::find_if(runner_lines, &SummaryLine::is_fatal);
  if (fatal == runner_lines.end()) return ExitCode::ok;
  return context.console.error({ErrorKind::runner, "no trial can start: " + fatal->text,
                                fatal->name, "change \"runner\" in the study file"});
}

ExitCode check_study(CommandContext& context, const CheckOptions& options) {
  const auto file = study_file_of(context, options.words, options.program);
  if (!file) return context.console.error(file.error());
  if (file->ended_by != ExitCode::ok) return file->ended_by;
  const auto study = open_study_file(context, file->path);
  if (!study) return context.console.error(study.error());
  const auto previews = first_trials(*study, options.show);
  if (!previews) return context.console.error(previews.error());
  const SpaceSize size = space_size(study->space);
  const std::vector<SummaryLine> runner_lines = study->runner->summary(study->baseline);
  if (context.json) {
    context.console.json_result(check_json(*study, size, *previews));
    return end_of_check(context, runner_lines);
  }
  std::string text = study_summary(*study, size, runner_lines);
  if (!previews->empty()) {
    text += "\nfirst trials, if no result guides the search:\n" + preview_text(*study, *previews);
  }
  context.console.result(text);
  return end_of_check(context, runner_lines);
}

}  // namespace

void add_check_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<CheckOptions>(
      program, context, "check", "Validate a study file and show what would be run",
      "  steptune check study.json\n"
      "  steptune check study.json --show 10\n"
      "  steptune check -- python3 train.py     examine the program, write a study "
      "file",
      check_study);
  command
      ->add_option(
          "STUDY", options->words,
          "Study file [default: the folder's], or after -- a training command to write one for")
      ->option_text("[STUDY | -- COMMAND]");
  add_program_options(*command, options->program);
  add_value_option(*command, "--show", options->show, "N",
                   "Number of command lines to show, starting with the baseline's [default: 3]")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1000}));
  add_json_option(*command, context);
}

}  // namespace steptune
