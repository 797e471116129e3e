// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "trial_runner/hooks/hook_reach.hpp"
#include "tuner/cli/best_choice.hpp"
#include "tuner/cli/child_environment.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

struct ExecOptions {
  std::string study;
  std::vector<std::string> words;
  std::int64_t trial = 0;  ///< 0: the recommended one
  bool quiet = false;
};

/// This program becomes the command: its exit status, terminal and signals are its own. Returns
/// only if it cannot be started.
ExitCode become(CommandContext& context, const std::vector<std::string>& argv,
                const std::map<std::string, std::string>& variables) {
  std::vector<std::string> words = argv;
  std::vector<std::string> environment = child_environment(variables);
  // Ignored signals would stay ignored.
  ::signal(SIGPIPE, SIG_DFL);
  ::execvpe(argv.front().c_str(), pointers_to(words).data(), pointers_to(environment).data());
  return context.console.error(
      {ErrorKind::runner,
       fmt::format("cannot start \"{}\": {}", argv.front(), std::strerror(errno)), "", ""});
}

/// What the study's command has options for does not come with another command.
void warn_of_options(CommandContext& context, const StoredStudy& study, const BestChoice& choice) {
  for (const CommandPart& part : choice.study.command) {
    for (const document::StringTemplate& word : part.args) {
      if (!word.has_parameters()) continue;
      return context.console.warning(fmt::format(
          "the study sets options of its command, too: see 'steptune best {}{} --format args'",
          study.record.name, context.database_option()));
    }
  }
}

/// A setting that cannot arrive would be a long run without it.
void warn_of_reach(CommandContext& context, const std::vector<std::string>& argv, bool own,
                   const BestChoice& choice) {
  const auto folder = own ? choice.study.working_directory : std::filesystem::current_path();
  if (const auto why = why_out_of_reach(argv, folder)) {
    context.console.warning(fmt::format("the settings do not reach the program: {}", *why));
  }
}

ExitCode exec(CommandContext& context, const ExecOptions& options) {
  const auto study = open_stored_study(context, options.study);
  if (!study) return context.console.error(study.error());
  const auto choice = choose_trial(*study, options.trial);
  if (!choice) return context.console.error(choice.error());
  const bool own = options.words.empty();
  const std::vector<std::string> argv =
      own ? choice->command.argv : context.as_typed(options.words);
  if (argv.empty()) {
    return context.console.error({ErrorKind::usage,
                                  fmt::format("study \"{}\" has no command", study->record.name),
                                  "", "give one after --"});
  }
  const auto variables =
      long_run_variables(*choice, context.console.environment(), /*reports=*/false);
  if (!variables) return context.console.error(variables.error());
  if (!own) warn_of_options(context, *study, *choice);
  if (choice->command.needs_hook()) warn_of_reach(context, argv, own, *choice);
  if (!options.quiet) {
    context.console.message(fmt::format(
        "steptune: trial {} of {}: {}", choice->trial.number, study->record.name,
        configuration_text(choice->trial.configuration, parameter_order(study->record.document))));
  }
  if (own && ::chdir(choice->study.working_directory.c_str()) != 0) {
    return context.console.error({ErrorKind::runner,
                                  fmt::format("cannot enter: {}", std::strerror(errno)),
                                  choice->study.working_directory.string(), ""});
  }
  return become(context, argv, *variables);
}

}  // namespace

void add_exec_command(CLI::App& program, CommandContext& context) {
  auto options = std::make_shared<ExecOptions>();
  CLI::App* command =
      add_command(program, context, "exec", "Run a command with the recommended settings",
                  "  steptune exec train -- python3 train.py --epochs 90\n"
                  "  steptune exec train              the study's own command\n"
                  "The program itself is started, its exit status is the command's; 'steptune "
                  "follow' does the same and\ncompares it with what was promised.");
  command->add_option("STUDY", options->study, "Study, by name or file")->required();
  command
      ->add_option("COMMAND", options->words,
                   "After --: the command [default: the study's, in its folder]")
      ->option_text("-- COMMAND");
  command
      ->add_option("--trial", options->trial,
                   "Trial whose configuration runs [default: the recommended one]")
      ->option_text("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--quiet", options->quiet, "Do not say which settings are used");
  command->callback([&context, options] {
    context.action = [&context, options] { return exec(context, *options); };
  });
}

}  // namespace steptune
