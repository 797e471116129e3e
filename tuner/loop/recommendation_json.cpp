// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "common/enum_names.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune {
namespace {

constexpr auto k_ends = enum_names<LoopEnd>({
    {LoopEnd::budget, "budget"},
    {LoopEnd::exhausted, "exhausted"},
    {LoopEnd::payback, "payback"},
    {LoopEnd::interrupted, "interrupted"},
    {LoopEnd::too_many_failures, "too_many_failures"},
    {LoopEnd::no_feasible_trial, "no_feasible_trial"},
});

/// JSON has no NaN; what is missing reads back as NaN.
double number(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>()
                                                   : std::numeric_limits<double>::quiet_NaN();
}

template <typename T>
Json array_of(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values)
    json.push_back(value);
  return json;
}

template <typename T>
std::vector<T> numbers(const Json& json, const char* name) {
  std::vector<T> values;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array()) return values;
  for (const auto& element : *found) {
    if (element.is_number()) values.push_back(element.get<T>());
  }
  return values;
}

}  // namespace

std::string to_text(LoopEnd end) {
  return std::string(k_ends.name_of(end));
}

std::optional<LoopEnd> loop_end_from_text(std::string_view text) {
  return k_ends.value_of(text);
}

Json to_json(const Recommendation& recommendation) {
  const SpeedUp& speed_up = recommendation.speed_up;
  Json json{{"incumbent_trial", recommendation.incumbent_trial},
            {"configuration", to_json(recommendation.configuration)},
            {"baseline_objectives", array_of(recommendation.baseline_objectives)},
            {"incumbent_objectives", array_of(recommendation.incumbent_objectives)},
            {"speed_up",
             {{"ratio", speed_up.ratio},
              {"low", speed_up.low},
              {"high", speed_up.high},
              {"pairs", speed_up.pairs}}},
            {"tied", array_of(recommendation.tied)},
            {"pareto", array_of(recommendation.pareto)},
            {"tuning_s", recommendation.tuning_s},
            {"tuning_usd", recommendation.tuning_usd}};
  if (recommendation.payback_share) json["payback_share"] = *recommendation.payback_share;
  if (!recommendation.notes.empty()) json["notes"] = recommendation.notes;
  return json;
}

Result<Recommendation> recommendation_from_json(const Json& json, const std::string& where) {
  const auto unreadable = [&] {
    return fail(ErrorKind::store, "holds a recommendation that cannot be read", where,
                "run the study again to compute a new one");
  };
  if (!json.is_object() || !json.contains("incumbent_trial") ||
      !json["incumbent_trial"].is_number_integer() || !json.contains("configuration") ||
      !json.contains("speed_up") || !json["speed_up"].is_object()) {
    return unreadable();
  }
  auto configuration = configuration_from_json(json["configuration"], where);
  if (!configuration) return unreadable();
  Recommendation recommendation;
  recommendation.incumbent_trial = json["incumbent_trial"].get<std::int64_t>();
  recommendation.configuration = *std::move(configuration);
  recommendation.baseline_objectives = numbers<double>(json, "baseline_objectives");
  recommendation.incumbent_objectives = numbers<double>(json, "incumbent_objectives");
  const Json& speed_up = json["speed_up"];
  recommendation.speed_up = {number(speed_up, "ratio"), number(speed_up, "low"),
                             number(speed_up, "high"), 0};
  if (speed_up.contains("pairs") && speed_up["pairs"].is_number_integer()) {
    recommendation.speed_up.pairs = speed_up["pairs"].get<int>();
  }
  recommendation.tied = numbers<std::int64_t>(json, "tied");
  recommendation.pareto = numbers<std::int64_t>(json, "pareto");
  recommendation.tuning_s = number(json, "tuning_s");
  recommendation.tuning_usd = number(json, "tuning_usd");
  const auto share = json.find("payback_share");
  if (share != json.end() && share->is_number()) {
    recommendation.payback_share = share->get<double>();
  }
  const auto notes = json.find("notes");
  if (notes == json.end() || !notes->is_array()) return recommendation;
  for (const auto& note : *notes) {
    if (note.is_string()) recommendation.notes.push_back(note.get<std::string>());
  }
  return recommendation;
}

}  // namespace steptune
