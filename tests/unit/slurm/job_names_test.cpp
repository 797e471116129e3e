// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/job_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune::slurm {
namespace {

using ::testing::MatchesRegex;

TEST(StudyPrefix, ContainsTheNameAndDiffersBetweenIdentities) {
  const std::string prefix = study_prefix("resnet-nightly", "a");
  EXPECT_THAT(prefix, MatchesRegex("steptune\\.resnet-nightly\\.[0-9a-f]+\\."));
  EXPECT_EQ(prefix, study_prefix("resnet-nightly", "a"));
  EXPECT_NE(prefix, study_prefix("resnet-nightly", "b")) << "studies of one name, two folders";
  EXPECT_EQ(study_of_job(prefix + "7"), "resnet-nightly");
}

TEST(StudyPrefix, ReplacesOtherCharactersByDashesAndShortensTheName) {
  EXPECT_EQ(study_of_job(study_prefix("aZ09_-", "")), "aZ09_-");
  EXPECT_EQ(study_of_job(study_prefix("v1.2 b/c", "")), "v1-2-b-c");
  const std::string longer(40, 'x');
  EXPECT_EQ(study_of_job(study_prefix(longer + "1", "")), std::string(24, 'x'));
  EXPECT_NE(study_prefix(longer + "1", ""), study_prefix(longer + "2", ""));
}

TEST(StudyOfJob, ReturnsNulloptForOtherJobs) {
  for (const char* job : {"", "train", "steptune", "steptune.", "steptune.a", "xsteptune.a.b.",
                          "steptune..1a2b3c4d.7"})
    EXPECT_FALSE(study_of_job(job)) << job;
}

TEST(StepName, ContainsTrialAttemptLaunchAndWord) {
  const std::string name = step_name({7, 2}, 3, "0123456789abcdef");
  EXPECT_EQ(name, "t7-a2-l3-0123456789abcdef");
  EXPECT_EQ(trial_of_step(name), (TrialKey{7, 2}));
  EXPECT_EQ(launch_of(name, {7, 2}), 3);
  EXPECT_EQ(launch_of(step_name({7, 2}, 12, "ab"), {7, 2}), 12);
  EXPECT_FALSE(launch_of(name, {7, 1}));
  EXPECT_FALSE(launch_of(name, {77, 2}));
  EXPECT_FALSE(launch_of(name, {2, 7}));
  EXPECT_FALSE(launch_of("t7-a2-l0-ab", {7, 2}));
  EXPECT_FALSE(launch_of("t7-a2-lx", {7, 2}));
  for (const char* other : {"", "t7-a2-l3", "t7-a2-l3-", "t7-a2-l3-xyz", "x7-a2-l3-ab",
                            "t-a2-l3-ab", "t7-a2-l3-ab/..", " t7-a2-l3-ab"})
    EXPECT_FALSE(trial_of_step(other)) << other;
}

}  // namespace
}  // namespace steptune::slurm
