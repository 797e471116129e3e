// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/machine/cpus.hpp"
#include "common/system_reason.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/hook_reach.hpp"
#include "trial_runner/launch/launch_words.hpp"
#include "trial_runner/launch/rank_cpus.hpp"
#include "tuner/cli/best_choice.hpp"
#include "tuner/cli/child_command.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/input_file.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/cli/tuner_process.hpp"
#include "tuner/history/open_if_present.hpp"
#include "tuner/loop/trial_spec.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/trial_command.hpp"
#include "tuner/study/config_files.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

/// The longest tuning time if none is given.
constexpr const char* k_tuning_time = "5m";

struct ExecOptions {
  std::string study;
  std::vector<std::string> words;
  std::int64_t trial = 0;  ///< 0 means the recommended trial
  bool quiet = false;
  bool tune = false;
  std::string name;  ///< the study's name; used with `tune` only, like the members below; if empty,
                     ///< the script's name
  std::string time;  ///< tuning time; if empty, `k_tuning_time`
  bool fresh = false;
  std::optional<double> samples_per_step;
  std::optional<double> planned_samples;
  std::string input;
};

/// Returns advice for a program that could not be started; empty if the error message needs no
/// advice.
std::string what_to_mend(int fault, const std::string& program) {
  std::error_code unreadable;
  const bool is_path = program.find('/') != std::string::npos;
  if (fault == EACCES) {
    return "make it executable (chmod +x), or begin the command with what runs it, such as python3";
  }
  if (fault == ENOENT && is_path && std::filesystem::exists(program, unreadable)) {
    return "the interpreter that its first line (#!) names is missing: install it, or correct the "
           "line";
  }
  return fault == ENOENT ? missing_program_hint(program) : "";
}

/// Replaces this process by the command. The command takes over exit status, terminal and signals.
/// Returns only if the command cannot be started.
ExitCode become(CommandContext& context, const std::vector<std::string>& argv,
                const std::map<std::string, std::string>& variables) {
  const std::vector<std::string> environment = child_environment(argv, variables);
  restore_pipe_signal();
  ::execvpe(argv.front().c_str(), exec_pointers(argv).data(), exec_pointers(environment).data());
  const int fault = errno;
  return context.console.error(
      {ErrorKind::runner,
       fmt::format("cannot start \"{}\": {}", argv.front(), system_reason(fault)), "",
       what_to_mend(fault, argv.front())});
}

/// Warns that the study sets options of its own command. Another command does not get these
/// options.
void warn_of_options(CommandContext& context, const BestChoice& choice) {
  for (const CommandPart& part : choice.study.command) {
    for (const document::StringTemplate& word : part.args) {
      if (!word.has_parameters() && word.others().empty()) continue;
      return context.console.warning(fmt::format(
          "the study sets options of its command, too: see 'steptune best {}{} --format args'",
          choice.requested_study, context.database_option()));
    }
  }
}

/// True if the trial's processes had exactly the CPUs that are available here. They may have had
/// fewer: on a smaller machine, or if several trials ran at a time. Binding a long run to these
/// CPUs would leave the other CPUs idle.
bool have_all_cpus(const std::string& rank_cpus) {
  const auto allowed = allowed_cpus();
  return allowed && cpus_of_ranks(rank_cpus) == *allowed;
}

/// Returns the command with its processes bound to CPUs as in the trial. If the trial did not use
/// all CPUs, returns the command unchanged.
std::vector<std::string> words_as_measured(const BestChoice& choice) {
  const auto& launch = choice.command.launch;
  const auto parts = choice.trial.placement.find(k_rank_cpus_placement);
  if (!launch || parts == choice.trial.placement.end() || !have_all_cpus(parts->second)) {
    return choice.command.argv;
  }
  const LauncherSupport* support =
      find_launcher(choice.study.runner->traits().launchers, launch->with);
  if (support == nullptr) return choice.command.argv;
  return bound_words(*launch, *support, choice.command.argv, parts->second)
      .value_or(choice.command.argv);
}

/// Writes the trial's copies of configuration files beside its log. Changes the command so that it
/// reads these copies.
Result<void> use_config_copies(const CommandContext& context, BestChoice& choice) {
  if (choice.study.config_files.empty()) return {};
  const auto folder = log_directory(context.database(), choice.from_study);
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  const auto log = trial_log_path(folder, choice.trial.number, choice.trial.attempt);
  choice.command = measured_command(choice.study, choice.trial, config_copies(choice.study, log));
  return write_config_copies(choice.study, choice.trial.configuration, log);
}

/// Warns if the settings cannot reach the program. The program then runs without them.
void warn_of_reach(CommandContext& context, const std::vector<std::string>& argv, bool own,
                   const BestChoice& choice) {
  const auto folder = own ? choice.study.working_directory : std::filesystem::current_path();
  if (const auto why = why_out_of_reach(argv, folder)) {
    context.console.warning(fmt::format("the settings do not reach the program: {}", *why));
  }
}

/// Returns an option that only `--tune` uses, if one was given without it; otherwise null.
const char* option_of_tuning(const ExecOptions& options) {
  if (!options.time.empty()) return "--time";
  if (!options.name.empty()) return "--name";
  if (options.fresh) return "--new";
  if (options.samples_per_step) return "--samples-per-step";
  return options.planned_samples ? "--samples" : nullptr;
}

/// Reads the options of `--tune`; returns an error for an unusable combination.
Result<AttachedTuning> wanted_tuning(CommandContext& context, const ExecOptions& options) {
  AttachedTuning tuning;
  tuning.argv = context.after_separator;
  if (tuning.argv.empty()) {
    return fail(ErrorKind::usage, "--tune needs the command of a PyTorch program", "",
                "give it after --: steptune exec --tune -- python3 train.py");
  }
  if (options.words.size() >= tuning.argv.size()) {
    return fail(
        ErrorKind::usage,
        fmt::format("both a study, \"{}\", and --tune are given", printable_line(options.study)),
        "", "leave one of them out: --name gives the new study its name");
  }
  if (options.trial > 0) {
    return fail(ErrorKind::usage, "both --trial and --tune are given", "", "leave one of them out");
  }
  const auto time_s = tuning_time_s(options.time.empty() ? k_tuning_time : options.time);
  if (!time_s) return tl::unexpected(time_s.error());
  tuning.longest_s = **time_s;
  tuning.name = options.name.empty() ? study_name_of(tuning.argv) : options.name;
  if (auto named = check_study_name(tuning.name); !named) return tl::unexpected(named.error());
  tuning.samples_per_step = options.samples_per_step;
  tuning.planned_samples = options.planned_samples;
  tuning.fresh = options.fresh;
  tuning.quiet = options.quiet;
  if (tuning.fresh || !std::filesystem::exists(context.database())) return tuning;
  const auto former = open_stored_study(context, tuning.name);
  if (!former && former.error().kind != ErrorKind::not_found) {
    return tl::unexpected(former.error());
  }
  if (!former) return tuning;
  return fail(ErrorKind::usage,
              fmt::format("the history already has a study \"{}\", and a long run cannot continue "
                          "another run's trials",
                          tuning.name),
              "",
              fmt::format("use its result: 'steptune exec {} -- COMMAND'; or tune again: add "
                          "--new, or another --name",
                          tuning.name));
}

ExitCode exec_tuned(CommandContext& context, const ExecOptions& options) {
  const auto tuning = wanted_tuning(context, options);
  if (!tuning) return context.console.error(tuning.error());
  if (const auto taken = take_input_from(options.input); !taken) {
    return context.console.error(taken.error());
  }
  const auto untuned = [&](const std::string& why) {
    context.console.warning(fmt::format("the run is not tuned: {}", why));
    return become(context, tuning->argv, {});
  };
  if (const auto why = why_out_of_reach(tuning->argv, std::filesystem::current_path())) {
    return untuned(*why);
  }
  // Check that the history can be opened and close it at once. The tuner opens it later. An error
  // at that time would come too late, because the program would already run under the hook.
  if (const auto history = open_if_present(context.database(), context.clock); !history) {
    return untuned(history.error().text());
  }
  const auto variables = leave_tuner_behind(context, *tuning);
  if (!variables) return untuned(variables.error().text());
  return become(context, tuning->argv, *variables);
}

ExitCode exec(CommandContext& context, const ExecOptions& options) {
  if (options.tune) return exec_tuned(context, options);
  if (const char* option = option_of_tuning(options)) {
    return context.console.error({ErrorKind::usage,
                                  fmt::format("{} is for tuning the run itself", option), "",
                                  "add --tune, or leave it out"});
  }
  if (options.study.empty() || context.are_all_separated(1 + options.words.size())) {
    return context.console.error({ErrorKind::usage, "STUDY is required", "",
                                  "name a study: steptune exec STUDY -- COMMAND; or tune the run "
                                  "itself: steptune exec --tune -- COMMAND"});
  }
  auto opened = open_choice(context, options.study, options.trial);
  if (!opened) return context.console.error(opened.error());
  const StoredStudy* study = &opened->study;
  BestChoice* choice = &opened->choice;
  const bool own = options.words.empty();
  if (auto made = own ? use_config_copies(context, *choice) : Result<void>(); !made) {
    return context.console.error(made.error());
  }
  const std::vector<std::string> argv =
      own ? words_as_measured(*choice) : context.as_typed(options.words);
  if (argv.empty()) {
    return context.console.error({ErrorKind::usage,
                                  fmt::format("study \"{}\" has no command", study->record.name),
                                  "", "give one after --"});
  }
  const auto variables = long_run_variables(*choice, context.database(),
                                            context.console.environment(), /*reports=*/false);
  if (!variables) return context.console.error(variables.error());
  warn_if_unfinished(context, study->record);
  if (!own) warn_of_options(context, *choice);
  if (choice->command.needs_hook()) warn_of_reach(context, argv, own, *choice);
  if (!options.quiet) {
    context.console.message(fmt::format(
        "steptune: trial {} of {}: {}", choice->trial.number, choice->from_study,
        configuration_text(choice->trial.configuration, parameter_order(study->record.document))));
  }
  // The study's own command reads the study's input file on stdin, as in the trials.
  const std::string input =
      options.input.empty() && own ? choice->study.standard_input.string() : options.input;
  if (const auto taken = take_input_from(input); !taken) {
    return context.console.error(taken.error());
  }
  if (own && ::chdir(choice->study.working_directory.c_str()) != 0) {
    return context.console.error({ErrorKind::runner,
                                  fmt::format("cannot enter: {}", system_reason(errno)),
                                  choice->study.working_directory.string(),
                                  "the study's command runs there: bring the folder back, or give "
                                  "the command after --, which runs here"});
  }
  return become(context, argv, *variables);
}

}  // namespace

void add_exec_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<ExecOptions>(
      program, context, "exec", "Run a command with the recommended settings",
      "  steptune exec train -- python3 train.py --epochs 90\n  steptune exec train              "
      "the study's own command\n  steptune exec --tune -- python3 train.py --epochs 90\nThe exit "
      "status is the command's. 'steptune follow' also compares the run with its study's "
      "promise.\n--tune needs no study: the run itself is tuned while it runs.",
      exec);
  command->add_option("STUDY", options->study,
                      "Study, by name or file [default: none, with --tune]");
  command
      ->add_option("COMMAND", options->words,
                   "After --: the command [default: the study's, in its folder]")
      ->option_text("[-- COMMAND]");
  add_value_option(*command, "--trial", options->trial, "N",
                   "Trial whose configuration runs [default: the recommended one]")
      ->check(positive_number());
  command->add_flag("--tune", options->tune,
                    "Tune the run during its first minutes, with settings that do not change the "
                    "training; it continues with those shown to be faster");
  add_value_option(*command, "--time", options->time, "DURATION",
                   "With --tune: longest tuning time, such as 90s or 10m [default: 5m]");
  add_value_option(*command, "--name", options->name, "NAME",
                   "With --tune: name of the study [default: after the script]");
  command->add_flag("--new", options->fresh,
                    "With --tune: begin a new study even if one of this name exists");
  add_value_option(*command, "--samples-per-step", options->samples_per_step, "N",
                   "With --tune: samples of an optimizer step [default: counted]")
      ->check(positive_number());
  add_value_option(*command, "--samples", options->planned_samples, "N",
                   "With --tune: samples that the run will process [default: not known]")
      ->check(positive_number());
  add_value_option(*command, "--stdin", options->input, "FILE",
                   "File that the command reads as its standard input [default: the study's for "
                   "its own command, else this program's]");
  command->add_flag("--quiet", options->quiet, "Print only errors and warnings");
}

}  // namespace steptune
