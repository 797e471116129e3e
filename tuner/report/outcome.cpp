// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/outcome.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

constexpr const char* k_keep = "keep today's settings: ";

/// Returns the saved share of the cost in percent. The share is negative if the cost increases.
double saving_percent(double ratio) {
  return 100.0 * (1.0 - 1.0 / ratio);
}

std::string launches_text(int pairs, bool attached) {
  if (attached) return fmt::format("{} turn{} each in the long run", pairs, pairs == 1 ? "" : "s");
  return fmt::format("{} launch{} each", pairs, pairs == 1 ? "" : "es");
}

const FinalistResult* best_with(const Recommendation& recommendation, Verdict verdict) {
  const FinalistResult* best = nullptr;
  for (const FinalistResult& finalist : recommendation.finalists) {
    if (finalist.verdict != verdict) continue;
    if (best == nullptr || finalist.speed_up.ratio > best->speed_up.ratio) best = &finalist;
  }
  return best;
}

/// Outcomes that a finalist decides, with its verdict. The first whose verdict occurs is the
/// study's.
constexpr std::array k_of_finalists{
    std::pair{StudyOutcome::undecided, Verdict::open},
    std::pair{StudyOutcome::hidden_by_buffer, Verdict::hidden},
    std::pair{StudyOutcome::not_faster, Verdict::not_faster},
    std::pair{StudyOutcome::failed_again, Verdict::failed},
};

StudyOutcome outcome_of_keeping(const Recommendation& recommendation, bool others_measured) {
  for (const auto& [outcome, verdict] : k_of_finalists) {
    if (best_with(recommendation, verdict) != nullptr) return outcome;
  }
  return others_measured ? StudyOutcome::nothing_faster : StudyOutcome::baseline_only;
}

StudyOutcome outcome_of_search(const Recommendation& recommendation) {
  const SpeedUp& speed_up = recommendation.speed_up;
  if (recommendation.baseline_objectives.empty()) return StudyOutcome::not_compared;
  if (!std::isfinite(speed_up.ratio)) return StudyOutcome::unconfirmed;
  if (speed_up.high < 1.0) return StudyOutcome::nothing_faster;
  return speed_up.low > 1.0 && is_useful_interval(speed_up) ? StudyOutcome::unconfirmed
                                                            : StudyOutcome::undecided;
}

std::string undecided_text(const Recommendation& recommendation, const Objective& objective,
                           bool attached) {
  const FinalistResult* finalist = finalist_behind(recommendation, StudyOutcome::undecided);
  const SpeedUp& speed_up = finalist == nullptr ? recommendation.speed_up : finalist->speed_up;
  if (!(speed_up.ratio > 1.0)) {
    return fmt::format("undecided: nothing was shown to be {} in this time",
                       objective.comparative());
  }
  std::string why = "the search alone is not enough to be sure";
  if (speed_up.pairs > 0) {
    why = fmt::format("{} {} too few to be sure", launches_text(speed_up.pairs, attached),
                      speed_up.pairs == 1 ? "is" : "are");
  }
  return fmt::format("undecided: trial {} looks {}, but {}",
                     finalist == nullptr ? recommendation.incumbent_trial : finalist->trial,
                     comparison_text(speed_up.ratio, objective), why);
}

VerdictSentence speed_up_sentence(const SpeedUp& speed_up, const Objective& objective,
                                  bool attached) {
  const std::string runs = speed_up.pairs > 0 ? launches_text(speed_up.pairs, attached)
                                              : std::string("from the search alone");
  // If a value is not positive, there is no ratio.
  if (!std::isfinite(speed_up.ratio)) return {objective.comparative(), runs};
  const std::string interval = interval_text(speed_up, objective);
  return {comparison_text(speed_up.ratio, objective),
          interval.empty() ? runs : fmt::format("{}, {}", interval, runs)};
}

VerdictSentence after(const std::string& words, VerdictSentence sentence) {
  sentence.verdict.insert(0, words);
  return sentence;
}

VerdictSentence faster_sentence(const SpeedUp& speed_up, const Objective& objective,
                                bool attached) {
  if (is_useful_interval(speed_up) || !std::isfinite(speed_up.ratio)) {
    return speed_up_sentence(speed_up, objective, attached);
  }
  return {
      "at least " + comparison_text(speed_up.low, objective),
      fmt::format("lower end of the 95 % interval, {}", launches_text(speed_up.pairs, attached))};
}

VerdictSentence not_faster_sentence(const SpeedUp& speed_up, const Objective& objective,
                                    bool attached) {
  if (!is_useful_interval(speed_up)) {
    return {fmt::format("{}nothing was shown to be {}", k_keep, objective.comparative()), {}};
  }
  return after(fmt::format("{}the best found is ", k_keep),
               speed_up_sentence(speed_up, objective, attached));
}

VerdictSentence within_limits_sentence(const SpeedUp& speed_up, const Objective& objective,
                                       bool attached) {
  const std::string text = "respects all limits, which today's settings do not";
  if (speed_up.pairs == 0 || !is_useful_interval(speed_up)) return {text, {}};
  return after(text + "; ", speed_up_sentence(speed_up, objective, attached));
}

VerdictSentence unconfirmed_sentence(const SpeedUp& speed_up, const Objective& objective) {
  if (!std::isfinite(speed_up.ratio)) {
    return {"the best of the search, not confirmed by fresh launches", {}};
  }
  return {fmt::format("{} in the search, not confirmed by fresh launches",
                      comparison_text(speed_up.ratio, objective)),
          interval_text(speed_up, objective)};
}

}  // namespace

std::string to_text(StudyOutcome outcome) {
  static constexpr auto k_names = enum_names<StudyOutcome>({
      {StudyOutcome::faster, "faster"},
      {StudyOutcome::within_limits, "within_limits"},
      {StudyOutcome::unconfirmed, "unconfirmed"},
      {StudyOutcome::undecided, "undecided"},
      {StudyOutcome::baseline_only, "baseline_only"},
      {StudyOutcome::hidden_by_buffer, "hidden_by_buffer"},
      {StudyOutcome::not_faster, "not_faster"},
      {StudyOutcome::failed_again, "failed_again"},
      {StudyOutcome::nothing_faster, "nothing_faster"},
      {StudyOutcome::nothing_to_gain, "nothing_to_gain"},
      {StudyOutcome::not_compared, "not_compared"},
  });
  return std::string(k_names.name_of(outcome));
}

StudyOutcome outcome_of(const Recommendation& recommendation, bool others_measured) {
  switch (recommendation.claim) {
    case Claim::faster:
      return StudyOutcome::faster;
    case Claim::feasible:
      return StudyOutcome::within_limits;
    case Claim::unconfirmed:
      return outcome_of_search(recommendation);
    case Claim::nothing_to_gain:
      return StudyOutcome::nothing_to_gain;
    case Claim::nothing_faster:
      break;
  }
  return outcome_of_keeping(recommendation, others_measured);
}

bool changes_settings(StudyOutcome outcome) {
  return outcome == StudyOutcome::faster || outcome == StudyOutcome::within_limits ||
         outcome == StudyOutcome::unconfirmed || outcome == StudyOutcome::not_compared;
}

const FinalistResult* finalist_behind(const Recommendation& recommendation, StudyOutcome outcome) {
  const auto* found =
      std::ranges::find(k_of_finalists, outcome, [](const auto& entry) { return entry.first; });
  return found == k_of_finalists.end() ? nullptr : best_with(recommendation, found->second);
}

bool is_useful_interval(const SpeedUp& speed_up) {
  return speed_up.low > 0.0 && std::isfinite(speed_up.high) && speed_up.high <= 2.0 * speed_up.low;
}

std::string comparison_text(double ratio, const Objective& objective) {
  if (objective.is_cost()) {
    const double saving = saving_percent(ratio);
    return fmt::format("{:.0f} % {}", std::abs(saving), saving < 0.0 ? "dearer" : "cheaper");
  }
  const std::string times = format_factor(ratio) + " times as ";
  return objective.is_time() ? times + "fast"
                             : fmt::format("{}good in {}", times, printable_line(objective.metric));
}

std::string interval_text(const SpeedUp& speed_up, const Objective& objective) {
  if (!std::isfinite(speed_up.low) || !std::isfinite(speed_up.high)) return {};
  if (!objective.is_cost()) {
    return fmt::format("95 % interval {}-{}", format_factor(speed_up.low),
                       format_factor(speed_up.high));
  }
  const double low = saving_percent(speed_up.low);
  return fmt::format("95 % interval {:.0f}{}{:.0f} %", low, low < 0.0 ? " to " : "-",
                     saving_percent(speed_up.high));
}

std::string to_text(const VerdictSentence& sentence) {
  return sentence.evidence.empty() ? sentence.verdict
                                   : fmt::format("{} ({})", sentence.verdict, sentence.evidence);
}

std::string speed_up_text(const SpeedUp& speed_up, const Objective& objective, bool attached) {
  return to_text(speed_up_sentence(speed_up, objective, attached));
}

VerdictSentence verdict_sentence(const Recommendation& recommendation, StudyOutcome outcome,
                                 const Objective& objective, bool attached) {
  const SpeedUp& speed_up = recommendation.speed_up;
  const FinalistResult* finalist = finalist_behind(recommendation, outcome);
  switch (outcome) {
    case StudyOutcome::faster:
      return faster_sentence(speed_up, objective, attached);
    case StudyOutcome::within_limits:
      return within_limits_sentence(speed_up, objective, attached);
    case StudyOutcome::unconfirmed:
      return unconfirmed_sentence(speed_up, objective);
    case StudyOutcome::undecided:
      return {undecided_text(recommendation, objective, attached), {}};
    case StudyOutcome::baseline_only:
      return {"undecided: the time was enough for today's settings only", {}};
    case StudyOutcome::hidden_by_buffer:
      return {fmt::format("undecided: trial {} was {}, but a full buffer may hide that its data "
                          "loader is slower",
                          finalist->trial, comparison_text(finalist->speed_up.ratio, objective)),
              {}};
    case StudyOutcome::not_faster:
      return not_faster_sentence(finalist->speed_up, objective, attached);
    case StudyOutcome::failed_again:
      return {fmt::format("{}trial {}, the best of the search, failed when it was launched again",
                          k_keep, finalist->trial),
              {}};
    case StudyOutcome::nothing_faster:
      return {fmt::format("{}no other configuration was {}", k_keep, objective.comparative()), {}};
    case StudyOutcome::nothing_to_gain:
      return {fmt::format("{}within {:g} % of the best that these settings allow", k_keep,
                          100.0 * recommendation.worth),
              {}};
    case StudyOutcome::not_compared:
      return {"not compared with today's settings, which could not be measured", {}};
  }
  return {};
}

}  // namespace steptune
