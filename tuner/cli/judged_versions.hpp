// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/environment.hpp"
#include "common/error.hpp"

namespace steptune {

/// A command: program and arguments.
using CommandWords = std::vector<std::string>;

/// Returns the commands between the separators (`k_next_command`); none if there are no words.
[[nodiscard]] std::vector<CommandWords> split_commands(const std::vector<std::string>& words);
/// Returns `usage` if there is no command, or if a command is empty.
[[nodiscard]] Result<void> check_not_empty(const std::vector<CommandWords>& commands);

/// Returns the command to be run in a folder (`without_tree` is the reverse).
[[nodiscard]] CommandWords in_folder(const std::filesystem::path& folder,
                                     const CommandWords& command);

/// Returns one command for each assignment (`NAME=VALUE`). If there is only one, the unchanged
/// command comes first. Returns `usage` for a text that is no assignment.
[[nodiscard]] Result<std::vector<CommandWords>> with_each_variable(
    const CommandWords& command, const std::vector<std::string>& assignments);

/// Returns the command as it runs in a virtual environment of Python. `path` is PATH without the
/// environment. The result has three words in front of the original command.
[[nodiscard]] CommandWords in_venv(const CommandWords& command, const std::filesystem::path& folder,
                                   const std::string& path);

/// Returns the command in each of these virtual environments of Python. If there is only one, the
/// unchanged command comes first. Returns `usage` for a folder without `bin/python`. Also returns
/// `usage` if the command names its interpreter by a path, because all versions would run that
/// interpreter.
[[nodiscard]] Result<std::vector<CommandWords>> in_each_venv(
    const CommandWords& command, const std::vector<std::string>& folders,
    const Environment& environment);

}  // namespace steptune
