// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/recommendation_record.hpp"

#include <cmath>
#include <utility>

#include "common/numbers.hpp"
#include "tuner/verdict/speed_up_record.hpp"

namespace steptune {

template <>
struct JsonForm<Verdict> : JsonNames<k_verdict_names> {};
template <>
struct JsonForm<ReductionState> : JsonNames<k_reduction_state_names> {};
template <>
struct JsonForm<CacheState> : JsonNames<k_cache_state_names> {};
template <>
struct JsonForm<NoteSubject> : JsonNames<k_note_subject_names> {};
template <>
struct JsonForm<Claim> : JsonNames<k_claim_names> {};

template <>
const JsonRecord<FinalistResult>& json_record<FinalistResult>() {
  static const auto record = JsonRecord<FinalistResult>()
                                 .field("trial", &FinalistResult::trial)
                                 .field("verdict", &FinalistResult::verdict)
                                 .field("speed_up", &FinalistResult::speed_up);
  return record;
}

template <>
const JsonRecord<ResetSetting>& json_record<ResetSetting>() {
  static const auto record = JsonRecord<ResetSetting>()
                                 .field("name", &ResetSetting::name)
                                 .field("found", &ResetSetting::found)
                                 .field("now", &ResetSetting::now);
  return record;
}

template <>
const JsonRecord<Reduction>& json_record<Reduction>() {
  static const auto record = JsonRecord<Reduction>()
                                 .field("state", &Reduction::state)
                                 .field("from_trial", &Reduction::from_trial)
                                 .field("reset", &Reduction::reset);
  return record;
}

template <>
const JsonRecord<CacheUse>& json_record<CacheUse>() {
  static const auto record = JsonRecord<CacheUse>()
                                 .field("state", &CacheUse::state)
                                 .field("storage_read_bytes", &CacheUse::storage_read_bytes,
                                        "Bytes that a run read: median of these runs")
                                 .text_or_null("text", &CacheUse::text);
  return record;
}

template <>
const JsonRecord<Note>& json_record<Note>() {
  static const auto record =
      JsonRecord<Note>().field("text", &Note::text).field("subject", &Note::subject);
  return record;
}

/// An object with the values of each parameter by its name.
template <>
struct JsonForm<std::vector<UndecidedParameter>> {
  static Json write(const std::vector<UndecidedParameter>& undecided) {
    Json json = Json::object();
    for (const auto& [name, values] : undecided)
      json[name] = JsonForm<std::vector<Value>>::write(values);
    return json;
  }
  static bool read(const Json& json, std::vector<UndecidedParameter>& undecided) {
    if (!json.is_object()) return false;
    undecided.clear();
    bool is_whole = true;
    for (const auto& [name, values] : json.items()) {
      undecided.push_back({name, {}});
      is_whole = JsonForm<std::vector<Value>>::read(values, undecided.back().values) && is_whole;
    }
    return is_whole;
  }
  static Json schema() {
    return {{"type", "object"}, {"additionalProperties", JsonForm<std::vector<Value>>::schema()}};
  }
};

template <>
const JsonRecord<Recommendation>& json_record<Recommendation>() {
  using R = Recommendation;
  static const auto record =
      JsonRecord<R>()
          .field("trial", &R::incumbent_trial)
          .field("configuration", &R::configuration)
          .field("claim", &R::claim)
          .field("speed_up", &R::speed_up)
          .field("finalists", &R::finalists)
          .field("tied_trials", &R::tied)
          .field("undecided", &R::undecided,
                 "By parameter: its values in the best trial and in trials tied with it")
          .field("pareto_trials", &R::pareto)
          .field("changed", &R::changed, "Settings that differ from the baseline")
          .field("reduction", &R::reduction,
                 "Settings without measurable effect that were reset before the confirmation")
          .field("worth", &R::worth, "Least gain that counts, as a share")
          .field("most_gain", &R::most_gain,
                 "With claim nothing_to_gain: the largest gain that is still possible, as a share")
          .field("unused_s", &R::unused_s, "Tuning time that the budget had left")
          .field("extrapolated_from_s", &R::measured_s)
          .text_or_null("samples_counted", &R::samples_counted,
                        "How the samples of a step were counted")
          .field("page_cache", &R::page_cache,
                 "State of the page cache in the runs behind the figures, by their reads from "
                 "storage")
          .group("samples_ratio",
                 JsonRecord<R>()
                     .field("least", &R::least_samples_ratio)
                     .field("most", &R::most_samples_ratio),
                 "Samples that the batch size needs, relative to the baseline's, by the gradient "
                 "noise scale")
          .field("tuning_s", &R::tuning_s)
          .field("tuning_usd", &R::tuning_usd,
                 "If trials run on this machine: its price for the whole tuning time")
          .field("payback_share", &R::payback_share)
          .group("payback_share_95",
                 JsonRecord<R>().field("low", &R::payback_low).field("high", &R::payback_high));
  return record;
}

namespace {

const JsonRecord<Recommendation>& stored_record() {
  using R = Recommendation;
  static const auto record = JsonRecord<R>(json_record<R>())
                                 .field("baseline_objectives", &R::baseline_objectives)
                                 .field("incumbent_objectives", &R::incumbent_objectives)
                                 .field("baseline_half_widths", &R::baseline_half_widths)
                                 .field("incumbent_half_widths", &R::incumbent_half_widths)
                                 .field("notes", &R::notes);
  return record;
}

/// True if `json` has all the fields that a recommendation needs.
bool is_readable(const Json& json) {
  if (!json.is_object()) return false;
  const Json trial = json.value("trial", Json());
  const Json claim = json.value("claim", Json());
  return trial.is_number_integer() && json.contains("speed_up") && claim.is_string() &&
         k_claim_names.value_of(claim.get_ref<const std::string&>()).has_value() &&
         configuration_from_json(json.value("configuration", Json()), "").has_value();
}

}  // namespace

Json to_json(const Recommendation& recommendation) {
  return stored_record().write(recommendation);
}

bool has_recommendation(const Json& stored_result) {
  return stored_result.is_object() && stored_result.contains("trial");
}

Result<Recommendation> recommendation_from_json(const Json& json, const std::string& where) {
  Recommendation recommendation;
  if (!is_readable(json) || !stored_record().read(json, recommendation)) {
    return fail(ErrorKind::store, "holds a recommendation that cannot be read", where,
                "run the study again to compute a new one");
  }
  // JSON has no infinity. A lower end without an upper end means that possibly nothing is saved.
  if (std::isfinite(recommendation.payback_low) && std::isnan(recommendation.payback_high)) {
    recommendation.payback_high = k_infinity;
  }
  return recommendation;
}

}  // namespace steptune
