// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/leaderboard_source.hpp"

namespace steptune {
namespace {

struct LeaderboardOptions {
  std::string study;
  std::optional<std::size_t> limit;
  bool all = false;
  std::string sort;
};

ExitCode show_leaderboard(CommandContext& context, const LeaderboardOptions& options) {
  auto study = open_stored_study(context, options.study);
  if (!study) return context.console.error(study.error());
  LeaderboardQuery query;
  query.all = options.all;
  if (query.all) query.limit = std::numeric_limits<std::int64_t>::max();
  if (options.limit) query.limit = *options.limit;
  if (!options.sort.empty()) {
    const auto index = objective_index(study->objectives, options.sort);
    if (!index) return context.console.error(index.error());
    query.sorted_by = *index;
  }
  const auto board = read_leaderboard(*study, query);
  if (!board) return context.console.error(board.error());
  if (context.json) {
    context.console.json_result(leaderboard_json(*board));
    return ExitCode::ok;
  }
  const StudyRecord& record = study->record;
  std::string text =
      fmt::format("{}  {}{}, {}\n", record.name, to_text(record.status),
                  record.stop_reason.empty() ? "" : ": " + printable_line(record.stop_reason),
                  format_duration(record.elapsed_s));
  text +=
      leaderboard_text(*board, {context.console.color_on_stdout(), context.console.stdout_width()});
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
  command->add_option("--sort", options->sort, "Objective to rank by [default: the study's first]")
      ->option_text("OBJECTIVE");
  add_json_option(*command, context);
  command->callback([&context, options] {
    context.action = [&context, options] { return show_leaderboard(context, *options); };
  });
}

}  // namespace steptune
