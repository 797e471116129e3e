// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/observations.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

TEST(Observations, MaximizedObjectivesAreNegatedForTheSearchOnly) {
  StudySpec study = time_study();
  study.objectives = {{"accuracy", Direction::maximize}};
  const TrialRecord trial = completed(4, 0.75, 0.1);
  const Observation observation = to_observation(study, trial);
  EXPECT_EQ(observation.trial, 4);
  EXPECT_EQ(observation.values, std::vector<double>{-0.75});
  // Launches of a configuration vary by 1.5 %.
  EXPECT_DOUBLE_EQ(observation.standard_errors.at(0), std::hypot(0.1, 0.015 * 0.75));
  EXPECT_EQ(observation.kind, ObservationKind::complete);
}

TEST(Observations, KindsFollowTheStatus) {
  TrialRecord trial = completed(1, 2.0);
  const auto kind_of = [&](TrialStatus status) {
    trial.status = status;
    return to_observation(time_study(), trial);
  };
  EXPECT_EQ(kind_of(TrialStatus::stopped_early).kind, ObservationKind::partial);
  EXPECT_EQ(kind_of(TrialStatus::infeasible).kind, ObservationKind::infeasible);
  EXPECT_EQ(kind_of(TrialStatus::infeasible).values.size(), 1U);
  EXPECT_EQ(kind_of(TrialStatus::failed).kind, ObservationKind::failed);
  EXPECT_TRUE(kind_of(TrialStatus::failed).values.empty());
  EXPECT_EQ(kind_of(TrialStatus::out_of_memory).kind, ObservationKind::out_of_memory);
}

TEST(Observations, ValuesThatAreNotFiniteNeverReachTheSearcher) {
  TrialRecord trial = completed(1, std::nan(""));
  EXPECT_EQ(to_observation(time_study(), trial).kind, ObservationKind::failed);
  EXPECT_TRUE(to_observation(time_study(), trial).values.empty());
  trial = completed(1, 2.0, std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_observation(time_study(), trial).standard_errors, std::vector<double>{0.0});
}

TEST(Observations, FidelityIsTheShareOfStepsOfAStoppedTrial) {
  StudySpec study = time_study();
  study.search.max_steps = 800.0;
  TrialRecord trial = completed(1, 2.0);
  trial.status = TrialStatus::stopped_early;
  trial.measurement = steady(0.1);
  trial.measurement->window_steps = 80.0;
  EXPECT_DOUBLE_EQ(to_observation(study, trial).fidelity, 0.1);
  trial.status = TrialStatus::completed;
  EXPECT_DOUBLE_EQ(to_observation(study, trial).fidelity, 1.0);
}

TEST(Observations, WithMemoryTermsThePeakIsThatOfTheGpu) {
  StudySpec study = time_study();
  TrialRecord trial = completed(1, 2.0);
  trial.peak_memory_bytes = 5e9;
  trial.gpu = GpuUse{.peak_memory_bytes = 60e9, .peak_memory_share = 0.75};
  EXPECT_EQ(to_observation(study, trial).peak_memory_bytes, 5e9);
  EXPECT_FALSE(to_observation(study, trial).memory_limit_bytes);
  study.search.memory_terms.push_back(document::Formula::constant(1.0, "1"));
  EXPECT_EQ(to_observation(study, trial).peak_memory_bytes, 60e9);
  EXPECT_EQ(to_observation(study, trial).memory_limit_bytes, 80e9);
  trial.gpu->most_other_processes = 1;
  EXPECT_EQ(to_observation(study, trial).peak_memory_bytes, 5e9) << "others used the GPU, too";
}

}  // namespace
}  // namespace steptune
