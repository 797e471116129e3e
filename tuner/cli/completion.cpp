// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"

#include <vector>

#include <fmt/format.h>

namespace steptune {
namespace {

struct CommandWords {
  std::string name;
  std::string description;
  std::vector<std::pair<std::string, std::string>> options;  ///< `--limit` and its description
};

std::vector<CommandWords> commands_of(const CLI::App& program) {
  std::vector<CommandWords> commands;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    CommandWords words{command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        words.options.emplace_back("--" + name, option->get_description());
      }
    }
    commands.push_back(std::move(words));
  }
  return commands;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> names(const std::vector<CommandWords>& commands) {
  std::vector<std::string> result;
  for (const auto& command : commands)
    result.push_back(command.name);
  return result;
}

std::vector<std::string> option_names(const CommandWords& command) {
  std::vector<std::string> result;
  for (const auto& [name, description] : command.options)
    result.push_back(name);
  return result;
}

/// In single quotes of zsh and fish.
std::string quoted(const std::string& text, const std::string& escaped_quote) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += escaped_quote;
    } else {
      result += c;
    }
  }
  return result + "'";
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::string cases;
  for (const auto& command : commands) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, joined(option_names(command)));
  }
  return fmt::format(
      "# bash completion for steptune\n"
      "_steptune() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n"
      "{}"
      "  esac\n"
      "  case \"$current\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _steptune steptune\n",
      joined(names(commands)), cases);
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  std::string list;
  std::string cases;
  for (const auto& command : commands) {
    list += fmt::format("    {}\n", quoted(command.name + ":" + command.description, "'\\''"));
    cases += fmt::format("    {}) options=({}) ;;\n", command.name, joined(option_names(command)));
  }
  return fmt::format(
      "#compdef steptune\n"
      "_steptune() {{\n"
      "  local -a commands options\n"
      "  commands=(\n"
      "{}"
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe 'command' commands\n"
      "    return\n"
      "  fi\n"
      "  case \"${{words[2]}}\" in\n"
      "{}"
      "  esac\n"
      "  if [[ \"${{words[CURRENT]}}\" == -* ]]; then\n"
      "    compadd -- \"${{options[@]}}\"\n"
      "  else\n"
      "    _files\n"
      "  fi\n"
      "}}\n"
      // Found by name in a folder of completions, the file is the function's body, called at once.
      "if [[ \"${{funcstack[1]}}\" == _steptune ]]; then\n"
      "  _steptune \"$@\"\n"
      "else\n"
      "  compdef _steptune steptune\n"
      "fi\n",
      list, cases);
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string script = "# fish completion for steptune\n";
  const std::string all = joined(names(commands));
  for (const auto& command : commands) {
    script +=
        fmt::format("complete -c steptune -f -n 'not __fish_seen_subcommand_from {}' -a {} -d {}\n",
                    all, command.name, quoted(command.description, "\\'"));
    for (const auto& [name, description] : command.options) {
      script +=
          fmt::format("complete -c steptune -n '__fish_seen_subcommand_from {}' -l {} -d {}\n",
                      command.name, name.substr(2), quoted(description, "\\'"));
    }
  }
  return script;
}

}  // namespace

std::string completion_script(const CLI::App& program, const std::string& shell) {
  const auto commands = commands_of(program);
  if (shell == "zsh") return zsh_script(commands);
  if (shell == "fish") return fish_script(commands);
  return bash_script(commands);
}

}  // namespace steptune
