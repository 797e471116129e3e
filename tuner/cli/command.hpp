// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/clock.hpp"
#include "tuner/cli/console.hpp"
#include "tuner/cli/exit_code.hpp"

namespace steptune {

/// Data that every command uses. Parsing stores options in its members; the chosen command stores
/// its work in `action`.
struct CommandContext {
  Console& console;
  const Clock& clock;
  std::string db;  ///< as given; if empty, STEPTUNE_DB or `.steptune/history.db`
  std::string color = "auto";
  bool json = false;
  bool print_version = false;
  std::function<ExitCode()> action;
  bool separated = false;                         ///< the command line has `--`
  std::vector<std::string> after_separator = {};  ///< words after `--`, as they were typed
  /// Prints a JSON document on stdout that says why a command could not start. Set while parsing,
  /// by commands that have such a document.
  std::function<void(const Error&)> print_error_json = {};

  /// True if all arguments (`arguments` is their number) are after `--`.
  [[nodiscard]] bool are_all_separated(std::size_t arguments) const {
    return separated && arguments <= after_separator.size();
  }
  /// Returns `parsed` with the words after `--` as they were typed. For some of these words, CLI11
  /// has parsed a placeholder.
  [[nodiscard]] std::vector<std::string> as_typed(std::vector<std::string> parsed) const;
  /// Prints a result on stdout: `as_text()`, or with `--json` `as_json()`. Returns `ok`.
  ExitCode print(const std::function<Json()>& as_json,
                 const std::function<std::string()>& as_text) const;
  [[nodiscard]] std::filesystem::path database() const;
  /// Returns ` --db PATH`, quoted for a shell, if the user gave that option. Messages add it to the
  /// commands that they recommend.
  [[nodiscard]] std::string database_option() const;
};

inline constexpr const char* k_program_description =
    "Steptune finds the configuration that trains your model fastest, or cheapest, before the long "
    "run starts.";

/// Adds `--db` and `--color` to a command. Commands that print results add `--json`.
void add_common_options(CLI::App& command, CommandContext& context);
void add_json_option(CLI::App& command, CommandContext& context);

/// Accepts numbers from `least` to `most`, but not NaN.
[[nodiscard]] CLI::Validator number_within(double least, double most);
/// Accepts finite numbers above 0.
[[nodiscard]] CLI::Validator positive_number();
/// Refuses empty texts.
[[nodiscard]] CLI::Validator not_empty();

/// Adds a subcommand with its description and its examples. Help shows the examples before the
/// options. Calls `act(context)` if the command is chosen.
CLI::App* add_command(CLI::App& program, CommandContext& context, const std::string& name,
                      const std::string& description, const std::string& examples,
                      std::function<ExitCode(CommandContext&)> act);
/// Adds a subcommand whose action takes options: `act(context, options)`. Returns the subcommand
/// and its options. The subcommand owns the options.
template <typename Options, typename Act>
std::pair<CLI::App*, Options*> add_command(CLI::App& program, CommandContext& context,
                                           const std::string& name, const std::string& description,
                                           const std::string& examples, Act act) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(program, context, name, description, examples,
                  [options, act](CommandContext& within) { return act(within, *options); });
  return {command, options.get()};
}

/// Adds an option with one value or several, called `value` in help. Refuses an empty text: `--time
/// "$TIME"` with an unset variable is a mistake.
template <typename T>
CLI::Option* add_value_option(CLI::App& command, const std::string& name, T& to,
                              const std::string& value, const std::string& description) {
  CLI::Option* option = command.add_option(name, to, description)->option_text(value);
  constexpr bool k_is_text =
      std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::string>>;
  if constexpr (k_is_text) option->check(not_empty());
  return option;
}
/// Adds an option that may be repeated, with one value each time. An option that takes several
/// values would also take the `--` in front of a command.
CLI::Option* add_list_option(CLI::App& command, const std::string& name,
                             std::vector<std::string>& to, const std::string& value,
                             const std::string& description);

/// Type of a function that adds one command; command `<name>` is in `<name>_command.cpp`.
using AddCommand = void(CLI::App& program, CommandContext& context);
AddCommand add_run_command, add_judge_command, add_campaign_command, add_bisect_command,
    add_mcp_command, add_retune_command, add_init_command, add_check_command, add_rehearse_command,
    add_leaderboard_command, add_show_command, add_compare_command, add_importance_command,
    add_bottleneck_command, add_scaling_command, add_studies_command, add_best_command,
    add_exec_command, add_report_command, add_serve_command, add_export_command, add_import_command,
    add_gc_command, add_follow_command, add_reports_command, add_doctor_command, add_pools_command,
    add_prices_command, add_schema_command, add_completion_command, add_version_command,
    add_help_command;

/// Adds all commands to the program.
void add_all_commands(CLI::App& program, CommandContext& context);

/// Parses and runs one command line; prints everything through `console`.
[[nodiscard]] ExitCode run_program(int argc, const char* const* argv, Console& console,
                                   const Clock& clock);

}  // namespace steptune
