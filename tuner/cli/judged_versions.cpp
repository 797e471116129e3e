// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/judged_versions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/study/judge_defaults.hpp"
#include "tuner/survey/interpreter_versions.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Returns the command with `words` in front of it.
CommandWords with_front(CommandWords words, const CommandWords& command) {
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

/// Returns the versions to compare. If there is only one, puts the unchanged command before it.
std::vector<CommandWords> with_unchanged(const CommandWords& command,
                                         std::vector<CommandWords> versions) {
  if (versions.size() == 1) versions.insert(versions.begin(), command);
  return versions;
}

}  // namespace

std::vector<CommandWords> split_commands(const std::vector<std::string>& words) {
  std::vector<CommandWords> commands(words.empty() ? 0 : 1);
  for (const std::string& word : words) {
    if (word == k_next_command) {
      commands.emplace_back();
    } else {
      commands.back().push_back(word);
    }
  }
  return commands;
}

Result<void> check_not_empty(const std::vector<CommandWords>& commands) {
  if (!commands.empty() && std::ranges::none_of(commands, &CommandWords::empty)) return {};
  return fail(ErrorKind::usage,
              commands.empty() ? "there is no command after --" : "a command is empty", "",
              "for example: steptune judge -- python3 a.py --- python3 b.py");
}

CommandWords in_folder(const fs::path& folder, const CommandWords& command) {
  return with_front({"env", "-C", folder.string()}, command);
}

Result<std::vector<CommandWords>> with_each_variable(const CommandWords& command,
                                                     const std::vector<std::string>& assignments) {
  std::vector<CommandWords> commands;
  for (const std::string& assignment : assignments) {
    const std::size_t sign = assignment.find('=');
    const bool is_assignment = sign != std::string::npos && sign > 0 && assignment[0] != '-';
    if (!is_assignment) {
      return fail(ErrorKind::usage,
                  fmt::format("{} sets no variable", printable_line(assignment, 80)), "--env",
                  "give NAME=VALUE, such as OMP_NUM_THREADS=4");
    }
    commands.push_back(with_front({"env", assignment}, command));
  }
  return with_unchanged(command, std::move(commands));
}

CommandWords in_venv(const CommandWords& command, const fs::path& folder, const std::string& path) {
  return with_front(
      {"env", "VIRTUAL_ENV=" + folder.string(), "PATH=" + (folder / "bin").string() + ":" + path},
      command);
}

Result<std::vector<CommandWords>> in_each_venv(const CommandWords& command,
                                               const std::vector<std::string>& folders,
                                               const Environment& environment) {
  std::vector<CommandWords> commands;
  const std::string path = environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  if (command.front().find('/') != std::string::npos) {
    const std::string python = python_of(command, fs::current_path(), path);
    if (python.find('/') != std::string::npos) {
      return fail(ErrorKind::usage, "is the same interpreter in each virtual environment", python,
                  "begin the command with python3, without a folder");
    }
  }
  for (const std::string& given : folders) {
    const fs::path folder = fs::absolute(given).lexically_normal();
    std::error_code error;
    if (!fs::exists(folder / "bin" / "python", error)) {
      return fail(ErrorKind::usage, "is no virtual environment of Python", given,
                  "give a folder with bin/python: python3 -m venv FOLDER");
    }
    commands.push_back(in_venv(command, folder, path));
  }
  return with_unchanged(command, std::move(commands));
}

}  // namespace steptune
