// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/leaderboard_columns.hpp"
#include "tuner/report/leaderboard_source.hpp"

namespace steptune {
namespace {

struct LeaderboardOptions {
  std::string study;
  std::optional<std::size_t> limit;
  bool all = false;
  std::string sort;
  bool pareto = false;
  bool feasible = false;
  std::string where;
  std::vector<std::string> columns;
  bool csv = false;
};

/// Sorting by an objective reads what is shown and no more; by another column, everything.
void set_order(LeaderboardQuery& query, const StoredStudy& study, const std::string& sort) {
  if (sort.empty()) return;
  if (const auto index = objective_index(study.objectives, sort)) {
    query.sorted_by = *index;
  } else {
    query.sort_column = sort;
  }
}

/// An error names the first column that the leaderboard does not have.
Result<void> check_columns(const Leaderboard& board, const std::vector<std::string>& names) {
  const auto all =
      leaderboard_columns(board.objectives, parameter_order(board.study.document), board.rows);
  for (const std::string& name : names) {
    if (const auto column = column_named(all, name); !column) {
      return tl::unexpected(column.error());
    }
  }
  return {};
}

ExitCode show_leaderboard(CommandContext& context, const LeaderboardOptions& options) {
  auto study = open_stored_study(context, options.study);
  if (!study) return context.console.error(study.error());
  LeaderboardQuery query;
  query.all = options.all;
  if (query.all) query.limit = std::numeric_limits<std::int64_t>::max();
  if (options.limit) query.limit = *options.limit;
  set_order(query, *study, options.sort);
  query.pareto = options.pareto;
  query.feasible = options.feasible;
  query.where = options.where;
  const auto board = read_leaderboard(*study, query);
  if (!board) return context.console.error(board.error());
  if (const auto checked = check_columns(*board, options.columns); !checked) {
    return context.console.error(checked.error());
  }
  if (options.csv) {
    context.console.result(leaderboard_csv(*board, options.columns));
    return ExitCode::ok;
  }
  if (context.json) {
    context.console.json_result(leaderboard_json(*board));
    return ExitCode::ok;
  }
  const StudyRecord& record = study->record;
  std::string text =
      fmt::format("{}  {}{}, {}\n", record.name, to_text(record.status),
                  record.stop_reason.empty() ? "" : ": " + printable_line(record.stop_reason),
                  format_duration(record.elapsed_s));
  text += leaderboard_text(
      *board, {context.console.color_on_stdout(), context.console.stdout_width(), options.columns});
  context.console.result(text);
  return ExitCode::ok;
}

}  // namespace

void add_leaderboard_command(CLI::App& program, CommandContext& context) {
  auto options = std::make_shared<LeaderboardOptions>();
  CLI::App* command =
      add_command(program, context, "leaderboard", "Rank the trials of a study, best first",
                  "  steptune leaderboard\n"
                  "  steptune leaderboard resnet-nightly --sort cost --limit 5");
  command->add_option("STUDY", options->study, "Study, by name or file [default: the latest]");
  command
      ->add_option(
          "--limit", options->limit,
          "Trials to show at most, per status with --all [default: 20; with --all no limit]")
      ->option_text("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  command->add_flag("--all", options->all, "Show failed, running and confirming trials, too");
  command
      ->add_option("--sort", options->sort,
                   "Objective to rank by, or another column: gains and speed largest first, others "
                   "smallest first [default: the study's first objective]")
      ->option_text("COLUMN");
  command->add_flag("--pareto", options->pareto,
                    "Show only trials that no other beats in all objectives");
  command->add_flag("--feasible", options->feasible,
                    "Show only trials that completed and respect all guards");
  command
      ->add_option("--where", options->where,
                   "Show only trials for which this holds, of columns and facts: \"precision == "
                   "'bf16' and workers > 2\" [default: all]")
      ->option_text("EXPRESSION");
  command
      ->add_option(
          "--columns", options->columns,
          "Columns to show, separated by commas; a name that does not exist lists all [default: "
          "as many as fit]")
      ->option_text("NAMES")
      ->delimiter(',');
  CLI::Option* csv =
      command->add_flag("--csv", options->csv, "Print comma-separated values in SI units");
  add_json_option(*command, context);
  csv->excludes(command->get_option("--json"));
  command->callback([&context, options] {
    context.action = [&context, options] { return show_leaderboard(context, *options); };
  });
}

}  // namespace steptune
