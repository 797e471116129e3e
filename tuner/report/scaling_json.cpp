// SPDX-License-Identifier: Apache-2.0
#include "common/json_fields.hpp"
#include "tuner/report/importance_report.hpp"
#include "tuner/report/scaling_report.hpp"

namespace steptune {

template <>
const JsonRecord<ScalingCount>& json_record<ScalingCount>() {
  using C = ScalingCount;
  static const auto record =
      JsonRecord<C>()
          .field("count", &C::count)
          .field("trial", &C::trial)
          .field("trials", &C::trials)
          .computed("stopped_early", [](const C& count) { return !count.completed; })
          .field("time_s", &C::time_s)
          .field("cost", &C::cost)
          .field("speed_up", &C::speed_up)
          .field("efficiency", &C::efficiency)
          .field("added_pays", &C::marginal_gain);
  return record;
}

template <>
const JsonRecord<ScalingPrediction>& json_record<ScalingPrediction>() {
  using P = ScalingPrediction;
  static const auto record = JsonRecord<P>()
                                 .field("count", &P::count)
                                 .field("time_s", &P::time_s)
                                 .field("cost", &P::cost)
                                 .field("beyond_measured", &P::beyond_measured);
  return record;
}

template <>
const JsonRecord<ScalingKnee>& json_record<ScalingKnee>() {
  static const auto record = JsonRecord<ScalingKnee>()
                                 .field("count", &ScalingKnee::count)
                                 .field("low_95", &ScalingKnee::low)
                                 .field("high_95", &ScalingKnee::high)
                                 .field("beyond_measured", &ScalingKnee::is_last);
  return record;
}

template <>
const JsonRecord<ScalingChoice>& json_record<ScalingChoice>() {
  using C = ScalingChoice;
  static const auto record = JsonRecord<C>()
                                 .field("count", &C::count)
                                 .field("measured", &C::measured)
                                 .field("surely_in_time", &C::surely_in_time)
                                 .field("time_s", &C::time_s)
                                 .field("cost", &C::cost);
  return record;
}

namespace {

Json law_json(const ScalingFit& fit, double greatest) {
  const auto estimate = [&](const std::function<double(const ScalingCurve&)>& quantity) {
    return json_of(fit.estimate(quantity));
  };
  Json shares;
  shares["serial"] =
      estimate([&](const ScalingCurve& curve) { return curve.shares(greatest).serial; });
  shares["parallel"] =
      estimate([&](const ScalingCurve& curve) { return curve.shares(greatest).parallel; });
  shares["communication"] =
      estimate([&](const ScalingCurve& curve) { return curve.shares(greatest).communication; });
  return {{"law", to_text(fit.best.law)},
          {"title", law_title(fit.best.law)},
          {"weight", fit.aicc ? Json(fit.weight) : Json(nullptr)},
          {"aicc", json_of(fit.aicc)},
          {"chi_squared", fit.chi_squared},
          {"degrees_of_freedom", fit.degrees_of_freedom},
          {"one_s", estimate([](const ScalingCurve& curve) { return curve.one_s; })},
          {"serial", estimate([](const ScalingCurve& curve) { return curve.serial; })},
          {"communication", communicates(fit.best.law) ? estimate([](const ScalingCurve& curve) {
             return curve.communication;
           })
                                                       : Json(nullptr)},
          {"shares_at_greatest", std::move(shares)}};
}

}  // namespace

Json scaling_summary_json(const StudyScaling& study) {
  const Scaling& scaling = study.scaling;
  Json json;
  json["over"] = scaling.question.count_parameter;
  json["cost_unit"] = study.has_price ? "USD" : "machine_hours";
  json["min_efficiency"] = scaling.question.min_efficiency;
  json["deadline_s"] = json_of(scaling.question.deadline_s);
  json["knee"] = json_of(scaling.knee);
  json["cheapest"] = json_of(scaling.cheapest);
  return json;
}

Json scaling_json(const StudyScaling& study) {
  const Scaling& scaling = study.scaling;
  Json json = scaling_summary_json(study);
  json["machines"] = study.machines.empty() ? Json(nullptr) : Json(study.machines);
  json["planned_run"] = study.planned_run;
  json["counts"] = json_of(scaling.counts);
  json["laws"] = Json::array();
  for (const ScalingFit& fit : scaling.fits)
    json["laws"].push_back(law_json(fit, scaling.counts.back().count));
  json["law_is_decided"] = scaling.law_family_is_decided;
  json["scatter"] = scaling.scatter;
  json["why_no_law"] = text_or_null(scaling.why_no_law);
  json["predictions"] = json_of(scaling.predictions);
  json["remarks"] = study.remarks;
  return json;
}

}  // namespace steptune
