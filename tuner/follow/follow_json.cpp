// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/follow_text.hpp"

namespace steptune {

template <>
struct JsonForm<Keeping> : JsonNames<k_keeping_names> {};

template <>
const JsonRecord<Interval95>& json_record<Interval95>() {
  static const auto record = JsonRecord<Interval95>("interval")
                                 .field("value", &Interval95::value)
                                 .computed("low_95", &Interval95::low)
                                 .computed("high_95", &Interval95::high);
  return record;
}

template <>
const JsonRecord<FollowedPhase>& json_record<FollowedPhase>() {
  static const auto record = JsonRecord<FollowedPhase>("followed_phase")
                                 .field("count", &FollowedPhase::count)
                                 .field("seconds", &FollowedPhase::seconds)
                                 .field("period_samples", &FollowedPhase::period_samples);
  return record;
}

namespace {

template <typename T>
std::map<std::string, FollowedPhase> phases_of(const T& promise_or_state) {
  std::map<std::string, FollowedPhase> shown;
  for (const auto& [name, phase] : promise_or_state.phases)
    shown[name] = {phase.count, phase.seconds, phase.period_samples};
  return shown;
}

}  // namespace

template <>
const JsonRecord<Deviation>& json_record<Deviation>() {
  using D = Deviation;
  static const auto record =
      JsonRecord<D>()
          .computed("since_samples", [](const D& deviation) { return deviation.since.samples; })
          .computed("since_s", [](const D& deviation) { return deviation.since.time_s; })
          .field("ratio", &D::ratio);
  return record;
}

template <>
const JsonRecord<Promise>& json_record<Promise>() {
  static const auto record = JsonRecord<Promise>("promise")
                                 .field("seconds_per_sample", &Promise::seconds_per_sample)
                                 .computed("run_s", &Promise::run_s)
                                 .computed("phases", phases_of<Promise>);
  return record;
}

template <>
const JsonRecord<FollowState>& json_record<FollowState>() {
  using F = FollowState;
  static const auto record =
      JsonRecord<F>()
          .field("promise", &F::keeping)
          .text_or_null("reason", &F::reason, "Why the promise is unknown")
          // `follow_json` replaces this value by the promise.
          .computed("promised", [](const F&) { return Promise{}; })
          .group("seen", JsonRecord<F>()
                             .field("seconds", &F::seen_s)
                             .field("samples", &F::samples)
                             .field("seconds_per_sample", &F::seconds_per_sample)
                             .field("seconds_per_sample_now", &F::seconds_per_sample_now)
                             .field("promised_seconds_per_sample", &F::promised)
                             .computed("awaited_phases",
                                       [](const F& state) {
                                         return std::vector(state.awaited.begin(),
                                                            state.awaited.end());
                                       })
                             .field("judged_seconds_per_sample", &F::judged_seconds_per_sample)
                             .field("run_s", &F::run_s)
                             .computed("phases", phases_of<F>))
          .field("deviation", &F::deviation,
                 "Point since which the rate differs from the promised one; null: there is none")
          .field("changed", &F::causes);
  return record;
}

Json follow_json(const Promise& promise, const FollowState& state) {
  Json json{{"trial", promise.trial}, {"configuration", to_json(promise.configuration)}};
  json.update(json_of(state));
  json["promised"] = json_of(promise);
  return json;
}

}  // namespace steptune
