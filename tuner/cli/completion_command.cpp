// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <fmt/format.h>

#include "tuner/cli/command.hpp"
#include "tuner/cli/completion.hpp"

namespace steptune {

void add_completion_command(CLI::App& program, CommandContext& context) {
  auto [command, shell] = add_command<std::string>(
      program, context, "completion", "Print a completion script for a shell",
      "  source <(steptune completion bash)\n"
      "  steptune completion zsh > ~/.zfunc/_steptune\n"
      "  steptune completion fish > "
      "~/.config/fish/completions/steptune.fish",
      [](CommandContext& within, const std::string& given) {
        within.console.result(completion_script(given));
        return ExitCode::ok;
      });
  command->add_option("SHELL", *shell, "Shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

}  // namespace steptune
