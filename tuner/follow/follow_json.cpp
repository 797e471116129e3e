// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "common/json_fields.hpp"
#include "tuner/follow/follow_text.hpp"

namespace steptune {
namespace {

Json interval_json(const std::optional<Interval95>& interval) {
  if (!interval) return nullptr;
  return {{"value", number_or_null(interval->value)},
          {"low_95", number_or_null(interval->low())},
          {"high_95", number_or_null(interval->high())}};
}

Json phases_json(const std::map<std::string, PhaseEstimate>& phases) {
  Json json = Json::object();
  for (const auto& [name, phase] : phases) {
    json[name] = {{"count", phase.count},
                  {"seconds", number_or_null(phase.seconds)},
                  {"period_samples", number_or_null(phase.period_samples)}};
  }
  return json;
}

}  // namespace

Json follow_json(const Promise& promise, const FollowState& state) {
  Json json;
  json["trial"] = promise.trial;
  json["configuration"] = to_json(promise.configuration);
  json["promise"] = to_text(state.keeping);
  json["reason"] = state.reason.empty() ? Json(nullptr) : Json(state.reason);
  json["promised"] = {{"seconds_per_sample", interval_json(promise.seconds_per_sample)},
                      {"run_s", interval_json(promise.run_s())},
                      {"phases", phases_json(promise.phases)}};
  json["seen"] = {{"seconds", state.seen_s},
                  {"samples", state.samples},
                  {"seconds_per_sample", interval_json(state.seconds_per_sample)},
                  {"seconds_per_sample_now", interval_json(state.seconds_per_sample_now)},
                  {"promised_seconds_per_sample", interval_json(state.promised)},
                  {"awaited_phases", state.awaited},
                  {"judged_seconds_per_sample", interval_json(state.judged_seconds_per_sample)},
                  {"run_s", interval_json(state.run_s)},
                  {"phases", phases_json(state.phases)}};
  json["deviation"] = nullptr;
  if (state.deviation) {
    json["deviation"] = {{"since_samples", state.deviation->since.samples},
                         {"since_s", state.deviation->since.time_s},
                         {"ratio", number_or_null(state.deviation->ratio)}};
  }
  json["changed"] = state.causes;
  return json;
}

}  // namespace steptune
