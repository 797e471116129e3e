// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
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

  /// True if all of `arguments` arguments are after `--`, so that none is in front of it.
  [[nodiscard]] bool are_all_separated(std::size_t arguments) const {
    return separated && arguments <= after_separator.size();
  }
  /// Returns `parsed` with the words after `--` as they were typed. CLI11 gets placeholders for
  /// some.
  [[nodiscard]] std::vector<std::string> as_typed(std::vector<std::string> parsed) const;
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
/// Refuses empty values of options that may be left out: `--time "$TIME"` with an unset variable is
/// a mistake.
[[nodiscard]] CLI::Validator not_empty();

/// Adds a subcommand with its description and its examples, which help shows before the options.
CLI::App* add_command(CLI::App& program, CommandContext& context, const std::string& name,
                      const std::string& description, const std::string& examples);

/// Each function adds one command; command `<name>` is in `<name>_command.cpp`.
void add_run_command(CLI::App& program, CommandContext& context);
void add_judge_command(CLI::App& program, CommandContext& context);
void add_bisect_command(CLI::App& program, CommandContext& context);
void add_campaign_command(CLI::App& program, CommandContext& context);
void add_mcp_command(CLI::App& program, CommandContext& context);
void add_retune_command(CLI::App& program, CommandContext& context);
void add_init_command(CLI::App& program, CommandContext& context);
void add_check_command(CLI::App& program, CommandContext& context);
void add_rehearse_command(CLI::App& program, CommandContext& context);
void add_leaderboard_command(CLI::App& program, CommandContext& context);
void add_show_command(CLI::App& program, CommandContext& context);
void add_best_command(CLI::App& program, CommandContext& context);
void add_exec_command(CLI::App& program, CommandContext& context);
void add_compare_command(CLI::App& program, CommandContext& context);
void add_importance_command(CLI::App& program, CommandContext& context);
void add_bottleneck_command(CLI::App& program, CommandContext& context);
void add_scaling_command(CLI::App& program, CommandContext& context);
void add_studies_command(CLI::App& program, CommandContext& context);
void add_report_command(CLI::App& program, CommandContext& context);
void add_serve_command(CLI::App& program, CommandContext& context);
void add_export_command(CLI::App& program, CommandContext& context);
void add_import_command(CLI::App& program, CommandContext& context);
void add_gc_command(CLI::App& program, CommandContext& context);
void add_follow_command(CLI::App& program, CommandContext& context);
void add_reports_command(CLI::App& program, CommandContext& context);
void add_doctor_command(CLI::App& program, CommandContext& context);
void add_pools_command(CLI::App& program, CommandContext& context);
void add_prices_command(CLI::App& program, CommandContext& context);
void add_schema_command(CLI::App& program, CommandContext& context);
void add_completion_command(CLI::App& program, CommandContext& context);
void add_version_command(CLI::App& program, CommandContext& context);
void add_help_command(CLI::App& program, CommandContext& context);

/// Adds all commands to the program.
void add_all_commands(CLI::App& program, CommandContext& context);

/// Parses and runs one command line; prints everything through `console`.
[[nodiscard]] ExitCode run_program(int argc, const char* const* argv, Console& console,
                                   const Clock& clock);

}  // namespace steptune
