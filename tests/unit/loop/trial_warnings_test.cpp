// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_warnings.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Warned final : LoopListener {
  void on_warning(const std::string& message) override { messages.push_back(message); }
  std::vector<std::string> messages;
};

std::vector<std::string> warnings_of(const TrialRecord& baseline) {
  const StudySpec study = time_study();
  Warned warned;
  TrialWarnings(study, warned).of_baseline(baseline);
  return warned.messages;
}

TrialRecord diverged() {
  TrialRecord baseline = completed(1, 1.0);
  baseline.measurement = steady(0.1);
  baseline.measurement->not_finite = {"loss"};
  return baseline;
}

TEST(TrialWarnings, ABaselineWithANanLossIsReported) {
  EXPECT_THAT(warnings_of(diverged()),
              ElementsAre(HasSubstr("the baseline's loss was NaN or infinite when it ended")));
}

TEST(TrialWarnings, ABaselineWithAFiniteLossIsNotReported) {
  TrialRecord sound = diverged();
  sound.measurement->not_finite.clear();
  EXPECT_TRUE(warnings_of(sound).empty());
}

TEST(TrialWarnings, AViolatedGuardIsReportedOnce) {
  TrialRecord baseline = diverged();
  baseline.status = TrialStatus::infeasible;
  baseline.failure = "loss@1000 is not a finite number";
  EXPECT_THAT(warnings_of(baseline), ElementsAre(HasSubstr("itself violates a limit")));
}

}  // namespace
}  // namespace steptune
