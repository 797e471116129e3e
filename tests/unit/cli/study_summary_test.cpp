// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/study_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/unit/search/random_spaces.hpp"

namespace steptune::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StudySpec study_of(const Json& changes = Json::object()) {
  Json document = must(parse_json(R"({
    "name": "s", "command": ["train", "{batch}", "{workers}"],
    "parameters": {"batch": {"type": "int", "low": 16, "high": 64, "scale": "log2"},
                   "workers": {"type": "int", "low": 0, "high": 3}},
    "baseline": {"batch": 16, "workers": 0},
    "runner": {"type": "local"}
  })",
                                  "study"));
  document.merge_patch(changes);
  return must(study_from_json(document, "/studies/study.json",
                              {{"cpus", 4}, {"gpus", 0}, {"memory_gb", 16}}));
}

std::string summary_of(const Json& changes = Json::object()) {
  const StudySpec study = study_of(changes);
  return study_summary(study, space_size(study.space), {});
}

/// Returns the text of the line with that name; "none" if there is no such line.
std::string said(const std::string& summary, const std::string& name) {
  const std::string begin = name + std::string(name.size() < 10 ? 10 - name.size() : 0, ' ') + " ";
  const std::size_t at = summary.find("\n" + begin);
  if (at == std::string::npos) return "none";
  const std::size_t from = at + 1 + begin.size();
  return summary.substr(from, summary.find('\n', from) - from);
}

TEST(StudySummary, DescribesEachKindOfParameter) {
  EXPECT_EQ(parameter_summary(integer("p", 1, 12)), "1 .. 12, 12 values");
  EXPECT_EQ(parameter_summary(integer("p", 5, 5)), "5 .. 5, 1 value");
  EXPECT_EQ(parameter_summary(integer("p", 16, 64, Scale::log2)), "16 .. 64 (log2), 3 values");
  EXPECT_EQ(parameter_summary(integer("p", 1, 3, Scale::log)), "1 .. 3 (log), 3 values");
  EXPECT_EQ(parameter_summary(stepped(integer("p", 0, 10), 5)), "0 .. 10 step 5, 3 values");
  EXPECT_EQ(parameter_summary(floating("p", 1e-5, 0.5, Scale::log)), "1e-05 .. 0.5 (log)");
  EXPECT_EQ(parameter_summary(floating("p", 0, 1)), "0 .. 1") << "no limit on the number of values";
  EXPECT_EQ(parameter_summary(boolean("p")), "false, true");
  EXPECT_EQ(parameter_summary(categorical("p", {text("a"), whole(2), Value{true}})), "a, 2, true");
  std::vector<Value> choices;
  for (int i = 0; i < 8; ++i)
    choices.push_back(whole(i));
  EXPECT_EQ(parameter_summary(categorical("p", choices)), "0, 1, 2, 3, 4, 5, 6, 7");
  choices.push_back(whole(8));
  choices.push_back(whole(9));
  EXPECT_EQ(parameter_summary(categorical("p", choices)), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
}

TEST(StudySummary, CountsConfigurationsAsTheSpaceEnumeratesThem) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const SearchSpace space = random_space(seed);
    const SpaceSize size = space_size(space);
    EXPECT_EQ(size.product, space.product_size());
    const auto all = space.enumerate(20'000);
    if (!all) continue;
    ASSERT_TRUE(size.feasible) << "seed " << seed;
    EXPECT_EQ(*size.feasible, all->size());
  }
}

TEST(StudySummary, ShowsTheSizeOfTheSpace) {
  EXPECT_EQ(said(summary_of(), "space"), "2 parameters, 12 configurations");
  EXPECT_EQ(said(summary_of({{"constraints", {"workers > 0 or batch < 32"}}}), "space"),
            "2 parameters, 10 configurations (12 combinations before conditions and constraints)");
  const StudySpec study = study_of();
  EXPECT_EQ(said(study_summary(study, {1'000'000, {}}, {}), "space"),
            "2 parameters, 1000000 combinations before conditions and constraints");
  EXPECT_EQ(said(study_summary(study, {}, {}), "space"), "2 parameters, not countable");
}

TEST(StudySummary, ShowsParametersConditionsAndConstraints) {
  const std::string summary = summary_of(
      {{"parameters",
        {{"prefetch", {{"type", "int"}, {"low", 1}, {"high", 4}, {"when", "workers > 0"}}}}},
       {"command",
        {"train", "{batch}", "{workers}", {{"when", "workers > 0"}, {"args", {"{prefetch}"}}}}},
       {"constraints", {"batch < 64 or workers > 1"}}});
  EXPECT_THAT(summary, HasSubstr("\n           batch     int  16 .. 64 (log2), 3 values\n"));
  EXPECT_THAT(
      summary,
      HasSubstr("\n           prefetch  int  1 .. 4, 4 values           when workers > 0\n"));
  EXPECT_EQ(said(summary, "constraint"), "batch < 64 or workers > 1");
  EXPECT_EQ(said(summary, "baseline"), "batch=16 workers=0");
  EXPECT_TRUE(summary.starts_with("study      s  (/studies/study.json): valid\n"));
}

TEST(StudySummary, ShowsSetAndUnsetLimits) {
  const std::string limited = summary_of(
      {{"budget", {{"trials", 20}, {"time", "30m"}, {"cost", 5.0}, {"stop", "payback"}}},
       {"objectives", {"time", "cost"}},
       {"planned_run",
        {{"samples", 1e9}, {"batch_size", "batch"}, {"deadline", "40h"}, {"max_cost", 12}}},
       {"runner", {{"type", "local"}, {"price_per_hour", 3.6}}}});
  EXPECT_EQ(said(limited, "budget"),
            "20 trials, 30 min, $5.00, or until further trials no longer pay back");
  EXPECT_THAT(said(limited, "objectives"), HasSubstr(" of a run over 1e+09 samples"));
  EXPECT_THAT(said(limited, "objectives"), HasSubstr(", in at most 40.0 h"));
  EXPECT_THAT(said(limited, "objectives"), HasSubstr(", for at most $12.00"));
  const std::string unlimited = summary_of();
  EXPECT_THAT(said(unlimited, "objectives"), Not(HasSubstr("at most")));
  EXPECT_EQ(said(unlimited, "guard"), "none");
  EXPECT_EQ(said(unlimited, "constraint"), "none");
}

TEST(StudySummary, ShowsEachLimitOfAGuard) {
  const auto guard = [](const Json& limits) {
    return said(summary_of({{"guards", {limits}}}), "guard");
  };
  EXPECT_EQ(guard({{"metric", "loss"}, {"max", 2.5}}), "loss at most 2.5");
  EXPECT_EQ(guard({{"metric", "acc"}, {"min", 0.9}, {"after_samples", 20000}}),
            "acc at least 0.9, judged after 20000 samples");
  EXPECT_EQ(guard({{"metric", "loss"}, {"max_ratio_to_baseline", 1.02}}),
            "loss at most 1.02 x the baseline's");
  EXPECT_EQ(guard({{"metric", "acc"}, {"min_ratio_to_baseline", 0.98}}),
            "acc at least 0.98 x the baseline's");
}

TEST(StudySummary, LinesOfTheRunnerComeLast) {
  const StudySpec study = study_of();
  const std::vector<SummaryLine> lines = {{"runner", "on this machine", false},
                                          {"empty", "", false}};
  const std::string summary = study_summary(study, space_size(study.space), lines);
  EXPECT_TRUE(summary.ends_with("runner     on this machine\n")) << summary;
}

}  // namespace
}  // namespace steptune::testing
