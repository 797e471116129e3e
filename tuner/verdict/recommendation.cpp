// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/recommendation.hpp"

#include <cmath>

#include "common/enum_names.hpp"
#include "common/json_fields.hpp"
#include "common/numbers.hpp"

namespace steptune {
namespace {

constexpr auto k_note_subjects = enum_names<NoteSubject>({
    {NoteSubject::other, "other"},
    {NoteSubject::batch_size, "batch_size"},
    {NoteSubject::drift, "drift"},
});

constexpr auto k_claims = enum_names<Claim>({
    {Claim::faster, "faster"},
    {Claim::nothing_faster, "nothing_faster"},
    {Claim::nothing_to_gain, "nothing_to_gain"},
    {Claim::unconfirmed, "unconfirmed"},
    {Claim::feasible, "feasible"},
});

constexpr auto k_reduction_states = enum_names<ReductionState>({
    {ReductionState::not_needed, "not_needed"},
    {ReductionState::reset, "reset"},
    {ReductionState::all_needed, "all_needed"},
    {ReductionState::no_time, "no_time"},
});

Json speed_up_json(const SpeedUp& speed_up) {
  return {{"ratio", speed_up.ratio},
          {"low", speed_up.low},
          {"high", speed_up.high},
          {"low_if_buffered", speed_up.low_if_buffered},
          {"repeat_low", speed_up.repeat_low},
          {"repeat_high", speed_up.repeat_high},
          {"pairs", speed_up.pairs}};
}

SpeedUp speed_up_from(const Json& json) {
  SpeedUp speed_up{number_or_nan(json, "ratio"),
                   number_or_nan(json, "low"),
                   number_or_nan(json, "high"),
                   0,
                   number_or_nan(json, "low_if_buffered"),
                   number_or_nan(json, "repeat_low"),
                   number_or_nan(json, "repeat_high")};
  if (json.contains("pairs") && json["pairs"].is_number_integer()) {
    speed_up.pairs = json["pairs"].get<int>();
  }
  return speed_up;
}

Json finalists_json(const std::vector<FinalistResult>& finalists) {
  Json json = Json::array();
  for (const FinalistResult& finalist : finalists) {
    json.push_back({{"trial", finalist.trial},
                    {"verdict", to_text(finalist.verdict)},
                    {"speed_up", speed_up_json(finalist.speed_up)}});
  }
  return json;
}

std::vector<FinalistResult> finalists_from(const Json& json) {
  std::vector<FinalistResult> finalists;
  if (!json.contains("finalists") || !json["finalists"].is_array()) return finalists;
  for (const Json& each : json["finalists"]) {
    const bool complete = each.is_object() && each.contains("speed_up") &&
                          each["speed_up"].is_object() && each.contains("trial") &&
                          each["trial"].is_number_integer() && each.contains("verdict") &&
                          each["verdict"].is_string();
    const auto verdict =
        complete ? verdict_from_text(each["verdict"].get<std::string>()) : std::nullopt;
    if (!verdict) continue;
    finalists.push_back(
        {each["trial"].get<std::int64_t>(), *verdict, speed_up_from(each["speed_up"])});
  }
  return finalists;
}

std::vector<UndecidedParameter> undecided_from(const Json& json, const std::string& where) {
  std::vector<UndecidedParameter> undecided;
  const auto found = json.find("undecided");
  if (found == json.end() || !found->is_object()) return undecided;
  for (const auto& [name, values] : found->items()) {
    if (!values.is_array()) continue;
    UndecidedParameter parameter{name, {}};
    for (const Json& each : values) {
      if (auto value = value_from_json(each, where)) parameter.values.push_back(*std::move(value));
    }
    undecided.push_back(std::move(parameter));
  }
  return undecided;
}

CacheUse cache_from(const Json& json) {
  const auto found = json.find("page_cache");
  if (found == json.end() || !found->is_object()) return {};
  return {cache_state_from_text(text_at(*found, "state")).value_or(CacheState::not_known),
          number_at(*found, "storage_read_bytes"), text_at(*found, "text")};
}

Reduction reduction_from(const Json& json, const std::string& where) {
  Reduction reduction;
  const auto found = json.find("reduction");
  if (found == json.end() || !found->is_object()) return reduction;
  reduction.state =
      reduction_state_from_text(text_at(*found, "state")).value_or(ReductionState::not_needed);
  reduction.from_trial = static_cast<std::int64_t>(number_at(*found, "from_trial").value_or(0.0));
  const auto reset = found->find("reset");
  if (reset == found->end() || !reset->is_array()) return reduction;
  for (const Json& each : *reset) {
    if (!each.is_object() || !each.contains("found") || !each.contains("now")) continue;
    auto value = value_from_json(each["found"], where);
    if (!value) continue;
    ResetSetting setting{text_at(each, "name"), *std::move(value), std::nullopt};
    if (auto now = value_from_json(each["now"], where)) setting.now = *std::move(now);
    reduction.reset.push_back(std::move(setting));
  }
  return reduction;
}

std::vector<std::string> texts(const Json& json, const char* name) {
  std::vector<std::string> result;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array()) return result;
  for (const Json& each : *found) {
    if (each.is_string()) result.push_back(each.get<std::string>());
  }
  return result;
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

std::vector<Note> notes_from(const Json& json) {
  std::vector<Note> notes;
  const auto found = json.find("notes");
  if (found == json.end() || !found->is_array()) return notes;
  for (const Json& each : *found) {
    if (!each.is_object()) continue;
    notes.push_back(
        {text_at(each, "text"),
         note_subject_from_text(text_at(each, "subject")).value_or(NoteSubject::other)});
  }
  return notes;
}

}  // namespace

std::string to_text(NoteSubject subject) {
  return std::string(k_note_subjects.name_of(subject));
}

std::optional<NoteSubject> note_subject_from_text(std::string_view text) {
  return k_note_subjects.value_of(text);
}

std::vector<std::string> texts_of(const std::vector<Note>& notes) {
  std::vector<std::string> texts;
  for (const Note& note : notes)
    texts.push_back(note.text);
  return texts;
}

std::string to_text(Claim claim) {
  return std::string(k_claims.name_of(claim));
}

std::optional<Claim> claim_from_text(std::string_view text) {
  return k_claims.value_of(text);
}

bool keeps_baseline(Claim claim) {
  return claim == Claim::nothing_faster || claim == Claim::nothing_to_gain;
}

std::string to_text(ReductionState state) {
  return std::string(k_reduction_states.name_of(state));
}

std::optional<ReductionState> reduction_state_from_text(std::string_view text) {
  return k_reduction_states.value_of(text);
}

Json to_json(const Reduction& reduction) {
  Json json{{"state", to_text(reduction.state)}, {"from_trial", nullptr}, {"reset", Json::array()}};
  if (reduction.from_trial > 0) json["from_trial"] = reduction.from_trial;
  for (const ResetSetting& setting : reduction.reset) {
    json["reset"].push_back({{"name", setting.name},
                             {"found", to_json(setting.found)},
                             {"now", setting.now ? to_json(*setting.now) : Json(nullptr)}});
  }
  return json;
}

Json to_json(const std::vector<UndecidedParameter>& undecided) {
  Json json = Json::object();
  for (const UndecidedParameter& parameter : undecided) {
    Json& values = json[parameter.name] = Json::array();
    for (const Value& value : parameter.values)
      values.push_back(to_json(value));
  }
  return json;
}

Json to_json(const Recommendation& recommendation) {
  Json json{
      {"incumbent_trial", recommendation.incumbent_trial},
      {"configuration", to_json(recommendation.configuration)},
      {"baseline_objectives", array_of(recommendation.baseline_objectives)},
      {"incumbent_objectives", array_of(recommendation.incumbent_objectives)},
      {"baseline_half_widths", numbers_or_null(recommendation.baseline_half_widths)},
      {"incumbent_half_widths", numbers_or_null(recommendation.incumbent_half_widths)},
      {"measured_s", recommendation.measured_s},
      {"samples_counted", recommendation.samples_counted},
      {"page_cache",
       {{"state", to_text(recommendation.page_cache.state)},
        {"text", recommendation.page_cache.text}}},
      {"samples_ratio", {recommendation.least_samples_ratio, recommendation.most_samples_ratio}},
      {"claim", to_text(recommendation.claim)},
      {"speed_up", speed_up_json(recommendation.speed_up)},
      {"finalists", finalists_json(recommendation.finalists)},
      {"tied", array_of(recommendation.tied)},
      {"undecided", to_json(recommendation.undecided)},
      {"pareto", array_of(recommendation.pareto)},
      {"changed", recommendation.changed},
      {"reduction", to_json(recommendation.reduction)},
      {"worth", recommendation.worth},
      {"tuning_s", recommendation.tuning_s},
      {"tuning_usd", recommendation.tuning_usd}};
  if (recommendation.page_cache.storage_read_bytes) {
    json["page_cache"]["storage_read_bytes"] = *recommendation.page_cache.storage_read_bytes;
  }
  if (std::isfinite(recommendation.most_gain)) json["most_gain"] = recommendation.most_gain;
  if (recommendation.unused_s) json["unused_s"] = *recommendation.unused_s;
  if (recommendation.payback_share) {
    json["payback_share"] = *recommendation.payback_share;
    json["payback_interval"] =
        numbers_or_null({recommendation.payback_low, recommendation.payback_high});
  }
  for (const Note& note : recommendation.notes)
    json["notes"].push_back({{"text", note.text}, {"subject", to_text(note.subject)}});
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
  const auto claim = claim_from_text(text_at(json, "claim"));
  if (!configuration || !claim) return unreadable();
  Recommendation recommendation;
  recommendation.incumbent_trial = json["incumbent_trial"].get<std::int64_t>();
  recommendation.configuration = *std::move(configuration);
  recommendation.baseline_objectives = numbers<double>(json, "baseline_objectives");
  recommendation.incumbent_objectives = numbers<double>(json, "incumbent_objectives");
  recommendation.baseline_half_widths = numbers_at(json, "baseline_half_widths");
  recommendation.incumbent_half_widths = numbers_at(json, "incumbent_half_widths");
  recommendation.measured_s = number_at(json, "measured_s").value_or(0.0);
  recommendation.samples_counted = text_at(json, "samples_counted");
  recommendation.page_cache = cache_from(json);
  if (const auto ratios = numbers<double>(json, "samples_ratio"); ratios.size() == 2) {
    recommendation.least_samples_ratio = ratios[0];
    recommendation.most_samples_ratio = ratios[1];
  }
  recommendation.speed_up = speed_up_from(json["speed_up"]);
  recommendation.claim = *claim;
  recommendation.finalists = finalists_from(json);
  recommendation.tied = numbers<std::int64_t>(json, "tied");
  recommendation.undecided = undecided_from(json, where);
  recommendation.pareto = numbers<std::int64_t>(json, "pareto");
  recommendation.tuning_s = number_or_nan(json, "tuning_s");
  recommendation.tuning_usd = number_or_nan(json, "tuning_usd");
  recommendation.payback_share = number_at(json, "payback_share");
  if (recommendation.payback_share) {
    const auto interval = numbers_at(json, "payback_interval");
    if (interval.size() == 2) {
      recommendation.payback_low = interval[0];
      // JSON has no infinity.
      recommendation.payback_high = std::isnan(interval[1]) ? k_infinity : interval[1];
    }
  }
  recommendation.changed = texts(json, "changed");
  recommendation.reduction = reduction_from(json, where);
  recommendation.worth = number_at(json, "worth").value_or(0.0);
  recommendation.most_gain = number_or_nan(json, "most_gain");
  recommendation.unused_s = number_at(json, "unused_s");
  recommendation.notes = notes_from(json);
  return recommendation;
}

}  // namespace steptune
