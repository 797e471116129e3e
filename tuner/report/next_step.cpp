// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/next_step.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tuner/report/outcome.hpp"

namespace steptune {
namespace {

/// Returns `steptune run train.study.json --time 9m`; the time covers the whole study.
std::string rerun_text(const Recommendation& recommendation, const RecommendationContext& context) {
  if (context.attached) return "give --tune a longer --time in the next run";
  if (context.rerun.empty())
    return "run the tuning again with a longer --time to continue where it stopped";
  const double more_s =
      more_time_s(recommendation, context).value_or(std::max(recommendation.tuning_s, 60.0));
  return fmt::format("{} --time {:.0f}m", context.rerun,
                     std::ceil((recommendation.tuning_s + more_s) / 60.0));
}

std::string use_text(const RecommendationContext& context) {
  if (!context.has_command) return fmt::format("steptune best {} --format json", context.study);
  if (!context.runs_here) return fmt::format("steptune best {} --format args", context.study);
  return fmt::format("steptune exec {}{}{}", context.study, context.command.empty() ? "" : " -- ",
                     context.command);
}

}  // namespace

std::optional<double> more_time_s(const Recommendation& recommendation,
                                  const RecommendationContext& context) {
  const StudyOutcome outcome = outcome_of(recommendation, context.others_measured);
  if (outcome != StudyOutcome::undecided) return std::nullopt;
  const FinalistResult* finalist = finalist_behind(recommendation, outcome);
  if (finalist == nullptr || !context.pair_s) return std::nullopt;
  if (!std::isfinite(finalist->speed_up.more_pairs)) return std::nullopt;
  // A round has a launch of the baseline and one of each undecided finalist.
  const auto open = std::ranges::count_if(recommendation.finalists, [](const FinalistResult& each) {
    return each.verdict == Verdict::open;
  });
  const double round_s = 0.5 * (1.0 + static_cast<double>(open)) * *context.pair_s;
  return finalist->speed_up.more_pairs * round_s;
}

std::string next_step(const Recommendation& recommendation, const RecommendationContext& context) {
  switch (outcome_of(recommendation, context.others_measured)) {
    case StudyOutcome::faster:
    case StudyOutcome::within_limits:
      return use_text(context);
    case StudyOutcome::unconfirmed:
      return context.confirms ? rerun_text(recommendation, context) : use_text(context);
    case StudyOutcome::undecided:
    case StudyOutcome::baseline_only:
      return rerun_text(recommendation, context);
    case StudyOutcome::hidden_by_buffer:
      return "set \"measure.buffers\" in the study file, or a longer \"measure.max_trial\"";
    case StudyOutcome::failed_again:
    case StudyOutcome::not_compared:
      return fmt::format("steptune leaderboard {} --all", context.study);
    case StudyOutcome::not_faster:
    case StudyOutcome::nothing_faster:
    case StudyOutcome::nothing_to_gain:
      break;
  }
  return fmt::format("keep today's settings; what limits them: steptune bottleneck {}",
                     context.study);
}

}  // namespace steptune
