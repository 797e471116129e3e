// SPDX-License-Identifier: Apache-2.0
#include "search/early_stopping.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace steptune {
namespace {

/// Returns a given decision, and records the progress at each request.
class DecidingSearcher final : public Searcher {
 public:
  explicit DecidingSearcher(std::optional<StopDecision> decision)
      : decision_(std::move(decision)) {}
  void observe(const Observation& /*observation*/) override {}
  Result<std::optional<Suggestion>> suggest(const SuggestRequest& /*request*/) override {
    return std::optional<Suggestion>();
  }
  std::optional<StopDecision> should_stop(const Configuration& /*configuration*/,
                                          std::span<const Milestone> milestones) override {
    fidelities.push_back(milestones.back().fidelity);
    return decision_;
  }

  std::vector<double> fidelities;

 private:
  std::optional<StopDecision> decision_;
};

std::unique_ptr<Scheduler> short_scheduler(const std::string& name) {
  auto scheduler = make_scheduler(name, {3.0, 10, 80});
  EXPECT_TRUE(scheduler) << scheduler.error().text();
  return *std::move(scheduler);
}

TrialEstimate step_estimate(double resource, double value, double half_width = 0.0) {
  return {1, resource, {value}, {half_width}};
}

TEST(EarlyStopping, HasAMilestoneAtEachDoublingBelowTheFullTrial) {
  EarlyStopping early_stopping({3.0, 10, 80});
  EXPECT_FALSE(early_stopping.record(step_estimate(9, 5.0)));
  EXPECT_TRUE(early_stopping.record(step_estimate(12, 4.0, 1.96)));
  EXPECT_FALSE(early_stopping.record(step_estimate(19, 3.5)));
  EXPECT_TRUE(early_stopping.record(step_estimate(50, 3.0)));
  EXPECT_FALSE(early_stopping.record(step_estimate(70, 2.5)))
      << "the milestone at 40 was passed at 50";
  EXPECT_FALSE(early_stopping.record(step_estimate(80, 2.0)))
      << "the full resource is the trial's end";
  ASSERT_EQ(early_stopping.milestones().size(), 2U);
  EXPECT_DOUBLE_EQ(early_stopping.milestones()[0].fidelity, 0.15);
  EXPECT_EQ(early_stopping.milestones()[0].values, std::vector<double>{4.0});
  EXPECT_NEAR(early_stopping.milestones()[0].standard_errors[0], 1.0, 1e-3);
}

TEST(EarlyStopping, WaitsForAnInterval) {
  EarlyStopping early_stopping({3.0, 10, 80});
  EXPECT_FALSE(early_stopping.record(step_estimate(10, 4.0, INFINITY)));
  EXPECT_TRUE(early_stopping.record(step_estimate(11, 4.0, 0.1)));
}

TEST(EarlyStopping, LetsTheSearcherOverruleAshaUntilTheNextMilestone) {
  const auto asha = short_scheduler("asha");
  asha->on_exempt({0, 30, {1.0}, {0.0}});
  DecidingSearcher stubborn(StopDecision{});
  EarlyStopping early_stopping({3.0, 10, 80});
  EXPECT_FALSE(early_stopping.decide(step_estimate(10, 9.0), {}, *asha, stubborn).stop);
  EXPECT_FALSE(early_stopping.decide(step_estimate(15, 9.0), {}, *asha, stubborn).stop);
  EXPECT_EQ(stubborn.fidelities, std::vector<double>{0.125}) << "asked once";

  DecidingSearcher cautious(StopDecision{true, "hopeless"});
  EarlyStopping another({3.0, 10, 80});
  const StopDecision decision = another.decide(step_estimate(10, 0.5), {}, *asha, cautious);
  EXPECT_TRUE(decision.stop);
  EXPECT_EQ(decision.reason, "hopeless");
}

TEST(EarlyStopping, LeavesTheDecisionToTheScheduler) {
  const auto asha = short_scheduler("asha");
  asha->on_exempt({0, 30, {1.0}, {0.0}});
  DecidingSearcher silent(std::nullopt);
  EarlyStopping early_stopping({3.0, 10, 80});
  EXPECT_TRUE(early_stopping.decide(step_estimate(10, 9.0), {}, *asha, silent).stop);
  EXPECT_EQ(silent.fidelities.size(), 1U);
}

TEST(EarlyStopping, AsksTheSearcherOnlyIfTheSchedulerDefers) {
  for (const char* name : {"none", "racing", "median"}) {
    const auto scheduler = short_scheduler(name);
    DecidingSearcher searcher(StopDecision{true, "hopeless"});
    EarlyStopping early_stopping({3.0, 10, 80});
    EXPECT_FALSE(early_stopping.decide(step_estimate(10, 9.0), {}, *scheduler, searcher).stop)
        << name;
    EXPECT_TRUE(searcher.fidelities.empty()) << name;
  }
}

TEST(EarlyStopping, HasARungAtEachThreefoldUpToTheFullTrial) {
  EarlyStopping early_stopping({3.0, 10, 90});
  for (const double steps : {9.0, 10.0, 25.0, 35.0, 89.0, 95.0})
    early_stopping.record(step_estimate(steps, steps));
  ASSERT_EQ(early_stopping.rungs().size(), 2U) << "at 10 and 30; the last one is the full trial";
  EXPECT_EQ(early_stopping.rungs()[0].values, std::vector<double>{10.0});
  EXPECT_EQ(early_stopping.rungs()[1].values, std::vector<double>{35.0});
  EXPECT_DOUBLE_EQ(early_stopping.rungs()[1].fidelity, 35.0 / 90.0);
}

TEST(EarlyStopping, TheLastOfSeveralRungsCounts) {
  EarlyStopping early_stopping({3.0, 10, 810});
  early_stopping.record(step_estimate(100, 1.0));
  EXPECT_EQ(early_stopping.rungs().size(), 1U);
  early_stopping.record(step_estimate(269, 2.0));
  EXPECT_EQ(early_stopping.rungs().size(), 1U);
  early_stopping.record(step_estimate(270, 3.0));
  EXPECT_EQ(early_stopping.rungs().size(), 2U);
}

TEST(EarlyStopping, ReportsBeyondTheLastRungCountAsThatRungWithoutAMilestone) {
  EarlyStopping early_stopping({3.0, 10, 80});
  EXPECT_FALSE(early_stopping.record(step_estimate(85, 1.0)));
  EXPECT_EQ(early_stopping.rungs().size(), 1U);
  EXPECT_TRUE(early_stopping.milestones().empty());
}

TEST(EarlyStopping, WaitsForAValueThatIsANumber) {
  EarlyStopping early_stopping({3.0, 10, 80});
  EXPECT_FALSE(early_stopping.record(step_estimate(10, NAN)));
  EXPECT_TRUE(early_stopping.rungs().empty());
  EXPECT_TRUE(early_stopping.record(step_estimate(10, 4.0)));
}

}  // namespace
}  // namespace steptune
