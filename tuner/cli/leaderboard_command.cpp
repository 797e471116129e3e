// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/redrawn_text.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/leaderboard_columns.hpp"
#include "tuner/report/leaderboard_source.hpp"
#include "tuner/report/machine_hours.hpp"

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
  bool watch = false;
};

/// Sets the column by which the query sorts. To sort by an objective, the query reads only the
/// shown rows. To sort by another column, it reads all rows.
void set_order(LeaderboardQuery& query, const StoredStudy& study, const std::string& sort) {
  if (sort.empty()) return;
  if (const auto index = objective_index(study.objectives, sort)) {
    query.sorted_by = *index;
  } else {
    query.sort_column = sort;
  }
}

/// Returns an error that names the first column that the leaderboard does not have.
Result<void> check_columns(const Leaderboard& board, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const auto all = leaderboard_columns(board, parameter_order(board.study.document));
  for (const std::string& name : names) {
    if (const auto column = column_named(all, name); !column) {
      return tl::unexpected(column.error());
    }
  }
  return {};
}

Result<Leaderboard> board_of(const StoredStudy& study, const LeaderboardOptions& options) {
  LeaderboardQuery query;
  query.all = options.all;
  if (query.all) query.limit = std::numeric_limits<std::int64_t>::max();
  if (options.limit) query.limit = *options.limit;
  set_order(query, study, options.sort);
  query.pareto = options.pareto;
  query.feasible = options.feasible;
  query.where = options.where;
  auto board = read_leaderboard(study, query);
  if (!board) return board;
  if (const auto checked = check_columns(*board, options.columns); !checked) {
    return tl::unexpected(checked.error());
  }
  return board;
}

std::string board_text(const CommandContext& context, const StudyRecord& record,
                       const Leaderboard& board, const LeaderboardOptions& options) {
  const Console& console = context.console;
  const auto& hours = board.machine_hours;
  // The tuning time of a running study is stored at each change of the study. A new study may have
  // no stored time yet.
  const bool is_shown = record.status != StudyStatus::running || record.elapsed_s >= 1.0;
  return fmt::format("{}  {}{}{}{}\n", record.name, to_text(record.status),
                     record.stop_reason.empty() ? "" : ": " + printable_line(record.stop_reason),
                     is_shown ? ", " + format_duration(record.elapsed_s) : "",
                     hours ? ", " + machine_hours_text(hours->total()) : "") +
         leaderboard_text(board,
                          {console.color_on_stdout(), console.stdout_width(), options.columns});
}

/// Redraws the leaderboard each second until the study is no longer tuned or a signal arrives.
ExitCode watch_leaderboard(CommandContext& context, StoredStudy study,
                           const LeaderboardOptions& options) {
  const SignalFlags flags;
  std::optional<RedrawnText> shown;
  while (true) {
    const auto board = board_of(study, options);
    if (!board) {
      shown.reset();
      return context.console.error(board.error());
    }
    if (!shown) shown.emplace(context.console);
    shown->show(board_text(context, study.record, *board, options));
    if (study.record.status != StudyStatus::running) return ExitCode::ok;
    // Check the study again after a second. This poll also notices if the reader of a pipe has
    // gone, even if nothing is written.
    pollfd out{STDOUT_FILENO, 0, 0};
    if (flags.count() == 0) ::poll(&out, 1, 1000);
    if (flags.count() > 0) return flags.exit_code();
    if ((out.revents & (POLLERR | POLLHUP)) != 0) return ExitCode::ok;
    auto record = study.history.study(study.record.name);
    if (!record) {
      shown.reset();
      return context.console.error(record.error());
    }
    study.record = *std::move(record);
  }
}

ExitCode show_leaderboard(CommandContext& context, const LeaderboardOptions& options) {
  auto study = open_stored_study(context, options.study);
  if (!study) return context.console.error(study.error());
  if (options.watch) return watch_leaderboard(context, *std::move(study), options);
  const auto board = board_of(*study, options);
  if (!board) return context.console.error(board.error());
  if (options.csv) {
    context.console.result(leaderboard_csv(*board, options.columns));
    return ExitCode::ok;
  }
  return context.print([&] { return leaderboard_json(*board); },
                       [&] { return board_text(context, study->record, *board, options); });
}

}  // namespace

void add_leaderboard_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<LeaderboardOptions>(
      program, context, "leaderboard", "Rank the trials of a study, best first",
      "  steptune leaderboard\n"
      "  steptune leaderboard resnet-nightly --sort cost --limit 5",
      show_leaderboard);
  command->add_option("STUDY", options->study, "Study, by name or file [default: the latest]");
  add_value_option(
      *command, "--limit", options->limit, "N",
      "Trials to show at most, per status with --all [default: 20; with --all no limit]")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  command->add_flag("--all", options->all, "Show failed, running and confirming trials, too");
  add_value_option(*command, "--sort", options->sort, "COLUMN",
                   "Objective to rank by, best first, or another column: gains, speed and "
                   "efficiency largest first, others smallest first [default: the study's first "
                   "objective]");
  command->add_flag("--pareto", options->pareto,
                    "Show only the best trial and its trade-offs in the other objective");
  command->add_flag("--feasible", options->feasible,
                    "Show only trials that completed and respect all limits");
  add_value_option(*command, "--where", options->where, "EXPRESSION",
                   "Show only trials for which this expression over columns and facts is true: "
                   "\"precision == 'bf16' and workers > 2\" [default: all]");
  add_value_option(
      *command, "--columns", options->columns, "NAMES",
      "Columns to show, separated by commas; a name that does not exist lists all [default: "
      "as many as fit]")
      ->delimiter(',');
  CLI::Option* csv =
      command->add_flag("--csv", options->csv, "Print comma-separated values in SI units");
  CLI::Option* watch =
      command->add_flag("--watch", options->watch,
                        "Show the table again when it changes, until the study ends or Ctrl-C");
  add_json_option(*command, context);
  csv->excludes(command->get_option("--json"));
  watch->excludes(csv)->excludes(command->get_option("--json"));
}

}  // namespace steptune
