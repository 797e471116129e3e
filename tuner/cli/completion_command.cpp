// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "tuner/cli/command.hpp"
#include "tuner/cli/completion.hpp"

namespace steptune {

void add_completion_command(CLI::App& program, CommandContext& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      add_command(program, context, "completion", "Print a completion script for a shell",
                  "  source <(steptune completion bash)\n"
                  "  steptune completion zsh > ~/.zfunc/_steptune\n"
                  "  steptune completion fish > "
                  "~/.config/fish/completions/steptune.fish");
  command->add_option("SHELL", *shell, "Shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&context, shell] {
    context.action = [&context, shell] {
      context.console.result(completion_script(*shell));
      return ExitCode::ok;
    };
  });
}

}  // namespace steptune
