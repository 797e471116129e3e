// SPDX-License-Identifier: Apache-2.0
#include "common/json_fields.hpp"
#include "tuner/report/bottleneck_report.hpp"
#include "tuner/report/importance_report.hpp"

namespace steptune {
namespace {

Json stage_json(const std::optional<StepStage>& stage) {
  return stage ? Json(to_text(*stage)) : Json(nullptr);
}

Json value_or_null_of(const std::optional<Value>& value) {
  return value ? to_json(*value) : Json(nullptr);
}

}  // namespace

Json bottleneck_json(const Bottleneck& bottleneck) {
  const BottleneckWords words = in_words(bottleneck);
  Json json;
  json["trial"] = bottleneck.trial;
  json["finding"] = words.finding;
  json["evidence"] = words.evidence.empty() ? Json(nullptr) : Json(words.evidence);
  json["step_s_per_sample"] = number_or_null(bottleneck.step_seconds_per_sample);
  json["stages"] = Json::array();
  for (const StageTime& time : bottleneck.stages) {
    json["stages"].push_back(
        {{"stage", stage_json(time.stage)},
         {"parts", time.parts},
         {"s_per_sample", number_or_null(time.seconds_per_sample)},
         {"share", number_or_null(time.share)},
         {"most_gain", time.stage ? number_or_null(bottleneck.most_gain(*time.stage)) : Json()}});
  }
  json["unreported_share"] =
      bottleneck.stages.empty() ? Json(nullptr) : number_or_null(bottleneck.unreported_share);
  json["loading_ceiling"] = number_or_null(bottleneck.loading_ceiling);
  json["gpu_busy_share"] = number_or_null(bottleneck.gpu_busy);
  json["cpu_busy_share"] = number_or_null(bottleneck.cpu_busy);
  json["loader_queue_empty_share"] = number_or_null(bottleneck.loader_queue_empty);
  json["loader_worker_cpu_share"] = number_or_null(bottleneck.loader_worker_cpu);
  json["interruptions_share"] = number_or_null(bottleneck.interruptions_share);
  json["startup_share_of_plan"] = number_or_null(bottleneck.startup_share);
  json["trials"] = bottleneck.trials;
  json["no_responses"] =
      bottleneck.why_no_responses.empty() ? Json(nullptr) : Json(bottleneck.why_no_responses);
  json["responses"] = Json::array();
  for (const ParameterResponse& response : bottleneck.responses) {
    json["responses"].push_back({{"parameter", response.parameter},
                                 {"stage", stage_json(response.stage)},
                                 {"now", to_json(response.now)},
                                 {"best", to_json(response.best)},
                                 {"worst", to_json(response.worst)},
                                 {"gain_left", estimate_json(response.gain)},
                                 {"worst_to_best", estimate_json(response.range)},
                                 {"least_tried", value_or_null_of(response.least_tried)},
                                 {"most_tried", value_or_null_of(response.most_tried)},
                                 {"is_open_end", response.is_open_end(response.best)},
                                 {"has_effect", response.has_effect}});
  }
  json["inactive"] = bottleneck.inactive;
  return json;
}

}  // namespace steptune
