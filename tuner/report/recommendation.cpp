// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/recommendation.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "trial_runner/measure/report_times.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/machine_hours.hpp"
#include "tuner/report/next_step.hpp"
#include "tuner/report/outcome.hpp"
#include "tuner/study/loading_ceiling.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_title_width = 8;

const Objective& first_objective(const RecommendationContext& context) {
  static const Objective k_time{"time", Direction::minimize};
  return context.objectives.empty() ? k_time : context.objectives[0].objective;
}

/// Returns the plan's unchecked assumption, such as
/// `, if batch 256 needs no more samples than batch 32`; empty if the plan assumes nothing.
std::string batch_condition(const Recommendation& recommendation,
                            const RecommendationContext& context) {
  const bool is_scaled =
      recommendation.least_samples_ratio != 1.0 || recommendation.most_samples_ratio != 1.0;
  if (!context.batches || is_scaled || !first_objective(context).is_timed()) return {};
  return fmt::format(", if batch {:g} needs no more samples than batch {:g}",
                     context.batches->second, context.batches->first);
}

/// Returns `41.2 h -> 19.3 h, $49.93 -> $23.39`.
std::string plan_text(const Recommendation& recommendation, const RecommendationContext& context) {
  const bool changes = changes_settings(outcome_of(recommendation, context.others_measured));
  std::string result;
  for (std::size_t i = 0; i < context.objectives.size(); ++i) {
    const ObjectiveView& view = context.objectives[i];
    const auto value = [&](const std::vector<double>& values) {
      return i < values.size() ? view.text(values[i]) : "";
    };
    const std::string today = value(recommendation.baseline_objectives);
    const std::string advised = changes ? value(recommendation.incumbent_objectives) : "";
    if (today.empty() && advised.empty()) continue;
    const bool named = !view.objective.is_timed();
    result += fmt::format("{}{}{}{}{}", result.empty() ? "" : ", ", named ? view.title() + " " : "",
                          today, today.empty() || advised.empty() ? "" : " -> ", advised);
  }
  if (changes && !result.empty()) result += batch_condition(recommendation, context);
  return result;
}

/// Returns `18.9 h-19.7 h`, or `up to 38.9 h` if the interval is too wide for a lower end.
std::string value_interval_text(const ObjectiveView& view, double value, double half_width) {
  const std::string high = view.text(value + half_width);
  if (!(value > half_width)) return "up to " + high;
  return fmt::format("{}-{}", view.text(value - half_width), high);
}

/// Returns `95 % interval 18.9 h-19.7 h, $22.91-$23.87; extrapolated from 3 min 2 s of training`.
std::string extrapolation_text(const Recommendation& recommendation,
                               const RecommendationContext& context) {
  std::string intervals;
  const std::size_t count = std::min(recommendation.incumbent_objectives.size(),
                                     recommendation.incumbent_half_widths.size());
  for (std::size_t i = 0; i < context.objectives.size() && i < count; ++i) {
    const double half_width = recommendation.incumbent_half_widths[i];
    if (!std::isfinite(half_width)) continue;
    intervals += intervals.empty() ? "95 % interval " : ", ";
    intervals += value_interval_text(context.objectives[i], recommendation.incumbent_objectives[i],
                                     half_width);
  }
  if (!(recommendation.measured_s > 0.0)) return intervals;
  return fmt::format("{}{}extrapolated from {} of training", intervals,
                     intervals.empty() ? "" : "; ", format_duration(recommendation.measured_s));
}

/// Returns `after 0.9 % to 1.8 % of the planned run`; empty if unknown, or if both ends are printed
/// alike.
std::string payback_interval_text(const Recommendation& recommendation) {
  if (!recommendation.payback_share || !std::isfinite(recommendation.payback_low)) return {};
  const std::string low = format_percent(recommendation.payback_low);
  if (!std::isfinite(recommendation.payback_high)) {
    return fmt::format("after {} or more of the planned run", low);
  }
  const std::string high = format_percent(recommendation.payback_high);
  return low == high ? "" : fmt::format("after {} to {} of the planned run", low, high);
}

std::string tuning_text(const Recommendation& recommendation,
                        const RecommendationContext& context) {
  std::string result = format_duration(recommendation.tuning_s);
  if (recommendation.tuning_usd > 0.0) result += ", " + format_usd(recommendation.tuning_usd);
  if (context.machine_hours) result += ", " + machine_hours_text(*context.machine_hours);
  const bool changes = changes_settings(outcome_of(recommendation, context.others_measured));
  if (changes && recommendation.payback_share) {
    const double share = *recommendation.payback_share;
    result += share <= 1.0
                  ? fmt::format("; paid back after {} of the planned run", format_percent(share))
                  : "; not paid back by one planned run";
  }
  return result;
}

std::string trial_list(const std::vector<std::int64_t>& trials, std::int64_t excluded) {
  std::string result;
  std::size_t count = 0;
  for (std::int64_t trial : trials) {
    if (trial == excluded) continue;
    if (++count <= k_shown_elements)
      result += fmt::format("{}{}", result.empty() ? "" : ", ", trial);
  }
  if (count > k_shown_elements) result += fmt::format(" and {} more", count - k_shown_elements);
  return result;
}

/// Returns `1 or 2`, or `4, 6 or 8`. More than four numbers become `1 to 64`, more than four other
/// values `a, b, c, d or 3 more`.
std::string values_text(const std::vector<Value>& values) {
  constexpr std::size_t k_shown = 4;
  const auto is_number = [](const Value& value) {
    return !std::holds_alternative<std::string>(value) && std::isfinite(to_number(value));
  };
  const std::size_t count = values.size();
  if (count > k_shown && std::ranges::all_of(values, is_number)) {
    return fmt::format("{} to {}", to_text(values.front()), to_text(values.back()));
  }
  const std::size_t shown = std::min(count, k_shown);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == count;
    text += i == 0 ? "" : last ? " or " : ", ";
    text += to_text(values[i]);
  }
  if (count > shown) text += fmt::format(" or {} more", count - shown);
  return text;
}

/// Returns the parameters with values that are too close to call: `threads 1 or 2; workers 4 to
/// 16`. May be empty.
std::string undecided_text(const Recommendation& recommendation,
                           const std::vector<std::string>& parameter_order) {
  std::vector<const UndecidedParameter*> parameters;
  for (const UndecidedParameter& parameter : recommendation.undecided) {
    if (parameter.values.size() > 1) parameters.push_back(&parameter);
  }
  std::ranges::stable_sort(parameters, {}, [&](const UndecidedParameter* parameter) {
    return std::ranges::find(parameter_order, parameter->name) - parameter_order.begin();
  });
  std::string text;
  for (const UndecidedParameter* parameter : parameters) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", parameter->name,
                        values_text(parameter->values));
  }
  return text;
}

std::string finalist_verdict(Verdict verdict, const RecommendationContext& context) {
  switch (verdict) {
    case Verdict::faster:
      return fmt::format("{}, too", first_objective(context).comparative());
    case Verdict::hidden:
      return "not certain: a full buffer may hide a slower data loader";
    case Verdict::not_faster:
      return fmt::format("not shown to be {}", first_objective(context).comparative());
    case Verdict::failed:
      return context.attached ? "failed when it was confirmed" : "failed in a fresh run";
    case Verdict::slower:
      return fmt::format("not {}", first_objective(context).comparative());
    case Verdict::tied:
      return "as good, within the least gain that counts";
    case Verdict::worse:
      return "violates a guard";
    case Verdict::open:
      break;
  }
  return context.attached ? "undecided: the time was too short"
                          : "undecided: run it again with a longer --time";
}

/// Returns a line for each configuration that had confirming runs but is not recommended.
std::string finalists_text(const Recommendation& recommendation,
                           const RecommendationContext& context) {
  std::string result;
  for (const FinalistResult& finalist : recommendation.finalists) {
    if (finalist.trial == recommendation.incumbent_trial) continue;
    result += fmt::format("tried   {}\n", finalist_text(finalist, context));
  }
  return result;
}

std::string tied_line(const Recommendation& recommendation, const RecommendationContext& context) {
  const std::string tied = trial_list(recommendation.tied, recommendation.incumbent_trial);
  if (tied.empty()) return {};
  const std::string undecided = undecided_text(recommendation, context.parameter_order);
  return fmt::format("tied    trial {}: no measurable difference{}{}\n", tied,
                     undecided.empty() ? "" : "; too close to call: ", printable_line(undecided));
}

std::string trade_line(const Recommendation& recommendation, const RecommendationContext& context) {
  if (context.objectives.size() < 2) return {};
  const std::string others = trial_list(recommendation.pareto, recommendation.incumbent_trial);
  return others.empty() ? ""
                        : fmt::format("trade   trial {}: measurably better in {}\n", others,
                                      printable_line(context.objectives[1].title()));
}

/// Returns the line `buffer`. It has the lower end of the speed-up's interval for the case that
/// full data buffers hide as much loading time as possible. Empty if buffers hardly change that
/// end.
std::string buffer_line(const Recommendation& recommendation,
                        const RecommendationContext& context) {
  const SpeedUp& speed_up = recommendation.speed_up;
  const double least = (1.0 - k_negligible_share) * speed_up.low;
  if (speed_up.pairs == 0 || !(speed_up.low_if_buffered < least)) return {};
  return fmt::format(
      "buffer  at least {} even if full data buffers hide as much loading as they can\n",
      comparison_text(speed_up.low_if_buffered, first_objective(context)));
}

std::string titled(std::string_view title, const std::string& text) {
  return text.empty() ? ""
                      : fmt::format("{:<{}}{}\n", title, k_title_width, printable_line(text, 2000));
}

/// Returns the line `limit`: the largest gain that settings of the data loader can give.
std::string limit_line(const RecommendationContext& context) {
  if (!context.loading_ceiling) return {};
  return titled("limit", loading_ceiling_text(*context.loading_ceiling, /*is_measured=*/true));
}

std::string plan_line(const Recommendation& recommendation, const RecommendationContext& context) {
  const std::string plan = plan_text(recommendation, context);
  if (plan.empty() || context.objectives.empty()) return {};
  const ObjectiveView& first = context.objectives[0];
  const bool is_rate = !first.planned_run && !first.unit().empty();
  return titled(is_rate ? "rate" : "plan",
                plan + (is_rate ? " per million " + first.counted.plural : ""));
}

std::string verdict_line(const Recommendation& recommendation,
                         const RecommendationContext& context) {
  std::string text = to_text(verdict_sentence(recommendation, context));
  if (const auto more_s = more_time_s(recommendation, context)) {
    text += fmt::format("; about {} more would decide", format_duration(*more_s));
  }
  return text;
}

}  // namespace

std::string finalist_text(const FinalistResult& finalist, const RecommendationContext& context) {
  const bool measured = finalist.speed_up.pairs > 0;
  const std::string speed_up =
      measured ? speed_up_text(finalist.speed_up, first_objective(context), context.attached) + ": "
               : "";
  return fmt::format("trial {}: {}{}", finalist.trial, speed_up,
                     finalist_verdict(finalist.verdict, context));
}

VerdictSentence verdict_sentence(const Recommendation& recommendation,
                                 const RecommendationContext& context) {
  return verdict_sentence(recommendation, outcome_of(recommendation, context.others_measured),
                          first_objective(context), context.attached);
}

std::string result_text(const Recommendation& recommendation, const RecommendationContext& context,
                        std::size_t width) {
  std::string result = wrapped(verdict_line(recommendation, context), width);
  std::string first;
  if (changes_settings(outcome_of(recommendation, context.others_measured))) {
    result += change_lines(context.changes, width);
    first = range_line(context.changes);
  } else {
    first = limit_line(context);
  }
  return result + wrapped_entries(first + plan_line(recommendation, context) +
                                      titled("cost", tuning_text(recommendation, context)),
                                  width, k_title_width);
}

std::string recommendation_text(const Recommendation& recommendation,
                                const RecommendationContext& context, std::size_t width) {
  return result_text(recommendation, context, width) +
         fmt::format("{:<{}}{}\n", "next", k_title_width, next_step(recommendation, context));
}

std::string details_text(const Recommendation& recommendation, const RecommendationContext& context,
                         std::size_t width) {
  const bool is_changed = changes_settings(outcome_of(recommendation, context.others_measured));
  std::string result = finalists_text(recommendation, context);
  result += tied_line(recommendation, context);
  result += trade_line(recommendation, context);
  result += buffer_line(recommendation, context);
  result += titled("basis", extrapolation_text(recommendation, context));
  result += titled("payback", payback_interval_text(recommendation));
  if (is_changed) result += limit_line(context);
  if (!recommendation.samples_counted.empty())
    result +=
        titled("count", unit_of(context.objectives).plural + " " + recommendation.samples_counted);
  result += titled("cache", recommendation.page_cache.text);
  for (const std::string& note : texts_of(recommendation.notes))
    result += titled("note", note);
  return wrapped_entries(result, width, k_title_width);
}

Json recommendation_json(const Recommendation& recommendation,
                         const RecommendationContext& context) {
  Json json = json_record<Recommendation>().write(recommendation);
  json["objectives"] = Json::array();
  for (std::size_t i = 0; i < context.objectives.size(); ++i) {
    const auto at = [i](const std::vector<double>& values) {
      return i < values.size() ? number_or_null(values[i]) : Json(nullptr);
    };
    json["objectives"].push_back(
        {{"metric", context.objectives[i].objective.metric},
         {"unit", context.objectives[i].unit()},
         {"baseline", at(recommendation.baseline_objectives)},
         {"best", at(recommendation.incumbent_objectives)},
         {"baseline_half_width_95", at(recommendation.baseline_half_widths)},
         {"best_half_width_95", at(recommendation.incumbent_half_widths)}});
  }
  json["outcome"] = to_text(outcome_of(recommendation, context.others_measured));
  json["verdict"] = to_text(verdict_sentence(recommendation, context));
  json["changes"] = json_of(context.changes);
  json["loading_ceiling"] =
      context.loading_ceiling ? Json(*context.loading_ceiling) : Json(nullptr);
  json["notes"] = texts_of(recommendation.notes);
  if (context.machine_hours) json["tuning_machine_hours"] = number_or_null(*context.machine_hours);
  json["next"] = next_step(recommendation, context);
  return json;
}

}  // namespace steptune
