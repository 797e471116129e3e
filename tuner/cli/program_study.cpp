// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/program_study.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/json.hpp"
#include "common/text.hpp"
#include "tuner/cli/initiation.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/cli/survey_text.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/cli/write_program_study.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_separate =
    "write a program's command after --: steptune run -- python3 train.py";

/// True if Steptune wrote the file for this command, even if it was edited since.
bool is_written_from(const std::string& text, const std::vector<std::string>& argv) {
  // The heading of a very long command is cut, and may belong to another command.
  const bool is_whole = printable_line(shell_quoted(argv), k_any_length) == quoted_command(argv);
  return is_whole &&
         (text.starts_with(init_heading(argv)) || text.starts_with(survey_heading(argv)));
}

/// Returns the file if it exists and belongs to this command; nullopt if it does not exist.
Result<std::optional<std::string>> existing_file(CommandContext& context, const std::string& file,
                                                 const std::vector<std::string>& argv,
                                                 const ProgramOptions& options) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  const auto document = read_json_file(file);
  if (!document) return tl::unexpected(document.error());
  const auto command = document->find("command");
  const bool has_this_command = command != document->end() && *command == command_template(argv);
  const auto text = read_whole_file(file);
  if (!has_this_command && !(text && is_written_from(*text, argv))) {
    return fail(ErrorKind::usage, "is the study of another command", file,
                "give this one a name with --name, or remove the file");
  }
  const std::string line = options_line(options);
  if (!line.empty() && !(text && text->find("\n" + line) != std::string::npos)) {
    return fail(ErrorKind::usage, "was written before, with other options", file,
                "to continue with it, leave the options out or edit it; to write a new one, remove "
                "it or give another --name");
  }
  if (!options.quiet)
    context.console.message(fmt::format("continues with {}", printable_line(file)));
  return file;
}

/// Returns this folder's only study file.
Result<StudyFile> only_study_file() {
  const std::vector<std::string> files = study_files_here();
  if (files.size() == 1) return StudyFile{files.front()};
  if (files.empty()) {
    return fail(ErrorKind::usage, "no study file is given, and this folder has none", "",
                "steptune init -- COMMAND writes one");
  }
  return fail(ErrorKind::usage,
              fmt::format("no study file is given, and this folder has several: {}",
                          printable_line(fmt::format("{}", fmt::join(files, ", ")))),
              "", "name one of them");
}

/// Returns the study file of a program; writes it if there is none.
Result<StudyFile> study_file_for(CommandContext& context, const std::vector<std::string>& argv,
                                 const ProgramOptions& options) {
  if (argv.empty()) {
    return fail(ErrorKind::usage, "there is no command after --", "",
                "for example: steptune run -- python3 train.py");
  }
  if (options.semantic && options.safe) {
    return fail(ErrorKind::usage, "--safe excludes --semantic", "",
                "--safe does not change the training: leave one of them out");
  }
  const std::string name = options.name.empty() ? study_name_of(argv) : options.name;
  if (const auto named = check_study_name(name); !named) return tl::unexpected(named.error());
  const std::string file = name + ".study.json";
  const auto existing = existing_file(context, file, argv, options);
  if (!existing) return tl::unexpected(existing.error());
  if (*existing) return StudyFile{**existing};
  if (options.before_inspection) {
    if (const auto ready = options.before_inspection(); !ready)
      return tl::unexpected(ready.error());
  }
  return write_program_study(context, argv, options, name, file);
}

}  // namespace

void add_program_options(CLI::App& command, ProgramOptions& options) {
  add_value_option(command, "--name", options.name, "NAME",
                   "With a command: name of the study [default: after the script]");
  command.add_flag("--safe", options.safe,
                   "With a command: leave out settings that may change the loss (precision, TF32, "
                   "compilation); without --safe they are tuned with a guard on the loss");
  command.add_flag("--semantic", options.semantic,
                   "With a command: also tune what changes the training (batch size), with a "
                   "guard on the loss");
  add_value_option(command, "--samples-per-step", options.samples_per_step, "N",
                   "With a command: samples of an optimizer step [default: counted]")
      ->check(positive_number());
  add_value_option(
      command, "--samples", options.planned_samples, "N",
      "With a command: samples that the long run will process [default: by its --epochs, "
      "--max-steps and the like, else not known]")
      ->check(positive_number());
  add_value_option(command, "--stdin", options.input, "FILE",
                   "With a command: file that each trial reads as its standard input [default: "
                   "none]");
}

Result<StudyFile> study_file_of(CommandContext& context, const std::vector<std::string>& words,
                                const ProgramOptions& options) {
  if (!context.separated) {
    std::vector<std::string> given = given_options(options);
    if (!options.name.empty()) given.insert(given.begin(), "--name");
    if (!given.empty()) {
      return fail(
          ErrorKind::usage,
          fmt::format("{} needs a program's command after --, and there is none", given.front()),
          "", "leave it out, or change the study file instead");
    }
    if (words.empty()) return only_study_file();
    const std::string& file = words.front();
    if (file.ends_with(".py") || file.ends_with(".sh")) {
      return fail(ErrorKind::usage, "is a program, not a study file", file, k_separate);
    }
    if (words.size() == 1) return StudyFile{file};
    return fail(ErrorKind::usage,
                fmt::format("unexpected argument \"{}\"", printable_line(words[1])), "",
                k_separate);
  }
  if (words.size() > context.after_separator.size()) {
    return fail(ErrorKind::usage,
                fmt::format("both a study file, \"{}\", and a command are given",
                            printable_line(words.front())),
                "", "give one of them");
  }
  return study_file_for(context, context.as_typed(words), options);
}

}  // namespace steptune
