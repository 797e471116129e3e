// SPDX-License-Identifier: Apache-2.0
#include "common/json_fields.hpp"
#include "tuner/report/importance_report.hpp"

namespace steptune {
namespace {

Json value_json(const std::optional<Value>& value) {
  return value ? to_json(*value) : Json(nullptr);
}

/// Returns the key for an effect's size: a ratio on a logarithmic scale, otherwise a difference.
const char* size_key(bool logarithmic) {
  return logarithmic ? "ratio" : "difference";
}

Json parameters_json(const Importance& importance) {
  Json json = Json::array();
  for (const ParameterImportance& parameter : importance.parameters) {
    Json entry{{"parameter", parameter.parameter}, {"varied", parameter.varied}};
    entry["alone"] = parameter.varied ? estimate_json(parameter.alone) : Json(nullptr);
    entry["with_pairs"] = parameter.varied ? estimate_json(parameter.in_all) : Json(nullptr);
    entry["effect"] = nullptr;
    if (parameter.effect) {
      entry["effect"] = {{"value_at_least", to_json(parameter.effect->least)},
                         {"value_at_most", to_json(parameter.effect->most)},
                         {size_key(importance.logarithmic), estimate_json(parameter.effect->size)}};
    }
    json.push_back(std::move(entry));
  }
  return json;
}

void add_importance(Json& json, const Importance& importance) {
  json["trials"] = importance.trials;
  json["unknown"] = importance.why_unknown.empty() ? Json(nullptr) : Json(importance.why_unknown);
  json["explained"] =
      importance.why_unknown.empty() ? estimate_json(importance.explained) : Json(nullptr);
  json["parameters"] = parameters_json(importance);
  json["pairs"] = Json::array();
  for (const PairImportance& pair : importance.pairs) {
    json["pairs"].push_back(
        {{"parameters", {pair.first, pair.second}}, {"share", estimate_json(pair.share)}});
  }
}

Json ablation_json(const AblationPath& path) {
  Json json;
  json["unknown"] = path.why_unknown.empty() ? Json(nullptr) : Json(path.why_unknown);
  const char* key = size_key(path.logarithmic);
  json[key] = path.why_unknown.empty() ? estimate_json(path.gain) : Json(nullptr);
  json["steps"] = Json::array();
  for (const AblationStep& step : path.steps) {
    Json changes = Json::array();
    for (const ValueChange& change : step.changes) {
      changes.push_back({{"parameter", change.parameter},
                         {"from", value_json(change.from)},
                         {"to", value_json(change.to)}});
    }
    json["steps"].push_back({{"changes", std::move(changes)},
                             {"configuration", to_json(step.configuration)},
                             {key, estimate_json(step.gain)},
                             {"measured", step.measured}});
  }
  return json;
}

}  // namespace

Json estimate_json(const Estimate& estimate) {
  return {{"mean", number_or_null(estimate.mean)},
          {"low_95", number_or_null(estimate.low)},
          {"high_95", number_or_null(estimate.high)}};
}

Json importance_json(const StudyImportance& study) {
  Json json;
  json["baseline"] = study.baseline ? Json(*study.baseline) : Json(nullptr);
  json["best"] = study.best ? Json(*study.best) : Json(nullptr);
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
