// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/recommendation.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/machine_hours.hpp"

namespace steptune {
namespace {

/// A buffer's share of an interval that is worth a word.
constexpr double k_told_buffer = 0.99;

std::string evidence_text(const SpeedUp& speed_up, const RecommendationContext& context) {
  if (speed_up.pairs == 0) return "from the search trials only, not confirmed";
  return fmt::format("{} pair{}, {}", speed_up.pairs, speed_up.pairs == 1 ? "" : "s",
                     context.attached ? "within the long run" : "fresh processes");
}

std::string buffer_text(const SpeedUp& speed_up) {
  if (speed_up.pairs == 0 || !(speed_up.low_if_buffered < k_told_buffer * speed_up.low)) return {};
  return fmt::format(", at least {} whatever a full buffer still hides",
                     format_factor(speed_up.low_if_buffered));
}

/// ` (46 % cheaper)`; nothing where the difference is none to speak of.
std::string saving_text(double baseline_usd, double incumbent_usd) {
  const double saving = 1.0 - incumbent_usd / baseline_usd;
  if (!(baseline_usd > 0.0) || !(std::abs(saving) >= 0.005)) return {};
  return saving > 0.0 ? fmt::format(" ({:.0f} % cheaper)", 100.0 * saving)
                      : fmt::format(" ({:.0f} % dearer)", -100.0 * saving);
}

/// `41.2 h -> 19.3 h      $49.93 -> $23.39 (53 % cheaper)`
std::string plan_text(const Recommendation& recommendation, const RecommendationContext& context) {
  std::string result;
  const std::size_t count = std::min(recommendation.baseline_objectives.size(),
                                     recommendation.incumbent_objectives.size());
  for (std::size_t i = 0; i < context.objectives.size() && i < count; ++i) {
    const ObjectiveView& view = context.objectives[i];
    const bool named = !view.objective.is_time() && !view.objective.is_cost();
    result += fmt::format("{}{}{}", result.empty() ? "" : "      ", named ? view.title() + " " : "",
                          view.text(recommendation.baseline_objectives[i]));
    if (keeps_baseline(recommendation.claim)) continue;
    result += " -> " + view.text(recommendation.incumbent_objectives[i]);
    if (view.objective.is_cost()) {
      result += saving_text(recommendation.baseline_objectives[i],
                            recommendation.incumbent_objectives[i]);
    }
  }
  return result;
}

/// `18.9 h-19.7 h`; `up to 38.9 h` where it is too wide to have a lower end.
std::string interval_text(const ObjectiveView& view, double value, double half_width) {
  const std::string high = view.text(value + half_width);
  if (!(value > half_width)) return "up to " + high;
  return fmt::format("{}-{}", view.text(value - half_width), high);
}

/// `95 % interval 18.9 h-19.7 h, $22.91-$23.87; extrapolated from 3 min 2 s of training`
std::string extrapolation_text(const Recommendation& recommendation,
                               const RecommendationContext& context) {
  std::string intervals;
  const std::size_t count = std::min(recommendation.incumbent_objectives.size(),
                                     recommendation.incumbent_half_widths.size());
  for (std::size_t i = 0; i < context.objectives.size() && i < count; ++i) {
    const double half_width = recommendation.incumbent_half_widths[i];
    if (!std::isfinite(half_width)) continue;
    intervals += intervals.empty() ? "95 % interval " : ", ";
    intervals +=
        interval_text(context.objectives[i], recommendation.incumbent_objectives[i], half_width);
  }
  if (!(recommendation.measured_s > 0.0)) return intervals;
  return fmt::format("{}{}extrapolated from {} of training", intervals,
                     intervals.empty() ? "" : "; ", format_duration(recommendation.measured_s));
}

/// ` (0.9 % to 1.8 %)`; nothing where it is not known.
std::string payback_interval_text(const Recommendation& recommendation) {
  if (!std::isfinite(recommendation.payback_low)) return {};
  const std::string low = format_percent(recommendation.payback_low);
  if (!std::isfinite(recommendation.payback_high)) return fmt::format(" ({} or more)", low);
  const std::string high = format_percent(recommendation.payback_high);
  return low == high ? "" : fmt::format(" ({} to {})", low, high);
}

std::string tuning_text(const Recommendation& recommendation,
                        const RecommendationContext& context) {
  std::string result = format_duration(recommendation.tuning_s);
  if (recommendation.tuning_usd > 0.0) result += ", " + format_usd(recommendation.tuning_usd);
  if (context.machine_hours) result += ", " + machine_hours_text(*context.machine_hours);
  if (recommendation.payback_share) {
    const double share = *recommendation.payback_share;
    result += share <= 1.0
                  ? fmt::format("; paid back after {} of the planned run{}", format_percent(share),
                                payback_interval_text(recommendation))
                  : "; not paid back by one planned run";
  }
  return result;
}

std::string trial_list(const std::vector<std::int64_t>& trials, std::int64_t without) {
  constexpr std::size_t k_shown = 8;
  std::string result;
  std::size_t count = 0;
  for (std::int64_t trial : trials) {
    if (trial == without) continue;
    if (++count <= k_shown) result += fmt::format("{}{}", result.empty() ? "" : ", ", trial);
  }
  if (count > k_shown) result += fmt::format(" and {} more", count - k_shown);
  return result;
}

/// `1 or 2`, `4, 6 or 8`; of many numbers `1 to 64`, of many others the first ones.
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

/// `threads 1 or 2; workers 4 to 16`, in the study's order; empty where there is nothing.
std::string undecided_text(const Recommendation& recommendation,
                           const std::vector<std::string>& order) {
  std::vector<const UndecidedParameter*> parameters;
  for (const UndecidedParameter& parameter : recommendation.undecided) {
    if (parameter.values.size() > 1) parameters.push_back(&parameter);
  }
  std::ranges::stable_sort(parameters, {}, [&](const UndecidedParameter* parameter) {
    return std::ranges::find(order, parameter->name) - order.begin();
  });
  std::string text;
  for (const UndecidedParameter* parameter : parameters) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", parameter->name,
                        values_text(parameter->values));
  }
  return text;
}

/// `2.13 times as fast as baseline`
std::string comparison_text(double ratio, const RecommendationContext& context) {
  const std::string times = format_factor(ratio) + " times";
  if (context.objectives.empty() || context.objectives[0].objective.is_time()) {
    return times + " as fast as baseline";
  }
  const Objective& objective = context.objectives[0].objective;
  return objective.is_cost() ? fmt::format("the baseline costs {} as much", times)
                             : fmt::format("{} as good as baseline in {}", times, objective.metric);
}

std::string speed_up_of(const SpeedUp& speed_up, const RecommendationContext& context) {
  if (!std::isfinite(speed_up.ratio)) return "cannot be compared with the baseline by a ratio";
  std::string interval;
  if (std::isfinite(speed_up.low) && std::isfinite(speed_up.high)) {
    interval = fmt::format("95 % interval {}-{}; ", format_factor(speed_up.low),
                           format_factor(speed_up.high));
  }
  return fmt::format("{} ({}{}){}", comparison_text(speed_up.ratio, context), interval,
                     evidence_text(speed_up, context), buffer_text(speed_up));
}

/// `faster`, or what else better values of the first objective are called.
std::string comparative_of(const RecommendationContext& context) {
  return context.objectives.empty() ? "faster" : context.objectives[0].objective.comparative();
}

std::string verdict_text(Verdict verdict, const RecommendationContext& context) {
  switch (verdict) {
    case Verdict::faster:
      return comparative_of(context) + ", too";
    case Verdict::hidden:
      return "not certain, as a buffer may hide a slower loader: set \"measure.buffers\", or a "
             "longer \"max_trial\"";
    case Verdict::not_faster:
      return "not shown to be " + comparative_of(context);
    case Verdict::failed:
      return context.attached ? "failed when it was confirmed" : "failed in a fresh run";
    case Verdict::open:
      break;
  }
  return context.attached ? "undecided: the time was too short"
                          : "undecided: run it again with a longer --time, and it goes on";
}

/// A line for each configuration that was confirmed and is not recommended.
std::string finalists_text(const Recommendation& recommendation,
                           const RecommendationContext& context) {
  std::string result;
  for (const FinalistResult& finalist : recommendation.finalists) {
    if (finalist.trial == recommendation.incumbent_trial) continue;
    const bool measured = finalist.speed_up.pairs > 0;
    result += fmt::format("tried  trial {}: {}{}\n", finalist.trial,
                          measured ? speed_up_of(finalist.speed_up, context) + ": " : "",
                          verdict_text(finalist.verdict, context));
  }
  return result;
}

std::string tied_line(const Recommendation& recommendation, const RecommendationContext& context) {
  const std::string tied = trial_list(recommendation.tied, recommendation.incumbent_trial);
  if (tied.empty()) return {};
  const std::string undecided = undecided_text(recommendation, context.parameter_order);
  return fmt::format(
      "tied   trial {}: no measurable difference{}{}\n", tied,
      undecided.empty() ? "" : "; not decided in this time: ", printable_line(undecided));
}

std::string trade_line(const Recommendation& recommendation, const RecommendationContext& context) {
  if (context.objectives.size() < 2) return {};
  const std::string others = trial_list(recommendation.pareto, recommendation.incumbent_trial);
  return others.empty() ? ""
                        : fmt::format("trade  trial {}: measurably better in {}\n", others,
                                      printable_line(context.objectives[1].title()));
}

std::string plan_lines(const Recommendation& recommendation, const RecommendationContext& context) {
  const std::string plan = plan_text(recommendation, context);
  if (plan.empty()) return {};
  const bool planned = !context.objectives.empty() && context.objectives[0].planned_run;
  const bool rated =
      !planned && !context.objectives.empty() && !context.objectives[0].unit().empty();
  const std::string from = extrapolation_text(recommendation, context);
  return fmt::format("{}   {}{}\n", planned || !rated ? "plan" : "rate", plan,
                     rated ? " per million samples" : "") +
         (from.empty() ? "" : fmt::format("       {}\n", from));
}

std::string next_lines(const RecommendationContext& context) {
  if (context.hooked) {
    return fmt::format("next   steptune exec {}\n       steptune best {} --format python\n",
                       context.study, context.study);
  }
  return fmt::format("next   steptune best {} --format {}\n", context.study,
                     context.has_command ? "args" : "json");
}

Json speed_up_json(const SpeedUp& speed_up) {
  if (!std::isfinite(speed_up.ratio) && speed_up.pairs == 0) return nullptr;
  return {{"ratio", number_or_null(speed_up.ratio)},
          {"low_95", number_or_null(speed_up.low)},
          {"high_95", number_or_null(speed_up.high)},
          {"low_95_if_buffered", number_or_null(speed_up.low_if_buffered)},
          {"repeat_low_95", number_or_null(speed_up.repeat_low)},
          {"repeat_high_95", number_or_null(speed_up.repeat_high)},
          {"interleaved_pairs", speed_up.pairs}};
}

}  // namespace

std::string speed_up_text(const Recommendation& recommendation,
                          const RecommendationContext& context) {
  const SpeedUp& speed_up = recommendation.speed_up;
  if (recommendation.claim == Claim::nothing_faster) {
    return "the baseline: nothing was shown to be " + comparative_of(context);
  }
  if (recommendation.claim == Claim::nothing_to_gain) {
    return fmt::format("the baseline: within {:g} % of the best that these settings allow",
                       100.0 * recommendation.worth);
  }
  if (recommendation.claim == Claim::feasible) {
    const bool measured = speed_up.pairs > 0;
    return fmt::format("respects all limits, which the baseline does not; {}not shown to be {}",
                       measured ? speed_up_of(speed_up, context) + ": " : "",
                       comparative_of(context));
  }
  const bool slower = recommendation.claim == Claim::unconfirmed && speed_up.high < 1.0;
  return speed_up_of(speed_up, context) + (slower ? ": keep the baseline" : "");
}

std::string recommendation_text(const Recommendation& recommendation,
                                const RecommendationContext& context, std::size_t width) {
  std::string result = fmt::format(
      "best   {}\n", configuration_text(recommendation.configuration, context.parameter_order));
  result += fmt::format("       {}\n", speed_up_text(recommendation, context));
  result += finalists_text(recommendation, context);
  result += tied_line(recommendation, context);
  result += trade_line(recommendation, context);
  result += plan_lines(recommendation, context);
  if (!recommendation.samples_counted.empty()) {
    result += fmt::format("count  samples {}\n", printable_line(recommendation.samples_counted));
  }
  if (!recommendation.page_cache.text.empty()) {
    result += fmt::format("cache  {}\n", printable_line(recommendation.page_cache.text));
  }
  for (const std::string& note : recommendation.notes)
    result += fmt::format("note   {}\n", printable_line(note));
  result += fmt::format("tuning took {}\n", tuning_text(recommendation, context));
  constexpr std::size_t k_title = 7;
  result = wrapped_entries(result, width, k_title);
  return result + next_lines(context);
}

Json recommendation_json(const Recommendation& recommendation,
                         const RecommendationContext& context) {
  Json json;
  json["trial"] = recommendation.incumbent_trial;
  json["configuration"] = to_json(recommendation.configuration);
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
  json["claim"] = to_text(recommendation.claim);
  json["speed_up"] = speed_up_json(recommendation.speed_up);
  json["finalists"] = Json::array();
  for (const FinalistResult& finalist : recommendation.finalists) {
    json["finalists"].push_back({{"trial", finalist.trial},
                                 {"verdict", to_text(finalist.verdict)},
                                 {"speed_up", speed_up_json(finalist.speed_up)}});
  }
  json["tied_trials"] = recommendation.tied;
  json["undecided"] = to_json(recommendation.undecided);
  json["pareto_trials"] = recommendation.pareto;
  json["changed"] = recommendation.changed;
  json["reduction"] = to_json(recommendation.reduction);
  json["worth"] = recommendation.worth;
  json["most_gain"] = number_or_null(recommendation.most_gain);
  json["unused_s"] = recommendation.unused_s ? Json(*recommendation.unused_s) : Json(nullptr);
  json["extrapolated_from_s"] =
      recommendation.measured_s > 0.0 ? Json(recommendation.measured_s) : Json(nullptr);
  json["samples_counted"] =
      recommendation.samples_counted.empty() ? Json(nullptr) : Json(recommendation.samples_counted);
  const CacheSeen& cache = recommendation.page_cache;
  json["page_cache"] = {
      {"state", to_text(cache.state)},
      {"storage_read_bytes",
       cache.storage_read_bytes ? number_or_null(*cache.storage_read_bytes) : Json(nullptr)},
      {"text", cache.text.empty() ? Json(nullptr) : Json(cache.text)}};
  json["samples_ratio"] = {{"least", number_or_null(recommendation.least_samples_ratio)},
                           {"most", number_or_null(recommendation.most_samples_ratio)}};
  json["notes"] = recommendation.notes;
  json["tuning_s"] = number_or_null(recommendation.tuning_s);
  json["tuning_usd"] = number_or_null(recommendation.tuning_usd);
  if (context.machine_hours) json["tuning_machine_hours"] = number_or_null(*context.machine_hours);
  json["payback_share"] =
      recommendation.payback_share ? number_or_null(*recommendation.payback_share) : Json(nullptr);
  json["payback_share_95"] = {{"low", number_or_null(recommendation.payback_low)},
                              {"high", number_or_null(recommendation.payback_high)}};
  return json;
}

}  // namespace steptune
