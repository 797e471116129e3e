// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/unit/cli/trial_fixtures.hpp"
#include "tuner/report/bottleneck_report.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/html/analysis_sections.hpp"
#include "tuner/report/importance_report.hpp"

namespace steptune {
namespace {

constexpr const char* k_hostile_name = "<b>\x1b[31mname</b>";

ParameterImportance important(const std::string& name, Estimate share, Estimate size) {
  ParameterImportance parameter;
  parameter.parameter = name;
  parameter.varied = true;
  parameter.alone = share;
  parameter.in_all = share;
  parameter.effect = MainEffect{Value{std::int64_t{8}}, Value{std::int64_t{0}}, size};
  return parameter;
}

Importance some_importance(const std::string& name = "workers") {
  Importance importance;
  importance.trials = 49;
  importance.explained = {0.97, 0.95, 0.99};
  importance.parameters = {important(name, {0.62, 0.55, 0.69}, {2.41, 2.2, 2.6}),
                           important("threads", {0.001, 0.0, 0.01}, {1.01, 0.98, 1.03})};
  importance.parameters.emplace_back().parameter = "precision";
  importance.pairs = {{name, "threads", {0.06, 0.02, 0.11}}};
  return importance;
}

AblationStep step_of(const std::string& name, Estimate gain, bool measured) {
  AblationStep step;
  step.changes = {{name, Value{std::int64_t{0}}, Value{std::int64_t{8}}}};
  step.gain = gain;
  step.measured = measured;
  return step;
}

StudyImportance some_study(const std::string& name = "workers") {
  StudyImportance study;
  study.baseline = 1;
  study.best = 10;
  ObjectiveImportance time{planned_time(), some_importance(name), {}, {}};
  time.ablation.gain = {2.8, 2.7, 2.9};
  time.ablation.steps = {step_of(name, {1.9, 1.8, 2.0}, true),
                         step_of("precision", {1.3, 1.25, 1.35}, false),
                         step_of("threads", {1.0, 0.97, 1.03}, true)};
  ObjectiveImportance cost = time;
  cost.view = planned_cost();
  cost.follows = 0;
  study.objectives = {time, cost};
  study.failure = some_importance(name);
  study.failure.logarithmic = false;
  study.failed = 9;
  study.ended = 58;
  return study;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, display_width(line));
  return widest;
}

TEST(ImportanceText, IsATableAndAPath) {
  EXPECT_EQ(importance_text(some_study(), {}),
            R"(share of variance       time, cost       failure  by itself, in time
workers               62 % (55-69)  62 % (55-69)  0 to 8: 2.41x (2.20-2.60)
threads                  0 % (0-1)     0 % (0-1)  no clear effect
precision                        -             -  one value in all trials
workers with threads    6 % (2-11)    6 % (2-11)
time: 49 trials, of whose variance the model explains 97 %
cost: a fixed multiple of time
failure: 9 of 58 trials, of whose variance the model explains 97 %
from baseline (trial 1) to best (trial 10), time: 2.80x: workers 1.90, precision 1.30; no measurable effect from the rest
  workers 0 -> 8    1.90x (1.80-2.00)  measured
  precision 0 -> 8  1.30x (1.25-1.35)  by the model
  threads 0 -> 8    1.00x (0.97-1.03)  measured
)");
}

TEST(ImportanceText, FitsANarrowTerminal) {
  for (const std::size_t width : {60U, 80U, 100U}) {
    const std::string text = importance_text(some_study(), {false, width});
    EXPECT_LE(widest_line(text), width) << text;
    EXPECT_NE(text.find("workers with threads"), std::string::npos);
    EXPECT_EQ(text.find("by itself") == std::string::npos, width < 80U);
  }
}

TEST(ImportanceText, HasColoursOnlyIfWanted) {
  EXPECT_EQ(importance_text(some_study(), {}).find('\x1b'), std::string::npos);
  EXPECT_NE(importance_text(some_study(), {true, 0}).find("\x1b[1mfrom baseline"),
            std::string::npos);
  StudyImportance hostile = some_study();
  hostile.objectives[0].ablation.steps[0].changes[0].to = Value{std::string(k_hostile_name)};
  EXPECT_EQ(importance_text(hostile, {}).find('\x1b'), std::string::npos);
}

TEST(ImportanceText, SaysWhyThereIsNothing) {
  StudyImportance study;
  ObjectiveImportance time{planned_time(), {}, {}, {}};
  time.importance.why_unknown = "5 trials tell of it, 8 are needed";
  time.ablation.why_unknown = "the baseline is the best configuration";
  study.objectives = {time};
  study.failure.why_unknown = "no trial failed";
  EXPECT_EQ(importance_text(study, {}),
            "time: 5 trials tell of it, 8 are needed\n"
            "failure: no trial failed\n"
            "from baseline to best, time: the baseline is the best configuration\n");
}

TEST(ImportanceText, AModelThatExplainsLittleIsNotReliedOn) {
  StudyImportance study = some_study();
  study.objectives[0].importance.explained = {0.3, 0.1, 0.5};
  EXPECT_NE(importance_text(study, {}).find("explains 30 %: too little to rely on the shares"),
            std::string::npos);
}

TEST(ImportanceJson, HasEveryFigureUnderItsName) {
  const Json json = importance_json(some_study());
  EXPECT_EQ(json["objectives"][0]["parameters"][0]["alone"]["high_95"], 0.69);
  EXPECT_EQ(json["objectives"][0]["parameters"][0]["effect"]["value_at_least"], 8);
  EXPECT_EQ(json["objectives"][0]["parameters"][0]["effect"]["ratio"]["mean"], 2.41);
  EXPECT_TRUE(json["objectives"][0]["parameters"][2]["alone"].is_null());
  EXPECT_EQ(json["objectives"][1]["multiple_of"], "time");
  EXPECT_EQ(json["objectives"][0]["ablation"]["steps"][1]["measured"], false);
  EXPECT_EQ(json["objectives"][0]["ablation"]["steps"][0]["changes"][0]["to"], 8);
  EXPECT_EQ(json["failure"]["failed"], 9);
  EXPECT_TRUE(json["failure"]["parameters"][0]["effect"].contains("difference"));
}

Bottleneck some_bottleneck(const std::string& name = "workers") {
  Bottleneck bottleneck;
  bottleneck.trial = 7;
  bottleneck.step_seconds_per_sample = 0.001;
  bottleneck.trials = 49;
  bottleneck.stages = {{StepStage::data, {"data"}, 0.00061, 0.61},
                       {StepStage::compute, {"backward", "forward"}, 0.00009, 0.09}};
  bottleneck.unreported_share = 0.3;
  bottleneck.startup_share = 0.002;
  ParameterResponse workers{name,
                            StepStage::data,
                            Value{std::int64_t{0}},
                            Value{std::int64_t{8}},
                            Value{std::int64_t{0}},
                            {1.9, 1.8, 2.0},
                            {1.9, 1.8, 2.0}};
  ParameterResponse precision{"precision",
                              StepStage::compute,
                              Value{std::string("fp32")},
                              Value{std::string("bf16")},
                              Value{std::string("fp32")},
                              {1.01, 0.99, 1.02},
                              {1.01, 0.99, 1.02}};
  bottleneck.responses = {workers, precision};
  return bottleneck;
}

TEST(BottleneckText, BeginsWithTheFinding) {
  EXPECT_EQ(
      bottleneck_text(some_bottleneck(), {}),
      R"(Data loading costs 61 % of a step: at most 2.6x to gain. workers 0 -> 8 gives 1.90x (1.80-2.00); precision would gain less than 10 %.
Based on the parts that trial 7 reported (70 % of its step time), and on a model of the speed of 49 trials, at the configuration of trial 7.

stage    share of a step  per sample  gain if it took 0 s  parts
data                61 %      610 us                2.56x  data
compute            9.0 %       90 us                1.10x  backward, forward
unknown             30 %      300 us                    -

parameter  acts on   now  best          gain left      worst to best
workers    data        0     8  1.90x (1.80-2.00)  1.90x (1.80-2.00)
precision  compute  fp32  bf16  1.01x (0.99-1.02)  1.01x (0.99-1.02)

start-up and warm-up: 0.2 % of the planned run
)");
}

TEST(BottleneckText, FitsANarrowTerminal) {
  for (const std::size_t width : {60U, 80U}) {
    const std::string text = bottleneck_text(some_bottleneck(), {false, width});
    EXPECT_LE(widest_line(text), width) << text;
    EXPECT_EQ(text.find("worst to best") == std::string::npos, width < 80U);
  }
  EXPECT_EQ(bottleneck_text(some_bottleneck(), {true, 80}).substr(0, 4), "\x1b[1m");
  Bottleneck hostile = some_bottleneck();
  hostile.stages[0].parts = {k_hostile_name};
  EXPECT_EQ(bottleneck_text(hostile, {}).find('\x1b'), std::string::npos);
}

TEST(BottleneckText, ShowsHowOftenStepsWaitForTheLoader) {
  Bottleneck bottleneck = some_bottleneck();
  EXPECT_EQ(bottleneck_text(bottleneck, {}).find("next batch"), std::string::npos);
  bottleneck.loader_queue_empty = 0.94;
  EXPECT_NE(
      bottleneck_text(bottleneck, {}).find("\nthe next batch comes late at 94 % of the steps\n"),
      std::string::npos);
  EXPECT_EQ(json_of(bottleneck)["loader_queue_empty_share"], 0.94);
}

TEST(BottleneckJson, HasEveryFigureUnderItsName) {
  const Json json = json_of(some_bottleneck());
  EXPECT_EQ(json["stages"][0]["stage"], "data");
  EXPECT_EQ(json["stages"][0]["share"], 0.61);
  EXPECT_EQ(json["responses"][1]["best"], "bf16");
  EXPECT_EQ(json["responses"][0]["gain_left"]["low_95"], 1.8);
  EXPECT_TRUE(json["gpu_busy_share"].is_null());
  EXPECT_TRUE(json["loader_queue_empty_share"].is_null());
  EXPECT_TRUE(json["no_responses"].is_null());
  EXPECT_EQ(json["finding"].get<std::string>().find("Data loading costs 61 %"), 0U);
}

TEST(AnalysisSections, SayInTablesWhatTheChartsShow) {
  const std::string importance = importance_html(some_study());
  EXPECT_NE(importance.find("<th scope=\"row\">workers</th><td class=\"number\">62 % (55-69)</td>"),
            std::string::npos)
      << importance;
  EXPECT_NE(importance.find("<td>by the model</td>"), std::string::npos);
  EXPECT_NE(importance.find("cost is a fixed multiple of time"), std::string::npos);
  const std::string bottleneck = bottleneck_html(some_bottleneck());
  EXPECT_NE(bottleneck.find("<strong>Data loading costs 61 % of a step"), std::string::npos);
  EXPECT_NE(bottleneck.find("<td class=\"number\">2.56x</td><td>data</td>"), std::string::npos);
}

TEST(AnalysisSections, ParameterNamesAreEscaped) {
  for (const std::string& html : {importance_html(some_study(k_hostile_name)),
                                  bottleneck_html(some_bottleneck(k_hostile_name))}) {
    EXPECT_EQ(html.find("<b>"), std::string::npos);
    EXPECT_EQ(html.find('\x1b'), std::string::npos);
    EXPECT_NE(html.find("&lt;b&gt;"), std::string::npos);
  }
}

TEST(AnalysisSections, TheChartsHaveABarForEachRow) {
  Json data;
  add_analysis_data(data, {some_study(), some_bottleneck()});
  ASSERT_EQ(data["importance"].size(), 2U) << "time and failure: cost follows time";
  EXPECT_EQ(data["importance"][0]["rows"].size(), 3U)
      << "two varied parameters, and their interaction";
  ASSERT_EQ(data["ablation"].size(), 1U);
  const Json& rows = data["ablation"][0]["rows"];
  EXPECT_EQ(rows[0]["to"], 1.9);
  EXPECT_EQ(rows[1]["from"], 1.9) << "where the one before it ended";
  EXPECT_NEAR(rows[1]["high"].get<double>(), 1.9 * 1.35, 1e-12);
  EXPECT_EQ(rows[1]["kind"], "modelled");
  EXPECT_EQ(data["bottleneck"][0]["rows"].size(), 2U);
  EXPECT_EQ(data["bottleneck"][1]["rows"].size(), 2U);
}

}  // namespace
}  // namespace steptune
