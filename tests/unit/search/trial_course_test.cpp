// SPDX-License-Identifier: Apache-2.0
#include "search/trial_course.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace steptune {
namespace {

/// Says what it was made to say, and counts how often it was asked.
class Adviser final : public Searcher {
 public:
  explicit Adviser(std::optional<Advice> advice) : advice_(std::move(advice)) {}
  void observe(const Observation& /*observation*/) override {}
  Result<std::optional<Suggestion>> suggest(const SuggestRequest& /*request*/) override {
    return std::optional<Suggestion>();
  }
  std::optional<Advice> advise(const TrialProgress& progress) override {
    fidelities.push_back(progress.milestones.back().fidelity);
    return advice_;
  }

  std::vector<double> fidelities;

 private:
  std::optional<Advice> advice_;
};

std::unique_ptr<Scheduler> short_scheduler(const std::string& name) {
  auto scheduler = make_scheduler(name, {3.0, 10, 80});
  EXPECT_TRUE(scheduler) << scheduler.error().text();
  return *std::move(scheduler);
}

TrialEstimate step_estimate(double resource, double value, double half_width = 0.0) {
  return {1, resource, {value}, {half_width}};
}

TEST(TrialCourse, HasAMilestoneAtEachDoublingBelowTheFullTrial) {
  TrialCourse course(10, 80);
  EXPECT_FALSE(course.note(step_estimate(9, 5.0)));
  EXPECT_TRUE(course.note(step_estimate(12, 4.0, 1.96)));
  EXPECT_FALSE(course.note(step_estimate(19, 3.5)));
  EXPECT_TRUE(course.note(step_estimate(50, 3.0)));
  EXPECT_FALSE(course.note(step_estimate(70, 2.5))) << "40 was passed with 50";
  EXPECT_FALSE(course.note(step_estimate(80, 2.0))) << "that is its end";
  ASSERT_EQ(course.milestones().size(), 2U);
  EXPECT_DOUBLE_EQ(course.milestones()[0].fidelity, 0.15);
  EXPECT_EQ(course.milestones()[0].values, std::vector<double>{4.0});
  EXPECT_NEAR(course.milestones()[0].standard_errors[0], 1.0, 1e-3);
}

TEST(TrialCourse, WaitsForAnInterval) {
  TrialCourse course(10, 80);
  EXPECT_FALSE(course.note(step_estimate(10, 4.0, INFINITY)));
  EXPECT_TRUE(course.note(step_estimate(11, 4.0, 0.1)));
}

TEST(TrialCourse, LetsTheSearcherOverruleAshaUntilTheNextMilestone) {
  const auto asha = short_scheduler("asha");
  asha->on_exempt({0, 30, {1.0}, {0.0}});
  Adviser stubborn(Advice{true, ""});
  TrialCourse course(10, 80);
  EXPECT_EQ(course.judge(step_estimate(10, 9.0), {}, *asha, stubborn).verdict, Verdict::go_on);
  EXPECT_EQ(course.judge(step_estimate(15, 9.0), {}, *asha, stubborn).verdict, Verdict::go_on);
  EXPECT_EQ(stubborn.fidelities, std::vector<double>{0.125}) << "asked once";

  Adviser cautious(Advice{false, "hopeless"});
  TrialCourse another(10, 80);
  const Decision decision = another.judge(step_estimate(10, 0.5), {}, *asha, cautious);
  EXPECT_EQ(decision.verdict, Verdict::stop);
  EXPECT_EQ(decision.reason, "hopeless");
}

TEST(TrialCourse, LeavesTheVerdictToTheSchedulerWithoutAdvice) {
  const auto asha = short_scheduler("asha");
  asha->on_exempt({0, 30, {1.0}, {0.0}});
  Adviser silent(std::nullopt);
  TrialCourse course(10, 80);
  EXPECT_EQ(course.judge(step_estimate(10, 9.0), {}, *asha, silent).verdict, Verdict::stop);
  EXPECT_EQ(silent.fidelities.size(), 1U);
}

TEST(TrialCourse, AsksNobodyWhereTheSchedulerTakesNoAdvice) {
  for (const char* name : {"none", "racing", "median"}) {
    const auto scheduler = short_scheduler(name);
    Adviser adviser(Advice{false, "hopeless"});
    TrialCourse course(10, 80);
    EXPECT_EQ(course.judge(step_estimate(10, 9.0), {}, *scheduler, adviser).verdict, Verdict::go_on)
        << name;
    EXPECT_TRUE(adviser.fidelities.empty()) << name;
  }
}

}  // namespace
}  // namespace steptune
