// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/earlier_studies.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

StudySpec study(const char* name, const char* parameters, const char* baseline,
                const char* objectives = R"(["time"])") {
  Json document = {{"name", name}, {"budget", {{"trials", 5}}}};
  document["parameters"] = parse_json(parameters, "parameters").value();
  document["baseline"] = parse_json(baseline, "baseline").value();
  document["objectives"] = parse_json(objectives, "objectives").value();
  document["runner"] = {{"type", "local"}, {"price_per_hour", 1.0}};
  document["command"] = {"train"};
  for (const auto& [parameter, description] : document["parameters"].items())
    document["command"].push_back("{" + parameter + "}");
  return study_from_json(document, "/studies/study.json", {{"cpus", 8}, {"gpus", 0}}).value();
}

const char* const k_batch = R"({"batch": {"type": "int", "low": 1, "high": 64}})";
const char* const k_batch_and_workers = R"({"batch": {"type": "int", "low": 1, "high": 64},
                                            "workers": {"type": "int", "low": 0, "high": 8}})";

TrialRecord trial_of(std::int64_t number, Configuration configuration, double value) {
  TrialRecord trial = completed(number, value, 0.1);
  trial.configuration = std::move(configuration);
  return trial;
}

Configuration batch(std::int64_t value) {
  Configuration configuration;
  configuration.set("batch", value);
  return configuration;
}

TEST(EarlierStudies, MissingParametersHaveTheBaselinesValue) {
  const StudySpec now = study("now", k_batch_and_workers, R"({"batch": 8, "workers": 3})");
  const StudySpec earlier = study("earlier", k_batch, R"({"batch": 8})");
  const auto observations = translate_trials(now, earlier, {trial_of(1, batch(16), 2.0)});
  ASSERT_TRUE(observations) << observations.error().text();
  ASSERT_EQ(observations->size(), 1U);
  EXPECT_EQ(observations->front().configuration.text(), "batch=16 workers=3");
  EXPECT_THAT(observations->front().values, ElementsAre(2.0));
  // The run's own error, and the usual 1.5 % between launches of one configuration.
  EXPECT_THAT(observations->front().standard_errors,
              ElementsAre(::testing::DoubleEq(std::hypot(0.1, 0.015 * 2.0))));
}

TEST(EarlierStudies, InvalidConfirmingAndUnfinishedTrialsAreDropped) {
  const StudySpec now =
      study("now", R"({"batch": {"type": "int", "low": 1, "high": 20}})", R"({"batch": 8})");
  const StudySpec earlier = study("earlier", k_batch_and_workers, R"({"batch": 8, "workers": 0})");
  Configuration inside = batch(16);
  inside.set("workers", std::int64_t{4});
  Configuration outside = batch(32);
  outside.set("workers", std::int64_t{4});
  TrialRecord confirmation = trial_of(3, inside, 2.0);
  confirmation.purpose = TrialPurpose::confirm_incumbent;
  TrialRecord unfinished = trial_of(4, inside, 2.0);
  unfinished.status = TrialStatus::running;
  const auto observations = translate_trials(
      now, earlier,
      {trial_of(1, inside, 2.0), trial_of(2, outside, 1.0), confirmation, unfinished});
  ASSERT_TRUE(observations) << observations.error().text();
  ASSERT_EQ(observations->size(), 1U);
  EXPECT_EQ(observations->front().configuration.text(), "batch=16");
}

TEST(EarlierStudies, ObjectivesAndTheirErrorsAreFoundByName) {
  const StudySpec now = study("now", k_batch, R"({"batch": 8})", R"(["cost"])");
  const StudySpec earlier = study("earlier", k_batch, R"({"batch": 8})", R"(["time", "cost"])");
  TrialRecord trial = trial_of(1, batch(16), 2.0);
  trial.objectives = {2.0, 7.0};
  trial.standard_errors = {0.1, 0.2};
  const auto observations = translate_trials(now, earlier, {trial});
  ASSERT_TRUE(observations) << observations.error().text();
  EXPECT_THAT(observations->front().values, ElementsAre(7.0));
  EXPECT_THAT(observations->front().standard_errors, ElementsAre(::testing::Ge(0.2)));

  const auto nothing_common = translate_trials(earlier, now, {trial});
  ASSERT_FALSE(nothing_common);
  EXPECT_EQ(nothing_common.error().kind, ErrorKind::usage);
  EXPECT_THAT(nothing_common.error().text(),
              HasSubstr("study \"now\" has other objectives (cost) than this one (time, cost)"));
}

TEST(EarlierStudies, FailuresAreObservedToo) {
  const StudySpec now = study("now", k_batch, R"({"batch": 8})");
  TrialRecord failed = trial_of(1, batch(64), 0.0);
  failed.status = TrialStatus::out_of_memory;
  const auto observations = translate_trials(now, now, {failed});
  ASSERT_TRUE(observations);
  EXPECT_EQ(observations->front().kind, ObservationKind::out_of_memory);
  EXPECT_TRUE(observations->front().values.empty());
}

TEST(EarlierStudies, SlowStartsDoNotCountIfThereIsMoreTime) {
  StudySpec earlier = study("earlier", k_batch, R"({"batch": 8})");
  earlier.budget.time_s = 200.0;
  TrialRecord baseline = trial_of(1, batch(8), 2.0);
  baseline.purpose = TrialPurpose::baseline;
  baseline.measurement = steady(2.0, 0.02, 1.0);
  TrialRecord slow = trial_of(2, batch(16), 0.0);
  slow.status = TrialStatus::infeasible;
  slow.objectives.clear();
  slow.standard_errors.clear();
  slow.awaited_start_s = 100.0;
  const auto observed_count = [&](std::optional<double> time_s) {
    StudySpec now = earlier;
    now.budget.time_s = time_s;
    return translate_trials(now, earlier, {baseline, slow}).value().size();
  };
  EXPECT_EQ(observed_count(200.0), 2U);
  EXPECT_EQ(observed_count(2000.0), 1U);
  EXPECT_EQ(observed_count(std::nullopt), 1U);
}

TEST(EarlierStudies, AnObjectiveInTheOtherDirectionIsAnotherObjective) {
  const StudySpec now =
      study("now", k_batch, R"({"batch": 8})", R"([{"metric": "score", "direction": "maximize"}])");
  const StudySpec earlier =
      study("earlier", k_batch, R"({"batch": 8})", R"([{"metric": "score"}])");
  const auto refused = translate_trials(now, earlier, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "/search/learn_from: study \"earlier\" has other objectives (score) than this one "
            "(score (maximized))\n  name studies with the same objectives");
}

}  // namespace
}  // namespace steptune
