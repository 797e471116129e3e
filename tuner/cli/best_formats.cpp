// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/best_formats.hpp"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "common/shell_quote.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "trial_runner/runner_kinds.hpp"
#include "tuner/cli/best_apply.hpp"
#include "tuner/exports/python_edits.hpp"
#include "tuner/report/setting_changes.hpp"
#include "tuner/report/trial_command.hpp"
#include "tuner/study/config_files.hpp"

namespace steptune {
namespace {

/// Quotes words for a shell. For a script, keeps every byte. For a terminal, escapes control
/// characters in a form that bash and zsh read.
std::string shell_line(const std::vector<std::string>& words) {
  return (isatty(STDOUT_FILENO) == 1 ? shell_quoted(words) : posix_quoted(words)) + "\n";
}

/// Prints on stderr what the printed command line leaves out: folder, environment variables, the
/// hook.
void advise(CommandContext& context, const BestChoice& choice, bool has_environment) {
  std::error_code fault;
  const auto here = std::filesystem::current_path(fault);
  if (!fault && here != choice.study.working_directory) {
    context.console.message(fmt::format(
        "run it in {}", printable_line(choice.study.working_directory.string(), k_any_length)));
  }
  if (has_environment) return;
  if (!choice.command.environment.empty()) {
    context.console.message("it was measured with environment variables: see --format env");
  }
  if (choice.command.needs_hook()) {
    context.console.message(fmt::format(
        "it was measured with settings that the program has no options for: start it with '{} -- "
        "...', or see --format python",
        exec_words(context, choice)));
  }
}

/// Warns if a configuration file does not have the measured values: the run would then differ from
/// the trial.
void advise_of_files(CommandContext& context, const BestChoice& choice) {
  for (const std::string& command :
       pending_edits(choice, shell_quoted(choice.requested_study) + context.database_option())) {
    context.console.message(
        fmt::format("it was measured with values in a configuration file: '{}' writes them into "
                    "the file, '{}' runs it with an edited copy",
                    command, exec_words(context, choice)));
  }
}

/// Adds copies of configuration files to the run, because the provider's machines do not have the
/// files.
void carry_files(const BestChoice& choice, LongRun& run) {
  RenderedCommand command =
      measured_command(choice.study, choice.trial, carried_config_paths(choice.study));
  run.argv = std::move(command.argv);
  run.environment = std::move(command.environment);
  run.files = carried_config_files(choice.study, choice.trial.configuration);
}

/// Warns if the choice needs the hook. The format is for other machines. They do not have the hook.
void advise_without_hook(CommandContext& context, const BestChoice& choice) {
  if (!choice.command.needs_hook()) return;
  context.console.message(
      "it was measured with settings that the program has no options for, which this format cannot "
      "set: see --format python");
}

/// Adds the hook and the trial's settings to the run. Only some formats can pass them on.
Result<void> take_hook_along(const BestChoice& choice, LongRun& run) {
  auto folder = python_hook_folder();
  if (!folder) return tl::unexpected(folder.error());
  PythonHookRequest request = *choice.command.hook;
  request.mode = HookMode::apply;
  set_hook_variables(request, run.environment);
  run.python_path = *std::move(folder);
  return {};
}

ExitCode print_args(CommandContext& context, const StoredStudy& study, const BestChoice& choice) {
  if (choice.command.argv.empty()) {
    return context.console.error(
        {ErrorKind::not_found,
         fmt::format("study \"{}\" was replayed and has no command", study.record.name), "",
         "see --format json"});
  }
  context.console.result(shell_line(choice.command.argv));
  advise(context, choice, /*has_environment=*/false);
  return ExitCode::ok;
}

ExitCode print_environment(CommandContext& context, const LongRun& run) {
  std::string text;
  for (const auto& [name, value] : run.environment)
    text += fmt::format("{}={}", name, shell_line({value}));
  context.console.result(text);
  if (text.empty()) context.console.message("the study sets no environment variables");
  return ExitCode::ok;
}

ExitCode print_python(CommandContext& context, const StoredStudy& study, const BestChoice& choice) {
  const auto& knobs = choice.study.hooks.python;
  if (!knobs || knobs->empty()) {
    return context.console.error(
        {ErrorKind::not_found,
         fmt::format(
             "study \"{}\" sets nothing in the program: its settings are options of the command",
             study.record.name),
         "", "see --format args"});
  }
  const auto seen = read_hook_log(study);
  if (!seen) return context.console.error(seen.error());
  const auto usual = render_command(choice.study, choice.study.baseline);
  const auto best = render_command(choice.study, choice.trial.configuration);
  const bool same_command = best.argv == usual.argv && best.environment == usual.environment;
  context.console.result(choice.command.needs_hook() || same_command
                             ? python_edits(choice.command.hook->knobs, *seen)
                             : "# nothing to change in the program\n");
  if (!same_command) {
    context.console.message(
        "the command is another one than the baseline's: see --format args and --format env");
  }
  return ExitCode::ok;
}

ExitCode print_launcher(CommandContext& context, const BestChoice& choice,
                        const Result<std::vector<std::string>>& words) {
  if (!words) return context.console.error(words.error());
  context.console.result(shell_line(*words));
  advise(context, choice, /*has_environment=*/true);
  const Resources resources = choice.study.runner->resources_of(choice.trial.configuration);
  if (resources.instance_count > 1) {
    context.console.message(fmt::format(
        "it was measured on {} machines: start it on each, and add the rendezvous address",
        resources.instance_count));
  }
  return ExitCode::ok;
}

template <typename Text>
ExitCode print_text(CommandContext& context, const Result<Text>& text) {
  if (!text) return context.console.error(text.error());
  if constexpr (std::is_same_v<Text, Json>) {
    context.console.json_result(*text);
  } else {
    context.console.result(shown(*text));
  }
  return ExitCode::ok;
}

ExitCode print_form(CommandContext& context, const BestChoice& choice, const LongRunForm& form,
                    LongRun run, bool takes_files_along) {
  if (!takes_files_along) {
    advise_without_hook(context, choice);
    return print_text(context, form.write(run));
  }
  carry_files(choice, run);
  if (choice.command.needs_hook()) {
    if (const auto taken = take_hook_along(choice, run); !taken) {
      return context.console.error(taken.error());
    }
  }
  return print_text(context, form.write(run));
}

}  // namespace

std::vector<LaunchFormat> launch_formats() {
  std::vector<LaunchFormat> formats{
      {"args", "the command line, quoted for a shell"},
      {"env", "its environment, KEY=VALUE"},
      {"python", "the lines to change in a program that was tuned unchanged"},
      {"torchrun", "its command line"},
      {"accelerate", "its command line"},
      {"dockerfile", "ENV and CMD"},
      {"github", "lines for $GITHUB_OUTPUT"}};
  for (const RunnerKind* kind : runner_kinds()) {
    const LongRunForm* form = kind->long_run_form();
    if (form != nullptr) {
      formats.push_back({std::string(kind->name()), std::string(form->description())});
    }
  }
  return formats;
}

std::string exec_words(const CommandContext& context, const BestChoice& choice) {
  const std::string trial =
      choice.objective.empty() ? "" : fmt::format(" --trial {}", choice.trial.number);
  return fmt::format("steptune exec {}{}{}", shell_quoted(choice.requested_study),
                     context.database_option(), trial);
}

ExitCode print_launch_format(CommandContext& context, const StoredStudy& study,
                             const BestChoice& choice, const std::string& format) {
  const RunnerKind* kind = find_runner_kind(format);
  LongRun run{study.record.name,
              choice.trial.configuration,
              choice.command.argv,
              choice.command.environment,
              choice.study.runner->resources_of(choice.trial.configuration),
              choice.command.launch};
  const LongRunForm* form = kind == nullptr ? nullptr : kind->long_run_form();
  const bool takes_files_along = form != nullptr && form->takes_files_along(run);
  if (!takes_files_along) advise_of_files(context, choice);
  if (format == "args") return print_args(context, study, choice);
  if (format == "python") return print_python(context, study, choice);
  if (format == "dockerfile") {
    advise_without_hook(context, choice);
    return print_text(context, dockerfile_lines(run));
  }
  if (form != nullptr) {
    return print_form(context, choice, *form, std::move(run), takes_files_along);
  }
  auto variables = long_run_variables(choice, context.database(), context.console.environment(),
                                      /*reports=*/false);
  if (!variables) return context.console.error(variables.error());
  run.environment = *std::move(variables);
  if (format == "env") return print_environment(context, run);
  if (format == "github") return print_text(context, github_output(run));
  return print_launcher(context, choice,
                        format == "torchrun" ? torchrun_words(run) : accelerate_words(run));
}

}  // namespace steptune
