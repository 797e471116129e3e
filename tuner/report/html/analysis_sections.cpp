// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html/analysis_sections.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/bottleneck_report.hpp"
#include "tuner/report/html/html_text.hpp"
#include "tuner/report/importance_report.hpp"
#include "tuner/report/scaling_report.hpp"

namespace steptune {
namespace {

std::string paragraph(const std::string& text, const char* kind = nullptr) {
  if (text.empty()) return {};
  return kind == nullptr ? fmt::format("<p>{}</p>\n", html_escaped(text))
                         : fmt::format("<p class=\"{}\">{}</p>\n", kind, html_escaped(text));
}

std::string shares_html(const std::string& title, const Importance& importance,
                        const ObjectiveView* view) {
  std::vector<TextTable::Column> columns{
      {"parameter"}, {"share of variance", Align::right}, {"with its pairs", Align::right}};
  if (view != nullptr) columns.push_back({"by itself"});
  TextTable table(std::move(columns));
  for (const ParameterImportance& parameter : importance.parameters) {
    std::vector<std::string> row{parameter.parameter, share_text(parameter),
                                 parameter.varied ? share_text(parameter.in_all) : "-"};
    if (view != nullptr) row.push_back(effect_text(parameter, importance, *view));
    table.add_row(std::move(row));
  }
  for (const PairImportance& pair : importance.pairs)
    table.add_row({fmt::format("{} with {}", pair.first, pair.second), share_text(pair.share)});
  return fmt::format("<h3>{}</h3>\n", html_escaped(title)) + html_table(table);
}

std::string ablation_html(const ObjectiveImportance& objective) {
  const AblationPath& path = objective.ablation;
  const std::string title = "From baseline to best, " + objective.view.title();
  std::string html = fmt::format("<h3>{}</h3>\n", html_escaped(title));
  if (!path.why_unknown.empty()) return html + paragraph(path.why_unknown);
  html += paragraph(ablation_headline(path), "evidence");
  TextTable table({{"set"}, {"gain", Align::right}, {"known from"}});
  for (const AblationStep& step : path.steps) {
    table.add_row({changes_text(step), gain_text(step.gain, path.logarithmic),
                   step.measured ? "measured" : "by the model"});
  }
  return html + html_table(table);
}

Json share_bars(const std::string& title, const Importance& importance) {
  Json rows = Json::array();
  const auto add = [&](const std::string& label, const Estimate& share, bool pair) {
    rows.push_back({{"label", label},
                    {"to", share.mean},
                    {"low", share.low},
                    {"high", share.high},
                    {"kind", pair ? "pair" : "parameter"}});
  };
  for (const ParameterImportance& parameter : importance.parameters) {
    if (parameter.varied) add(parameter.parameter, parameter.alone, false);
  }
  for (const PairImportance& pair : importance.pairs)
    add(pair.first + " with " + pair.second, pair.share, true);
  return {{"title", title}, {"rows", std::move(rows)}};
}

/// Returns the bars of the ablation chart. Each bar starts where the previous bar ends.
Json ablation_bars(const AblationPath& path) {
  Json rows = Json::array();
  double at = path.logarithmic ? 1.0 : 0.0;
  for (const AblationStep& step : path.steps) {
    const auto after = [&](double gain) { return path.logarithmic ? at * gain : at + gain; };
    rows.push_back({{"label", changes_text(step)},
                    {"from", at},
                    {"to", after(step.gain.mean)},
                    {"low", after(step.gain.low)},
                    {"high", after(step.gain.high)},
                    {"kind", step.measured ? "measured" : "modelled"}});
    at = after(step.gain.mean);
  }
  return {{"log", path.logarithmic}, {"rows", std::move(rows)}};
}

}  // namespace

std::string importance_html(const StudyImportance& study) {
  std::string html = paragraph(
      "How much of the variance over the whole search space each parameter explains, with 95 % "
      "intervals.");
  for (const ObjectiveImportance& objective : study.objectives) {
    const std::string title = objective.view.title();
    if (objective.follows) {
      html += paragraph(fmt::format("{} is a fixed multiple of {}: its shares are the same.", title,
                                    study.objectives[*objective.follows].view.title()));
      continue;
    }
    const Importance& importance = objective.importance;
    if (!importance.why_unknown.empty()) {
      html += paragraph(fmt::format("{}: {}", title, importance.why_unknown));
    } else {
      html += shares_html(title, importance, &objective.view);
      html += paragraph(fmt::format("{} trials, of whose variance the model explains {}.",
                                    importance.trials, format_percent(importance.explained.mean)));
    }
    html += ablation_html(objective);
  }
  if (study.failure.why_unknown.empty()) {
    html += shares_html("failure", study.failure, nullptr);
  } else {
    html += paragraph("failure: " + study.failure.why_unknown);
  }
  return html;
}

std::string bottleneck_html(const Bottleneck& bottleneck) {
  const BottleneckWords words = in_words(bottleneck);
  std::string html = fmt::format("<p><strong>{}</strong></p>\n", html_escaped(words.finding)) +
                     paragraph(words.evidence, "evidence") +
                     paragraph(words.gain_without_loading, "evidence");
  if (!bottleneck.stages.empty()) html += html_table(stage_table(bottleneck, /*with_parts=*/true));
  if (bottleneck.responses.empty()) return html + paragraph(bottleneck.why_no_responses);
  return html + "<h3>What the step time depends on</h3>\n" +
         html_table(response_table(bottleneck, /*with_range=*/true, /*is_cut=*/false));
}

void add_analysis_data(Json& json, const StudyAnalysis& analysis) {
  json["importance"] = Json::array();
  for (const ObjectiveImportance& objective : analysis.importance.objectives) {
    if (objective.follows || !objective.importance.why_unknown.empty()) continue;
    json["importance"].push_back(share_bars(objective.view.title(), objective.importance));
  }
  if (analysis.importance.failure.why_unknown.empty()) {
    json["importance"].push_back(share_bars("failure", analysis.importance.failure));
  }
  json["ablation"] = Json::array();
  for (const ObjectiveImportance& objective : analysis.importance.objectives) {
    if (objective.follows || objective.ablation.steps.empty()) continue;
    json["ablation"].push_back(ablation_bars(objective.ablation));
    json["ablation"].back()["title"] = objective.view.title();
  }
  json["bottleneck"] = Json::array();
  if (!analysis.bottleneck) return;
  Json stages = Json::array();
  for (const StageTime& time : analysis.bottleneck->stages) {
    stages.push_back(
        {{"label", stage_title(time.stage)}, {"to", time.share}, {"kind", "parameter"}});
  }
  if (!stages.empty()) {
    json["bottleneck"].push_back({{"title", "share of a step"}, {"rows", std::move(stages)}});
  }
  Json responses = Json::array();
  for (const ParameterResponse& response : analysis.bottleneck->responses) {
    responses.push_back({{"label", response.parameter},
                         {"from", 1.0},
                         {"to", response.range.mean},
                         {"low", response.range.low},
                         {"high", response.range.high},
                         {"kind", "parameter"}});
  }
  if (!responses.empty()) {
    json["bottleneck"].push_back({{"title", "time at the worst to time at the best value"},
                                  {"log", true},
                                  {"rows", std::move(responses)}});
  }
}

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
