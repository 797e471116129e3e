// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html/scaling_section.hpp"

#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/html/html_text.hpp"
#include "tuner/report/scaling_report.hpp"

namespace steptune {
std::string scaling_html(const StudyScaling& study) {
  const ScalingWords words = in_words(study);
  std::string html;
  const auto add = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    html += fmt::format("<p><strong>{}</strong> {}</p>\n", name, html_escaped(text));
  };
  add("Law", words.law);
  add("Shares", words.shares);
  add("Largest", words.at_greatest);
  add("Knee", words.knee);
  add("Cheapest", words.choice);
  html += html_table(scaling_table(study, TableDetail::all));
  if (!study.planned_run) {
    html += fmt::format("<p>Times and costs are for a million {}.</p>\n",
                        html_escaped(study.unit.plural));
  }
  for (const std::string& remark : study.remarks)
    html += fmt::format("<p>{}</p>\n", html_escaped(remark));
  return html;
}

Json scaling_data(const StudyScaling& study) {
  const Scaling& scaling = study.scaling;
  Json json;
  json["over"] = scaling.question.count_parameter;
  json["time"] = study.planned_run ? "time" : "time/1M " + study.unit.plural;
  json["ideal"] = scaling.counts.front().efficiency.has_value();
  json["points"] = Json::array();
  for (const ScalingCount& count : scaling.counts) {
    json["points"].push_back(
        {{"count", count.count},
         {"value", count.time_s.mean},
         {"low", count.time_s.low},
         {"high", count.time_s.high},
         {"trial", count.trial},
         {"text", fmt::format("trial {}: {}\n{} ({} to {})", count.trial,
                              count_text(scaling.question.count_parameter, count.count),
                              format_duration(count.time_s.mean), format_duration(count.time_s.low),
                              format_duration(count.time_s.high))}});
  }
  json["curve"] = Json::array();
  if (scaling.fits.empty()) return json;
  constexpr int k_steps = 40;
  const double first = scaling.counts.front().count;
  const double ratio = scaling.counts.back().count / first;
  for (int i = 0; i <= k_steps; ++i) {
    const double count = first * std::pow(ratio, static_cast<double>(i) / k_steps);
    const Estimate time = scaling.fits.front().estimate(
        [count](const ScalingCurve& curve) { return curve.time_s(count); });
    json["curve"].push_back(
        {{"count", count}, {"value", time.mean}, {"low", time.low}, {"high", time.high}});
  }
  return json;
}

}  // namespace steptune
