// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/importance_report.hpp"
#include "tuner/report/scaling_report.hpp"

namespace steptune {
namespace {

Json optional_estimate(const std::optional<Estimate>& estimate) {
  return estimate ? estimate_json(*estimate) : Json(nullptr);
}

Json law_json(const ScalingFit& fit, double greatest) {
  const auto estimate = [&](const std::function<double(const ScalingCurve&)>& quantity) {
    return estimate_json(fit.estimate(quantity));
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
          {"aicc", fit.aicc ? Json(*fit.aicc) : Json(nullptr)},
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

Json count_json(const ScalingCount& count) {
  return {{"count", count.count},
          {"trial", count.trial},
          {"trials", count.trials},
          {"stopped_early", !count.completed},
          {"time_s", estimate_json(count.time_s)},
          {"cost", estimate_json(count.cost)},
          {"speed_up", estimate_json(count.speed_up)},
          {"efficiency", optional_estimate(count.efficiency)},
          {"added_pays", optional_estimate(count.marginal_gain)}};
}

}  // namespace

Json scaling_summary_json(const StudyScaling& study) {
  const Scaling& scaling = study.scaling;
  Json json;
  json["over"] = scaling.question.count_parameter;
  json["cost_unit"] = study.has_price ? "USD" : "machine_hours";
  json["min_efficiency"] = scaling.question.min_efficiency;
  json["deadline_s"] =
      scaling.question.deadline_s ? Json(*scaling.question.deadline_s) : Json(nullptr);
  json["knee"] = nullptr;
  if (const auto& knee = scaling.knee) {
    json["knee"] = {{"count", knee->count},
                    {"low_95", knee->low},
                    {"high_95", knee->high},
                    {"beyond_measured", knee->is_last}};
  }
  json["cheapest"] = nullptr;
  if (const auto& choice = scaling.cheapest) {
    json["cheapest"] = {{"count", choice->count},
                        {"measured", choice->measured},
                        {"surely_in_time", choice->surely_in_time},
                        {"time_s", estimate_json(choice->time_s)},
                        {"cost", estimate_json(choice->cost)}};
  }
  return json;
}

Json scaling_json(const StudyScaling& study) {
  const Scaling& scaling = study.scaling;
  Json json = scaling_summary_json(study);
  json["machines"] = study.machines.empty() ? Json(nullptr) : Json(study.machines);
  json["planned_run"] = study.planned_run;
  json["counts"] = Json::array();
  for (const ScalingCount& count : scaling.counts)
    json["counts"].push_back(count_json(count));
  json["laws"] = Json::array();
  for (const ScalingFit& fit : scaling.fits)
    json["laws"].push_back(law_json(fit, scaling.counts.back().count));
  json["law_is_decided"] = scaling.law_family_is_decided;
  json["scatter"] = scaling.scatter;
  json["why_no_law"] = scaling.why_no_law.empty() ? Json(nullptr) : Json(scaling.why_no_law);
  json["predictions"] = Json::array();
  for (const ScalingPrediction& each : scaling.predictions) {
    json["predictions"].push_back({{"count", each.count},
                                   {"time_s", estimate_json(each.time_s)},
                                   {"cost", estimate_json(each.cost)},
                                   {"beyond_measured", each.beyond_measured}});
  }
  json["remarks"] = study.remarks;
  return json;
}

}  // namespace steptune
