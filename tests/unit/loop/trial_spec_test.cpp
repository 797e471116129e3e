// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_spec.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "tests/unit/loop/fixture.hpp"

namespace steptune {
namespace {

StudySpec live_study(const char* trials = "live") {
  Json document = parse_json(R"({
    "name": "s", "command": ["python3", "train.py"], "trials": "live",
    "hooks": {"pytorch": {"num_workers": "{x}"}},
    "parameters": {"x": {"type": "int", "low": 0, "high": 4}}, "baseline": {"x": 0}
  })",
                             "study")
                      .value();
  document["trials"] = trials;
  return study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
}

/// What a trial beside a baseline of these rates is told in units of.
std::optional<double> level(double step_rate, double rate) {
  TrialRecord baseline;
  baseline.measurement = steady(rate);
  baseline.measurement->step_seconds_per_sample = step_rate;
  TrialRecord trial;
  trial.number = 2;
  trial.purpose = TrialPurpose::search;
  trial.configuration.set("x", std::int64_t{3});
  const TrialSpec spec = make_trial_spec(live_study(), trial, &baseline);
  EXPECT_TRUE(spec.live);
  return spec.live ? spec.live->baseline_seconds_per_sample : std::nullopt;
}

TEST(TrialSpecOfLiveTrial, HasALevelBesideABaselineThatWasNotSteady) {
  constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(level(0.25, 0.5), 0.25);
  EXPECT_EQ(level(k_unknown, 0.5), 0.5);
  EXPECT_EQ(level(k_unknown, k_unknown), std::nullopt);
}

TEST(TrialSpecOfLiveTrial, WhatConfirmsSharesTheLongRunAloneAndTakesNoTurns) {
  TrialRecord baseline;
  baseline.measurement = steady(0.5);
  TrialRecord trial;
  trial.number = 3;
  trial.purpose = TrialPurpose::confirm_incumbent;
  trial.configuration.set("x", std::int64_t{3});
  EXPECT_FALSE(make_trial_spec(live_study("live"), trial, &baseline).live);
  const auto live = make_trial_spec(live_study("attached"), trial, &baseline).live;
  ASSERT_TRUE(live);
  EXPECT_EQ(live->knobs.size(), 1U);
  EXPECT_FALSE(live->baseline_seconds_per_sample);
}

TEST(TrialSpecOfForkedTrial, WhatIsSearchedMayBeForkedAndWhatConfirmsMayNot) {
  TrialRecord trial;
  trial.number = 3;
  trial.configuration.set("x", std::int64_t{3});
  for (const TrialPurpose purpose :
       {TrialPurpose::baseline, TrialPurpose::search, TrialPurpose::sentinel}) {
    trial.purpose = purpose;
    EXPECT_TRUE(make_trial_spec(live_study("forked"), trial).forked);
    EXPECT_TRUE(make_trial_spec(live_study("live"), trial).forked);
    EXPECT_FALSE(make_trial_spec(live_study("fresh"), trial).forked);
    EXPECT_FALSE(make_trial_spec(live_study("forked"), trial).live);
  }
  for (const TrialPurpose purpose :
       {TrialPurpose::confirm_incumbent, TrialPurpose::confirm_baseline}) {
    trial.purpose = purpose;
    EXPECT_FALSE(make_trial_spec(live_study("forked"), trial).forked);
  }
}

}  // namespace
}  // namespace steptune
