// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/bottleneck_report.hpp"
#include "tuner/report/importance_report.hpp"

namespace steptune {

/// A stage, and the speed-up that is possible if the stage took no time.
struct GainOfStage {
  StageTime time;
  std::optional<double> most_gain;
};

namespace {

std::optional<std::string> stage_name(std::optional<StepStage> stage) {
  return stage ? std::optional(to_text(*stage)) : std::nullopt;
}

std::optional<std::string> evidence_of(const Bottleneck& bottleneck) {
  std::string evidence = in_words(bottleneck).evidence;
  return evidence.empty() ? std::nullopt : std::optional(std::move(evidence));
}

std::vector<GainOfStage> gains_of_stages(const Bottleneck& bottleneck) {
  std::vector<GainOfStage> gains;
  for (const StageTime& time : bottleneck.stages)
    gains.push_back({time, time.stage ? bottleneck.most_gain(*time.stage) : std::nullopt});
  return gains;
}

std::optional<double> unreported_share(const Bottleneck& bottleneck) {
  return bottleneck.stages.empty() ? std::nullopt : std::optional(bottleneck.unreported_share);
}

}  // namespace

template <>
const JsonRecord<GainOfStage>& json_record<GainOfStage>() {
  using S = StageTime;
  static const auto record =
      JsonRecord<GainOfStage>()
          .fields_of(&GainOfStage::time,
                     JsonRecord<S>()
                         .computed("stage", [](const S& time) { return stage_name(time.stage); })
                         .field("parts", &S::parts)
                         .field("s_per_sample", &S::seconds_per_sample)
                         .field("share", &S::share))
          .field("most_gain", &GainOfStage::most_gain, "Ratio if the stage took no time");
  return record;
}

template <>
const JsonRecord<ParameterResponse>& json_record<ParameterResponse>() {
  using P = ParameterResponse;
  static const auto record =
      JsonRecord<P>()
          .field("parameter", &P::parameter)
          .computed("stage", [](const P& response) { return stage_name(response.stage); })
          .field("now", &P::now)
          .field("best", &P::best)
          .field("worst", &P::worst)
          .field("gain_left", &P::gain)
          .field("worst_to_best", &P::range)
          .field("least_tried", &P::least_tried)
          .field("most_tried", &P::most_tried)
          .computed(
              "is_open_end", [](const P& response) { return response.is_open_end(response.best); },
              "True if the best value is at the edge of the tried range")
          .field("has_effect", &P::has_effect, "importance finds an effect");
  return record;
}

template <>
const JsonRecord<Bottleneck>& json_record<Bottleneck>() {
  using B = Bottleneck;
  static const auto record =
      JsonRecord<B>()
          .field("trial", &B::trial)
          .computed("finding", [](const B& bottleneck) { return in_words(bottleneck).finding; })
          .computed("evidence", evidence_of)
          .field("step_s_per_sample", &B::step_seconds_per_sample)
          .computed("stages", gains_of_stages)
          .computed("unreported_share", unreported_share)
          .field("loading_ceiling", &B::loading_ceiling,
                 "How many times as fast the baseline's step was on cached batches; null: not "
                 "measured")
          .field("gpu_busy_share", &B::gpu_busy)
          .field("cpu_busy_share", &B::cpu_busy)
          .field("loader_queue_empty_share", &B::loader_queue_empty)
          .field("loader_worker_cpu_share", &B::loader_worker_cpu)
          .field("interruptions_share", &B::interruptions_share)
          .field("startup_share_of_plan", &B::startup_share)
          .field("trials", &B::trials)
          .text_or_null("no_responses", &B::why_no_responses, "Why there are none")
          .field("responses", &B::responses,
                 "How the speed answers to each parameter, the others as in this trial")
          .field("inactive", &B::inactive);
  return record;
}

}  // namespace steptune
