// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/run_report.hpp"

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/leaderboard_source.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_shown_trials = 10;

Json report_json(const RecommendationContext& facts, const StoredStudy& study,
                 const Leaderboard& board, const LoopResult& result) {
  return document_json(
      {{"study", json_of(study.record)},
       {"end", to_text(result.end)},
       {"reason", result.reason},
       {"recommendation",
        result.recommendation ? recommendation_json(*result.recommendation, facts) : Json(nullptr)},
       {"leaderboard", leaderboard_json(board)}});
}

}  // namespace

Result<RunReport> make_run_report(const CommandContext& context, History history,
                                  const std::string& name, const LoopResult& result,
                                  const RunReportOptions& options) {
  auto record = history.study(name);
  if (!record) return tl::unexpected(record.error());
  const StoredStudy study = stored_study(std::move(history), *std::move(record));
  const auto board = read_leaderboard(study, {k_shown_trials, false, 0});
  if (!board) return tl::unexpected(board.error());
  RunReport report;
  RecommendationContext facts =
      result.recommendation
          ? recommendation_context(context, study, result.recommendation->configuration)
          : study_context(context, study);
  facts.rerun = options.rerun;
  report.json = report_json(facts, study, *board, result);
  report.counts = counts_text(board->counts);
  report.ended = fmt::format("study \"{}\" ended: {}", name, printable_line(result.reason, 2000));
  const std::size_t width = context.console.stdout_width();
  const std::string table = leaderboard_text(*board, style_on_stdout(context.console));
  if (!result.recommendation) {
    report.text = table;
    return report;
  }
  report.recommendation = recommendation_text(*result.recommendation, facts, width);
  report.text = report.recommendation;
  if (options.verbose) {
    report.text = fmt::format("{}\n{}\n{}", table,
                              details_text(*result.recommendation, facts, width), report.text);
  }
  return report;
}

void print_run_report(CommandContext& context, const RunReport& report, const std::string& study,
                      bool interrupted) {
  if (context.json) {
    context.console.json_result(report.json);
  } else if (interrupted) {
    context.console.message(fmt::format("interrupted: {}; see 'steptune leaderboard {}{}'",
                                        report.counts, study, context.database_option()));
  } else {
    context.console.message(report.ended);
    context.console.result(report.text);
  }
}

std::string run_event(const LoopResult& result) {
  if (!result.recommendation || result.end == LoopEnd::too_many_failures) return "failed";
  if (result.recommendation->claim == Claim::faster) return "improved";
  // `nothing_to_gain` is a complete result, even if the budget ended the search.
  if (result.end == LoopEnd::nothing_to_gain) return "completed";
  return result.search_end == LoopEnd::budget ? "budget" : "completed";
}

}  // namespace steptune
