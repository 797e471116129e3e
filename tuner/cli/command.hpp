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

/// What every command works with. Options are bound to its members while parsing; the chosen
/// command leaves what is to be done in `action`.
struct CommandContext {
  Console& console;
  const Clock& clock;
  std::string db;  ///< as given; empty: STEPTUNE_DB, else `.steptune/history.db`
  std::string color = "auto";
  bool json = false;
  bool print_version = false;
  std::function<ExitCode()> action;
  bool separated = false;                         ///< the command line holds `--`
  std::vector<std::string> after_separator = {};  ///< words after it, as they were typed
  /// Of a command whose JSON says, too, why it could not begin: says so on stdout. Set once the
  /// command line names the command.
  std::function<void(const Error&)> tell_in_json = {};

  /// Whether all of so many arguments stand behind `--`, so that none was given in front of it.
  [[nodiscard]] bool are_all_separated(std::size_t arguments) const {
    return separated && arguments <= after_separator.size();
  }
  /// `parsed` with the words after `--` as they were typed: CLI11 takes "[a,b]" apart.
  [[nodiscard]] std::vector<std::string> as_typed(std::vector<std::string> parsed) const;
  [[nodiscard]] std::filesystem::path database() const;
  /// ` --db PATH` if the user gave one, for commands that are advised; quoted for a shell.
  [[nodiscard]] std::string database_option() const;
};

inline constexpr const char* k_program_description =
    "Steptune finds the configuration that trains your model fastest, or cheapest, before the long "
    "run starts.";

/// `--db` and `--color` for a command; `--json` is added by commands that print results.
void add_common_options(CLI::App& command, CommandContext& context);
void add_json_option(CLI::App& command, CommandContext& context);

/// For options: a number from `least` to `most`; NaN is none.
[[nodiscard]] CLI::Validator number_within(double least, double most);
/// The same of finite numbers above 0.
[[nodiscard]] CLI::Validator positive_number();
/// For options whose absence means something else: `--time "$TIME"` of a variable that is not set
/// is a mistake.
[[nodiscard]] CLI::Validator not_empty();

/// A subcommand with its description, its examples (shown before the options) and what it does once
/// everything is parsed.
CLI::App* add_command(CLI::App& program, CommandContext& context, const std::string& name,
                      const std::string& description, const std::string& examples);

/// One function per command, each in its own file `<name>_command.cpp`.
void add_run_command(CLI::App& program, CommandContext& context);
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

/// The program with all its commands.
void add_all_commands(CLI::App& program, CommandContext& context);

/// Parses and runs one command line; everything goes out through `console`.
[[nodiscard]] ExitCode run_program(int argc, const char* const* argv, Console& console,
                                   const Clock& clock);

}  // namespace steptune
