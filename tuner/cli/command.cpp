// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/command.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/help_formatter.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

/// Accepts numbers for which `fits` is true. `kind` names these numbers in the error.
CLI::Validator number_that(std::function<bool(double)> fits, std::string kind) {
  return {[fits = std::move(fits), kind = std::move(kind)](std::string& text) {
            const auto number = parse_finite(text);
            if (number && fits(*number)) return std::string();
            return fmt::format("\"{}\" is not a {}", printable_line(text, 40), kind);
          },
          ""};
}

}  // namespace

std::vector<std::string> CommandContext::as_typed(std::vector<std::string> parsed) const {
  const std::size_t count = std::min(parsed.size(), after_separator.size());
  std::copy_backward(after_separator.end() - static_cast<std::ptrdiff_t>(count),
                     after_separator.end(), parsed.end());
  return parsed;
}

ExitCode CommandContext::print(const std::function<Json()>& as_json,
                               const std::function<std::string()>& as_text) const {
  if (json) {
    console.json_result(as_json());
  } else {
    console.result(as_text());
  }
  return ExitCode::ok;
}

std::filesystem::path CommandContext::database() const {
  if (!db.empty()) return db;
  if (const auto named = console.environment()("STEPTUNE_DB"); named && !named->empty()) {
    return *named;
  }
  return k_default_database;
}

std::string CommandContext::database_option() const {
  return db.empty() ? std::string() : " --db " + shell_quoted(db);
}

void add_common_options(CLI::App& command, CommandContext& context) {
  command
      .add_option("--db", context.db,
                  std::string("Database of all studies [default: STEPTUNE_DB, else ") +
                      k_default_database + "]")
      ->option_text("PATH");
  command
      .add_option("--color", context.color,
                  "Colours: auto, always or never; NO_COLOR and FORCE_COLOR are respected "
                  "[default: auto]")
      ->option_text("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void add_json_option(CLI::App& command, CommandContext& context) {
  command.add_flag("--json", context.json, "Print one JSON document instead of text");
}

CLI::Validator number_within(double least, double most) {
  return number_that([least, most](double number) { return number >= least && number <= most; },
                     fmt::format("number from {:g} to {:g}", least, most));
}

CLI::Validator positive_number() {
  return number_that([](double number) { return number > 0.0; }, "positive number");
}

CLI::Validator not_empty() {
  return {[](std::string& text) { return std::string(text.empty() ? "no value is given" : ""); },
          ""};
}

CLI::Option* add_list_option(CLI::App& command, const std::string& name,
                             std::vector<std::string>& to, const std::string& value,
                             const std::string& description) {
  return add_value_option(command, name, to, value, description)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

CLI::App* add_command(CLI::App& program, CommandContext& context, const std::string& name,
                      const std::string& description, const std::string& examples,
                      std::function<ExitCode(CommandContext&)> act) {
  CLI::App* command = program.add_subcommand(name, description);
  command->group("Commands");
  command->footer(examples);
  command->formatter(std::make_shared<HelpFormatter>());
  command->set_help_flag("-h,--help", "Show this help");
  add_common_options(*command, context);
  command->callback([&context, act = std::move(act)] {
    // CLI11 calls the callback of a nested subcommand first. Keep the action that it has set.
    if (!context.action) context.action = [&context, act] { return act(context); };
  });
  return command;
}

void add_all_commands(CLI::App& program, CommandContext& context) {
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_help_flag("-h,--help", "Show this help");
  program.require_subcommand(0, 1);
  program.add_flag("--version", context.print_version,
                   "Print the version; more with 'steptune version'");
  add_common_options(program, context);
  for (AddCommand* const add :
       {add_run_command,        add_judge_command,       add_campaign_command, add_bisect_command,
        add_mcp_command,        add_retune_command,      add_init_command,     add_check_command,
        add_rehearse_command,   add_leaderboard_command, add_show_command,     add_compare_command,
        add_importance_command, add_bottleneck_command,  add_scaling_command,  add_studies_command,
        add_best_command,       add_exec_command,        add_report_command,   add_serve_command,
        add_export_command,     add_import_command,      add_gc_command,       add_follow_command,
        add_reports_command,    add_doctor_command,      add_pools_command,    add_prices_command,
        add_schema_command,     add_completion_command,  add_version_command,  add_help_command})
    add(program, context);
  program.footer(
      "  steptune run -- python3 train.py   tune a PyTorch program unchanged\n"
      "  steptune init -- ./train           write a study file for any program\n"
      "  steptune check study.json          what would be run\n"
      "  steptune run study.json            tune, and recommend a configuration\n"
      "  steptune best --format args        the command line to train with");
}

}  // namespace steptune
