// SPDX-License-Identifier: Apache-2.0
#include "common/json_fields.hpp"
#include "tuner/report/importance_report.hpp"

namespace steptune {

template <>
const JsonRecord<Estimate>& json_record<Estimate>() {
  static const auto record = JsonRecord<Estimate>("estimate")
                                 .field("mean", &Estimate::mean)
                                 .field("low_95", &Estimate::low)
                                 .field("high_95", &Estimate::high);
  return record;
}

template <>
const JsonRecord<PairImportance>& json_record<PairImportance>() {
  using P = PairImportance;
  static const auto record = JsonRecord<P>()
                                 .computed("parameters",
                                           [](const P& pair) {
                                             return std::vector{pair.first, pair.second};
                                           })
                                 .field("share", &P::share);
  return record;
}

template <>
const JsonRecord<ValueChange>& json_record<ValueChange>() {
  static const auto record = JsonRecord<ValueChange>()
                                 .field("parameter", &ValueChange::parameter)
                                 .field("from", &ValueChange::from)
                                 .field("to", &ValueChange::to);
  return record;
}

namespace {

/// Returns the key for an effect's size: a ratio on a logarithmic scale, otherwise a difference.
const char* size_key(bool logarithmic) {
  return logarithmic ? "ratio" : "difference";
}

Json parameters_json(const Importance& importance) {
  Json json = Json::array();
  for (const ParameterImportance& parameter : importance.parameters) {
    Json entry{{"parameter", parameter.parameter}, {"varied", parameter.varied}};
    entry["alone"] = parameter.varied ? json_of(parameter.alone) : Json(nullptr);
    entry["with_pairs"] = parameter.varied ? json_of(parameter.in_all) : Json(nullptr);
    entry["effect"] = nullptr;
    if (parameter.effect) {
      entry["effect"] = {{"value_at_least", to_json(parameter.effect->least)},
                         {"value_at_most", to_json(parameter.effect->most)},
                         {size_key(importance.logarithmic), json_of(parameter.effect->size)}};
    }
    json.push_back(std::move(entry));
  }
  return json;
}

void add_importance(Json& json, const Importance& importance) {
  json["trials"] = importance.trials;
  json["unknown"] = text_or_null(importance.why_unknown);
  json["explained"] =
      importance.why_unknown.empty() ? json_of(importance.explained) : Json(nullptr);
  json["parameters"] = parameters_json(importance);
  json["pairs"] = json_of(importance.pairs);
}

Json ablation_json(const AblationPath& path) {
  Json json;
  json["unknown"] = text_or_null(path.why_unknown);
  const char* key = size_key(path.logarithmic);
  json[key] = path.why_unknown.empty() ? json_of(path.gain) : Json(nullptr);
  json["steps"] = Json::array();
  for (const AblationStep& step : path.steps) {
    json["steps"].push_back({{"changes", json_of(step.changes)},
                             {"configuration", to_json(step.configuration)},
                             {key, json_of(step.gain)},
                             {"measured", step.measured}});
  }
  return json;
}

}  // namespace

Json importance_json(const StudyImportance& study) {
  Json json;
  json["baseline"] = json_of(study.baseline);
  json["best"] = json_of(study.best);
  json["objectives"] = Json::array();
  for (const ObjectiveImportance& objective : study.objectives) {
    Json entry{{"metric", objective.view.objective.metric}};
    entry["multiple_of"] = objective.follows
                               ? Json(study.objectives[*objective.follows].view.objective.metric)
                               : Json(nullptr);
    add_importance(entry, objective.importance);
    entry["ablation"] = ablation_json(objective.ablation);
    json["objectives"].push_back(std::move(entry));
  }
  json["failure"] = {{"failed", study.failed}, {"ended", study.ended}};
  add_importance(json["failure"], study.failure);
  return json;
}

}  // namespace steptune
