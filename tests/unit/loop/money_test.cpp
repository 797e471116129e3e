// SPDX-License-Identifier: Apache-2.0
// Tests budgets and the payback rule.
#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/verdict/payback.hpp"
#include "tuner/verdict/recommend.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune {
namespace {

TrialRecord spent(std::int64_t number, double seconds,
                  TrialPurpose purpose = TrialPurpose::search) {
  TrialRecord trial = completed(number, 1.0);
  trial.purpose = purpose;
  trial.spent_s = seconds;
  trial.spent_usd = seconds * 0.001;
  return trial;
}

TEST(Budget, SpendingCountsSearchTrialsAndAllMoney) {
  std::vector<TrialRecord> trials{spent(1, 30, TrialPurpose::baseline), spent(2, 10), spent(3, 1),
                                  spent(4, 50, TrialPurpose::confirm_baseline),
                                  spent(5, 40, TrialPurpose::confirm_incumbent)};
  trials[2].status = TrialStatus::failed;
  trials[1].objectives = {0.5};
  const Spending spending =
      spending_of(time_study(), Standing(ranking_rules(time_study()), trials));
  EXPECT_EQ(spending.search_trials, 3);
  EXPECT_DOUBLE_EQ(spending.usd, 0.131);
  EXPECT_DOUBLE_EQ(spending.least_trial_s, 10.0)
      << "a crashed trial does not show how long a trial takes";
  EXPECT_DOUBLE_EQ(spending.confirm_pair_s, 90.0) << "uses the times of fresh runs, not of trials";
}

TEST(Budget, FreshRunsAreExpectedAsInTheLatestConfirmation) {
  const StudySpec study = time_study();
  std::vector<TrialRecord> trials{spent(1, 30, TrialPurpose::baseline), spent(2, 10)};
  trials[1].objectives = {0.5};
  const auto pair_s = [&] {
    return spending_before_confirming(study, Standing(ranking_rules(study), trials)).confirm_pair_s;
  };
  EXPECT_DOUBLE_EQ(pair_s(), 40.0);
  trials.push_back(spent(3, 5, TrialPurpose::confirm_incumbent));
  trials.push_back(spent(4, 5, TrialPurpose::confirm_baseline));
  EXPECT_DOUBLE_EQ(pair_s(), 40.0);
  trials.push_back(spent(5, 10));
  trials.push_back(spent(6, 50, TrialPurpose::confirm_incumbent));
  EXPECT_DOUBLE_EQ(pair_s(), 10.0)
      << "two runs of 5 s in the earlier confirmation; the run of 50 s belongs to a new one";
}

TEST(Budget, PricesTrialsByTheirBills) {
  std::vector<TrialRecord> trials{spent(1, 30, TrialPurpose::baseline), spent(2, 10), spent(3, 20)};
  trials[1].spent_usd = 5.0;  // short, on an expensive machine
  trials[1].objectives = {0.5};
  const Spending spending =
      spending_of(time_study(), Standing(ranking_rules(time_study()), trials));
  EXPECT_DOUBLE_EQ(spending.least_trial_s, 10.0);
  EXPECT_DOUBLE_EQ(spending.least_trial_usd, 0.02);
  EXPECT_DOUBLE_EQ(spending.confirm_pair_usd, 5.03);
}

TEST(Budget, ExpectsFreshRunsToTakeLongerThanTrials) {
  StudySpec study = time_study();
  std::vector<TrialRecord> trials{spent(1, 12, TrialPurpose::baseline), spent(2, 8)};
  trials[1].objectives = {0.5};
  for (TrialRecord& trial : trials) {
    trial.measurement = steady(1.0, 0.0, 1.0);
    trial.measurement->window_s = 4.0;
  }
  const auto pair_s = [&] {
    const Standing standing(ranking_rules(study), trials);
    const Spending spending = spending_of(study, standing);
    EXPECT_DOUBLE_EQ(spending.confirm_pair_usd, spending.confirm_pair_s * 0.001);
    return spending.confirm_pair_s;
  };
  EXPECT_DOUBLE_EQ(pair_s(), 16.0 + 12.0) << "fresh runs have windows twice as long";
  study.budget.time_s = 200.0;
  // The search has 120 s, for the baseline's two shares and 19 contenders. That leaves 4.7 s each
  // after the start, and a fresh run gets twice that.
  EXPECT_NEAR(pair_s(), 12.0 + 1.0 + 2.0 * (120.0 / 21.0 - 1.0), 1e-9)
      << "the trial runs for its share, the baseline for no less than the 12 s of its trial";
}

TEST(Budget, EndsByTrialsTimeOrMoney) {
  StudySpec study = time_study();
  Spending spending;
  spending.search_trials = 10;
  spending.elapsed_s = 100.0;
  spending.usd = 1.0;
  EXPECT_FALSE(search_budget_spent(study, spending)) << "no budget, no end";
  study.budget.trials = 11;
  EXPECT_FALSE(search_budget_spent(study, spending));
  study.budget.trials = 10;
  EXPECT_EQ(search_budget_spent(study, spending)->reason, "10 trials");
  EXPECT_EQ(search_budget_spent(study, spending)->spent, BudgetLimit::trials);
  study.budget.trials.reset();
  study.budget.time_s = 101.0;
  EXPECT_FALSE(search_budget_spent(study, spending));
  study.budget.time_s = 100.0 - 1e-9;
  EXPECT_EQ(search_budget_spent(study, spending)->spent, BudgetLimit::time);
  // The time that an amount of money buys is shown as that amount.
  study.budget.time_of_usd = 0.99;
  EXPECT_EQ(search_budget_spent(study, spending)->reason, "$0.99");
  EXPECT_EQ(search_budget_spent(study, spending)->spent, BudgetLimit::time);
  study.budget.time_s.reset();
  study.budget.cost_usd = 0.99;
  EXPECT_EQ(search_budget_spent(study, spending)->reason, "$0.99");
  EXPECT_EQ(search_budget_spent(study, spending)->spent, BudgetLimit::cost);
}

TEST(Budget, UnaffordableTrialsDoNotBegin) {
  StudySpec study = time_study();
  study.budget.time_s = 105.0;
  Spending spending;
  spending.elapsed_s = 100.0;
  spending.least_trial_s = 4.0;
  EXPECT_FALSE(search_budget_spent(study, spending));
  spending.least_trial_s = 6.0;
  EXPECT_TRUE(search_budget_spent(study, spending));
}

TEST(Budget, ATrialMayLeaveTimeForTheShortestConfirmation) {
  StudySpec study = time_study();
  study.measure.confirm_pairs = 3;
  study.measure.min_window_s = 2.0;
  study.budget.time_s = 300.0;
  study.budget.trials = 2;
  std::vector<TrialRecord> trials{spent(1, 121, TrialPurpose::baseline)};
  trials[0].measurement = steady(1.0, 0.15, 1.0);
  trials[0].measurement->window_s = 112.0;
  const auto spending = [&] { return spending_of(study, Standing(ranking_rules(study), trials)); };
  // 180 s for two shares of the baseline and one of the other configuration.
  EXPECT_DOUBLE_EQ(share_of_trial_s(study, TrialPurpose::search, 1.0), 59.0);
  EXPECT_DOUBLE_EQ(spending().least_trial_s, 60.0);
  // Windows of 8 s, and a start of 1 s.
  EXPECT_DOUBLE_EQ(spending().least_confirm_pair_s, 18.0);
  const auto is_over_at = [&](double elapsed_s) {
    Spending so_far = spending();
    so_far.elapsed_s = elapsed_s;
    return search_time_spent(study, so_far);
  };
  EXPECT_FALSE(is_over_at(204.0));
  EXPECT_TRUE(is_over_at(204.1)) << "60 s and two pairs of 18 s would not fit";
  trials.push_back(spent(2, 20));
  EXPECT_TRUE(is_over_at(150.0)) << "its proof is worth more than a further trial";
}

TEST(Budget, AConfirmationKeepsAtMostHalfOfTheTime) {
  StudySpec study = time_study();
  study.measure.confirm_pairs = 3;
  study.measure.min_window_s = 1.0;
  study.budget.time_s = 90.0;
  std::vector<TrialRecord> trials{spent(1, 20, TrialPurpose::baseline)};
  trials[0].measurement = steady(1.0, 0.02, 1.0);
  trials[0].measurement->startup_s = 12.0;
  trials[0].measurement->window_s = 5.0;
  Spending spending = spending_of(study, Standing(ranking_rules(study), trials));
  EXPECT_DOUBLE_EQ(spending.least_confirm_pair_s, 32.0);
  EXPECT_DOUBLE_EQ(spending.least_trial_s, 18.0) << "a start, and the share of one of three";
  spending.elapsed_s = 27.0;
  EXPECT_FALSE(search_time_spent(study, spending)) << "18 s and half of 90 s fit";
  spending.elapsed_s = 27.1;
  EXPECT_TRUE(search_time_spent(study, spending));
  trials.push_back(spent(2, 25));
  trials.back().configuration.set("workers", Value(std::int64_t{8}));
  trials.back().status = TrialStatus::infeasible;
  EXPECT_FALSE(spending_of(study, Standing(ranking_rules(study), trials)).has_contender)
      << "no configuration can be confirmed";
}

TEST(Budget, TrialsInALongRunPayNoStart) {
  StudySpec study = time_study();
  study.trials = TrialsIn::attached;
  study.measure.confirm_pairs = 3;
  study.measure.min_window_s = 1.0;
  study.budget.time_s = 25.0;
  std::vector<TrialRecord> trials{spent(1, 4, TrialPurpose::baseline)};
  trials[0].measurement = steady(1.0, 0.02, 1.0);
  trials[0].measurement->startup_s = 20.0;
  trials[0].measurement->window_s = 3.0;
  Spending spending = spending_of(study, Standing(ranking_rules(study), trials));
  EXPECT_DOUBLE_EQ(spending.least_confirm_pair_s, 5.0) << "windows of 2 s, plus a quarter";
  EXPECT_DOUBLE_EQ(spending.least_trial_s, 2.0);
  spending.elapsed_s = 13.0;
  EXPECT_FALSE(search_time_spent(study, spending)) << "a trial of 2 s and two pairs";
  spending.elapsed_s = 13.1;
  EXPECT_TRUE(search_time_spent(study, spending));
}

TEST(Budget, ALongRunReservesTheShortestConfirmation) {
  StudySpec study = time_study();
  study.trials = TrialsIn::attached;
  study.measure.confirm_pairs = 3;
  study.measure.min_window_s = 1.0;
  study.budget.time_s = 40.0;
  std::vector<TrialRecord> trials{spent(1, 6, TrialPurpose::baseline), spent(2, 7)};
  trials[0].measurement = steady(1.0, 0.1, 1.0);
  trials[0].measurement->window_s = 5.0;
  trials[1].measurement = steady(9.0, 0.1, 1.0);
  trials[1].configuration.set("workers", Value(std::int64_t{8}));
  trials[1].objectives = {9.0};
  const auto is_over_at = [&](double elapsed_s) {
    Spending so_far = spending_of(study, Standing(ranking_rules(study), trials));
    so_far.elapsed_s = elapsed_s;
    return search_time_spent(study, so_far);
  };
  EXPECT_FALSE(is_over_at(28.0)) << "a trial of 2 s and two pairs of 5 s";
  EXPECT_TRUE(is_over_at(28.1));
  trials[1].objectives = {0.5};
  EXPECT_FALSE(is_over_at(14.0))
      << "a trial of 6 s, and half of the time to confirm the leading trial";
  EXPECT_TRUE(is_over_at(14.1));
}

TEST(Budget, AnUnsteadyRunIsNotCutForAConfirmation) {
  StudySpec study = time_study();
  study.measure.min_window_s = 1.0;
  study.budget.time_s = 600.0;
  std::vector<TrialRecord> trials{spent(1, 60, TrialPurpose::baseline), spent(2, 50)};
  trials[1].objectives = {0.5};
  for (TrialRecord& trial : trials) {
    trial.measurement = steady(1.0, 0.6, 1.0);
    trial.measurement->whole_run = true;
    trial.measurement->window_s = 40.0;
  }
  const auto least_s = [&] {
    return spending_of(study, Standing(ranking_rules(study), trials)).least_confirm_pair_s;
  };
  EXPECT_DOUBLE_EQ(least_s(), 2.0 * (1.0 + 4.0));
  trials[1].measurement->status = MeasurementStatus::not_steady;
  EXPECT_DOUBLE_EQ(least_s(), 5.0 + 50.0) << "the program runs to its end";
  trials[0].measurement->status = MeasurementStatus::not_steady;
  EXPECT_DOUBLE_EQ(least_s(), 60.0 + 50.0);
  trials[0].measurement->whole_run = trials[1].measurement->whole_run = false;
  EXPECT_DOUBLE_EQ(least_s(), 2.0 * (1.0 + 4.0)) << "a drifting trial ends at its time limit";
}

TEST(Budget, ConfirmingRunsOfANightIncludeTheConfigurationInUse) {
  StudySpec study = time_study();
  study.measure.min_window_s = 1.0;
  study.budget.time_s = 300.0;
  study.budget.trials = 2;
  Spending spending;
  spending.elapsed_s = 180.0;
  EXPECT_DOUBLE_EQ(share_of_confirming_run_s(study, spending, 0.0, 2), 30.0);
  study.measure.in_use.emplace().configuration.set("x", std::int64_t{7});
  EXPECT_DOUBLE_EQ(share_of_confirming_run_s(study, spending, 0.0, 2), 20.0)
      << "two rounds of three runs each";
}

TEST(Budget, ConfirmingRunsShareTheRest) {
  StudySpec study = time_study();
  study.measure.confirm_pairs = 3;
  study.measure.min_window_s = 2.0;
  study.budget.trials = 2;
  Spending spending;
  spending.elapsed_s = 180.0;
  spending.least_confirm_pair_s = 18.0;
  spending.confirm_pair_s = 200.0;
  EXPECT_EQ(share_of_confirming_run_s(study, spending, 1.0, 2),
            std::numeric_limits<double>::infinity());
  study.budget.time_s = 300.0;
  EXPECT_DOUBLE_EQ(share_of_confirming_run_s(study, spending, 1.0, 2), 29.0)
      << "a quarter of the remaining 120 s, less the start of 1 s";
  EXPECT_TRUE(can_pay_confirming_round(study, spending, 2));
  spending.confirming_runs = 3;
  spending.elapsed_s = 272.0;
  EXPECT_DOUBLE_EQ(share_of_confirming_run_s(study, spending, 1.0, 1), 27.0)
      << "the fourth run has the remaining 28 s, less the start";
  spending.elapsed_s = 299.0;
  EXPECT_DOUBLE_EQ(share_of_confirming_run_s(study, spending, 1.0, 1), 8.0) << "the least window";
  EXPECT_FALSE(can_pay_confirming_round(study, spending, 2));
  spending.confirming_runs = 4;
  spending.elapsed_s = 110.0;
  EXPECT_FALSE(can_pay_confirming_round(study, spending, 2))
      << "a claim needs no further round, so a round must have the usual 200 s";
  spending.elapsed_s = 100.0;
  EXPECT_TRUE(can_pay_confirming_round(study, spending, 2));
  EXPECT_FALSE(can_pay_confirming_round(study, spending, 3))
      << "three runs take one and a half times the 200 s of a pair";
  spending.elapsed_s = 240.0;
  EXPECT_DOUBLE_EQ(share_of_confirming_run_s(study, spending, 1.0, 3), 19.0)
      << "later rounds share the remaining time, too";
}

TEST(Budget, SearchTrialsEndInTimeForTheShortestConfirmingPair) {
  StudySpec study = time_study();
  study.measure.confirm_pairs = 3;
  Spending spending;
  spending.least_confirm_pair_s = 20.0;
  spending.confirm_pair_s = 80.0;
  EXPECT_TRUE(std::isinf(latest_end_s(study, spending, TrialPurpose::search)));
  study.budget.time_s = 100.0;
  EXPECT_DOUBLE_EQ(latest_end_s(study, spending, TrialPurpose::search), 80.0);
  EXPECT_DOUBLE_EQ(latest_end_s(study, spending, TrialPurpose::baseline), 100.0);
  EXPECT_DOUBLE_EQ(latest_end_s(study, spending, TrialPurpose::confirm_incumbent), 100.0);
  spending.least_confirm_pair_s = 70.0;
  EXPECT_DOUBLE_EQ(latest_end_s(study, spending, TrialPurpose::search), 50.0) << "half at most";
  study.measure.confirm_pairs = 0;
  EXPECT_DOUBLE_EQ(latest_end_s(study, spending, TrialPurpose::search), 100.0);
}

TEST(Budget, ARoundOfANightIsPricedWithItsConfigurationInUse) {
  StudySpec study = time_study();
  study.measure.confirm_pairs = 4;
  study.budget.time_s = 80.0;
  Spending spending;
  spending.confirm_pair_s = 10.0;
  EXPECT_TRUE(can_pay_finalists(study, spending, 3));
  study.measure.in_use.emplace().configuration = study.baseline;
  EXPECT_TRUE(can_pay_finalists(study, spending, 3)) << "the finalist is the baseline itself";
  study.measure.in_use->configuration.set("x", std::int64_t{7});
  EXPECT_FALSE(can_pay_finalists(study, spending, 3));
  study.budget.time_s = 100.0;
  EXPECT_TRUE(can_pay_finalists(study, spending, 3)) << "four rounds of five runs";
}

TEST(Budget, KeepsAShareForTheConfirmation) {
  StudySpec study = time_study();
  study.measure.confirm_pairs = 3;
  study.budget.time_s = 1000.0;
  Spending spending;
  spending.has_contender = true;
  spending.confirm_pair_s = 50.0;
  const auto ends_at = [&] {
    for (spending.elapsed_s = 0.0; !search_budget_spent(study, spending);
         spending.elapsed_s += 1.0) {
    }
    return spending.elapsed_s;
  };
  EXPECT_DOUBLE_EQ(ends_at(), 851.0) << "leaves time for three pairs of 50 s";
  spending.elapsed_s = 851.0;
  EXPECT_FALSE(search_budget_spent(study, spending, /*confirmed=*/true))
      << "two pairs are enough for a claim";
  spending.elapsed_s = 901.0;
  EXPECT_TRUE(search_budget_spent(study, spending, /*confirmed=*/true));
  spending.confirm_pair_s = 100.0;
  EXPECT_DOUBLE_EQ(ends_at(), 701.0);
  spending.confirm_pair_s = 200.0;
  EXPECT_DOUBLE_EQ(ends_at(), 601.0) << "leaves two fifths of the time at most";
  spending.confirm_pair_s = 225.0;
  EXPECT_DOUBLE_EQ(ends_at(), 551.0) << "except that two pairs get their time";
  spending.confirm_pair_s = 900.0;
  EXPECT_DOUBLE_EQ(ends_at(), 501.0) << "up to half of the budget";
  study.measure.confirm_pairs = 0;
  EXPECT_DOUBLE_EQ(ends_at(), 1001.0);
}

TEST(Budget, TheLeastTrialTimeIsThatOfTheShortestMeasuredSearchTrial) {
  std::vector<TrialRecord> trials{spent(1, 30, TrialPurpose::baseline), spent(2, 20),
                                  spent(3, 5, TrialPurpose::sentinel)};
  const auto least_s = [&] {
    return spending_of(time_study(), Standing(ranking_rules(time_study()), trials)).least_trial_s;
  };
  EXPECT_DOUBLE_EQ(least_s(), 20.0) << "a sentinel is no trial of the search";
  trials.push_back(spent(4, 8));
  trials.back().status = TrialStatus::infeasible;
  EXPECT_DOUBLE_EQ(least_s(), 8.0) << "an infeasible trial was measured, too";
}

TEST(Budget, TwoFreshRunsGiveThePriceOfAPair) {
  const StudySpec study = time_study();
  std::vector<TrialRecord> trials{spent(1, 30, TrialPurpose::baseline), spent(2, 10)};
  trials[1].objectives = {0.5};
  const auto spending = [&] { return spending_of(study, Standing(ranking_rules(study), trials)); };
  trials.push_back(spent(3, 50, TrialPurpose::confirm_incumbent));
  EXPECT_DOUBLE_EQ(spending().confirm_pair_s, 40.0) << "one run is no pair";
  trials.push_back(spent(4, 70, TrialPurpose::confirm_baseline));
  trials.back().spent_usd = 0.03;
  EXPECT_DOUBLE_EQ(spending().confirm_pair_s, 120.0);
  EXPECT_DOUBLE_EQ(spending().confirm_pair_usd, 0.08);
}

TEST(Budget, WithoutAnIncumbentAPairIsTwoBaselines) {
  const StudySpec study = time_study();
  std::vector<TrialRecord> trials{spent(1, 30, TrialPurpose::baseline)};
  trials[0].status = TrialStatus::infeasible;
  const auto spending = [&] { return spending_of(study, Standing(ranking_rules(study), trials)); };
  EXPECT_DOUBLE_EQ(spending().confirm_pair_s, 60.0);
  EXPECT_DOUBLE_EQ(spending().confirm_pair_usd, 0.06);
  trials[0].spent_s = 0.0;
  EXPECT_DOUBLE_EQ(spending().confirm_pair_usd, 0.0) << "a trial that took no time has no rate";
  trials.clear();
  EXPECT_DOUBLE_EQ(spending().confirm_pair_s, 0.0);
}

TEST(Budget, OneTrialIsASingular) {
  StudySpec study = time_study();
  study.budget.trials = 1;
  Spending spending;
  spending.search_trials = 1;
  EXPECT_EQ(search_budget_spent(study, spending)->reason, "1 trial");
}

TEST(Budget, TimeIsPrintedAsADuration) {
  StudySpec study = time_study();
  study.budget.time_s = 600.0;
  Spending spending;
  spending.elapsed_s = 601.0;
  EXPECT_EQ(search_budget_spent(study, spending)->reason, "10 min of tuning time");
  EXPECT_TRUE(search_time_spent(study, spending));
  study.budget.time_s.reset();
  EXPECT_FALSE(search_time_spent(study, spending)) << "there is no such budget";
}

TEST(Budget, KeepsAShareOfMoneyForTheConfirmationAsOfTime) {
  StudySpec study = time_study();
  study.measure.confirm_pairs = 3;
  study.budget.cost_usd = 10.0;
  Spending spending;
  spending.has_contender = true;
  spending.confirm_pair_usd = 1.0;
  spending.usd = 7.0;
  EXPECT_FALSE(search_budget_spent(study, spending)) << "three pairs are left";
  spending.usd = 7.01;
  EXPECT_EQ(search_budget_spent(study, spending)->reason, "$10.00");
  EXPECT_FALSE(search_budget_spent(study, spending, /*confirmed=*/true))
      << "two pairs are enough for a claim";
  spending.has_contender = false;
  EXPECT_FALSE(search_budget_spent(study, spending)) << "there is nothing yet to confirm";
  spending.usd = 8.01;
  EXPECT_TRUE(search_budget_spent(study, spending));
  EXPECT_TRUE(search_budget_spent(study, spending, /*confirmed=*/true));
}

TEST(Budget, AFurtherPairMustFitIntoTimeAndMoney) {
  StudySpec study = time_study();
  Spending spending;
  spending.elapsed_s = 90.0;
  spending.usd = 0.9;
  spending.confirm_pair_s = 10.0;
  spending.confirm_pair_usd = 0.1;
  spending.confirming_runs = 100;
  EXPECT_TRUE(can_pay_confirming_round(study, spending, 2)) << "no budget";
  study.budget.time_s = 100.0;
  study.budget.cost_usd = 1.0;
  EXPECT_TRUE(can_pay_confirming_round(study, spending, 2)) << "exactly";
  spending.confirm_pair_usd = 0.2;
  EXPECT_FALSE(can_pay_confirming_round(study, spending, 2));
  spending.confirm_pair_usd = 0.1;
  spending.confirm_pair_s = 11.0;
  EXPECT_FALSE(can_pay_confirming_round(study, spending, 2));
  spending.confirming_runs = 0;
  spending.least_confirm_pair_s = 10.0;
  EXPECT_TRUE(can_pay_confirming_round(study, spending, 2))
      << "the first round may have the shortest pairs";
  spending.least_confirm_pair_s = 10.1;
  EXPECT_FALSE(can_pay_confirming_round(study, spending, 2));
}

TEST(Budget, FinalistsRunTogetherIfAllRoundsFit) {
  StudySpec study = time_study();
  study.measure.confirm_pairs = 4;
  Spending spending;
  spending.confirm_pair_s = 10.0;
  spending.confirm_pair_usd = 1.0;
  EXPECT_TRUE(can_pay_finalists(study, spending, 3)) << "no budget";
  // Four rounds of three finalists and the baseline are sixteen runs, or eight pairs.
  study.budget.time_s = 80.0;
  EXPECT_TRUE(can_pay_finalists(study, spending, 3));
  EXPECT_FALSE(can_pay_finalists(study, spending, 4));
  study.budget.time_s.reset();
  study.budget.cost_usd = 8.0;
  EXPECT_TRUE(can_pay_finalists(study, spending, 3));
  EXPECT_FALSE(can_pay_finalists(study, spending, 4));
  spending.usd = 0.01;
  EXPECT_FALSE(can_pay_finalists(study, spending, 3));
}

TEST(Budget, ATrialMayBeRiskedUpToTheLastCent) {
  StudySpec study = time_study();
  EXPECT_TRUE(can_risk_a_trial(study, 1e6, 1e6)) << "no budget of money";
  study.budget.cost_usd = 5.0;
  EXPECT_TRUE(can_risk_a_trial(study, 3.0, 2.0));
  EXPECT_FALSE(can_risk_a_trial(study, 3.0, 2.01));
}

TEST(LongestStart, IsTheBaselinesPlusAFifthOfTheSearch) {
  StudySpec study = time_study();
  TrialRecord baseline = spent(1, 20, TrialPurpose::baseline);
  baseline.measurement = steady(1.0, 0.02, 1.0);
  baseline.measurement->startup_s = 8.0;
  const auto longest_s = [&](TrialPurpose purpose, const TrialRecord* known) {
    TrialRecord trial;
    trial.purpose = purpose;
    return longest_start_s(study, trial, known);
  };
  EXPECT_TRUE(std::isinf(longest_s(TrialPurpose::search, &baseline))) << "no budget of time";
  study.budget.time_s = 200.0;  // the search gets 120 s of it
  EXPECT_DOUBLE_EQ(longest_s(TrialPurpose::search, &baseline), 32.0);
  EXPECT_DOUBLE_EQ(longest_s(TrialPurpose::hint, &baseline), 32.0);
  EXPECT_TRUE(std::isinf(longest_s(TrialPurpose::confirm_incumbent, &baseline)));
  EXPECT_TRUE(std::isinf(longest_s(TrialPurpose::baseline, nullptr)));
  EXPECT_TRUE(std::isinf(longest_s(TrialPurpose::search, nullptr)));
  study.budget.trials = 2;
  EXPECT_DOUBLE_EQ(longest_s(TrialPurpose::search, &baseline), 48.0)
      << "8 s and a third of 120 s, since two trials divide the time";
}

TEST(LongestStart, MayTakeTwoFifthsOfTheSearchIfTheTrialCompilesAnew) {
  StudySpec study = study_from_json(*parse_json(R"({
    "name": "s", "command": ["train", "--jit={compile}", "--x={x}"], "budget": {"time": "200s"},
    "parameters": {"compile": {"type": "bool"}, "x": {"type": "int", "low": 0, "high": 40}},
    "baseline": {"compile": false, "x": 0}})",
                                                "study"),
                                    "/studies/study.json", {{"cpus", 1}, {"gpus", 0}})
                        .value();
  TrialRecord baseline = spent(1, 20, TrialPurpose::baseline);
  baseline.measurement = steady(1.0, 0.02, 1.0);
  baseline.measurement->startup_s = 8.0;
  TrialRecord trial = spent(2, 20);
  trial.configuration = study.baseline;
  trial.configuration.set("x", std::int64_t{3});
  EXPECT_DOUBLE_EQ(longest_start_s(study, trial, &baseline), 32.0);
  trial.configuration.set("compile", Value(true));
  EXPECT_DOUBLE_EQ(longest_start_s(study, trial, &baseline), 56.0);
  study.baseline = trial.configuration;
  EXPECT_DOUBLE_EQ(longest_start_s(study, trial, &baseline), 32.0)
      << "the baseline compiles in the same way";
  study.baseline.set("compile", Value(false));
  study.parameter_roles["compile"] = std::nullopt;
  EXPECT_DOUBLE_EQ(longest_start_s(study, trial, &baseline), 32.0)
      << "the study says that this parameter does not decide how the model is compiled";
}

TEST(LongestStart, ATooLongStartMayBeTriedAgainWithMoreTime) {
  StudySpec study = time_study();
  TrialRecord baseline = spent(1, 20, TrialPurpose::baseline);
  baseline.measurement = steady(1.0, 0.02, 1.0);
  baseline.measurement->startup_s = 8.0;
  TrialRecord slow = spent(2, 33);
  slow.status = TrialStatus::infeasible;
  slow.measurement = Measurement();
  slow.awaited_start_s = 32.5;
  study.budget.time_s = 200.0;
  EXPECT_FALSE(may_start_longer(study, slow, &baseline)) << "the limit is still 32 s";
  study.budget.time_s = 210.0;
  EXPECT_TRUE(may_start_longer(study, slow, &baseline));
  study.budget.time_s.reset();
  EXPECT_TRUE(may_start_longer(study, slow, &baseline));
  slow.awaited_start_s.reset();
  EXPECT_FALSE(may_start_longer(study, slow, &baseline))
      << "the trial did not end because of a slow start";
}

TEST(ShareOfATrial, DividesThreeFifthsOfTheTime) {
  StudySpec study = time_study();
  const auto share_s = [&](TrialPurpose purpose = TrialPurpose::search, double startup_s = 0.0) {
    return share_of_trial_s(study, purpose, startup_s);
  };
  EXPECT_TRUE(std::isinf(share_s())) << "no budget of time";
  study.measure.min_window_s = 1.0;
  study.budget.time_s = 1100.0;  // the search gets 660 s of it
  EXPECT_DOUBLE_EQ(share_s(), 660.0 / 21.0) << "20 trials at most; the baseline counts twice";
  study.budget.trials = 40;
  EXPECT_DOUBLE_EQ(share_s(), 660.0 / 21.0);
  study.budget.trials = 10;
  EXPECT_DOUBLE_EQ(share_s(), 60.0);
  study.budget.trials = 1;
  EXPECT_DOUBLE_EQ(share_s(), 220.0) << "at least 2 trials are assumed";
  study.budget.trials = 10;
  for (const TrialPurpose twice :
       {TrialPurpose::baseline, TrialPurpose::confirm_baseline, TrialPurpose::confirm_incumbent}) {
    EXPECT_DOUBLE_EQ(share_s(twice), 120.0) << to_text(twice);
  }
  EXPECT_DOUBLE_EQ(share_s(TrialPurpose::sentinel), 60.0);
  EXPECT_DOUBLE_EQ(share_s(TrialPurpose::search, 20.0), 40.0) << "start-up is not measuring";
  EXPECT_DOUBLE_EQ(share_s(TrialPurpose::search, 44.0), 44.0)
      << "fewer trials, so that measuring takes as long as the start-up";
  EXPECT_DOUBLE_EQ(share_s(TrialPurpose::search, 200.0), 55.0)
      << "at least a quarter of an even share, 660 s / 3";
  study.measure.min_window_s = 40.0;
  EXPECT_DOUBLE_EQ(share_s(TrialPurpose::search, 200.0), 80.0) << "or two least windows";
}

TEST(ShareOfATrial, IsLargerInASmallSearchSpace) {
  const Json document = parse_json(R"({
    "name": "s", "command": ["train", "{x}"],
    "parameters": {"x": {"type": "int", "low": 1, "high": 5}}, "baseline": {"x": 1},
    "objectives": ["time"], "planned_run": {"samples": 1000},
    "budget": {"time": "1000s"}, "runner": {"type": "local"}
  })",
                                   "study")
                            .value();
  const StudySpec study =
      study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
  EXPECT_DOUBLE_EQ(share_of_trial_s(study, TrialPurpose::search, 0.0), 100.0)
      << "600 s for five configurations, of which the baseline gets two shares";
}

TEST(Payback, IsTheTuningOverWhatThePlannedRunSaves) {
  StudySpec study = time_study();
  EXPECT_DOUBLE_EQ(*payback_share(study, 1000.0, 600.0, 40.0, 5.0), 0.1);
  EXPECT_FALSE(payback_share(study, 600.0, 600.0, 40.0, 5.0)) << "nothing saved";
  study.objectives = {{"cost", Direction::minimize}};
  EXPECT_DOUBLE_EQ(*payback_share(study, 10.0, 6.0, 40.0, 1.0), 0.25);
  study.planned_run.samples.reset();
  EXPECT_FALSE(payback_share(study, 10.0, 6.0, 40.0, 1.0)) << "no planned run";
}

TEST(Payback, StopsAfterSeveralSuggestionsThatDoNotPay) {
  StudySpec study = time_study();
  study.budget.stop_at_payback = true;
  std::vector<TrialRecord> trials{spent(1, 30), spent(2, 10)};
  for (TrialRecord& trial : trials)
    trial.objectives = {1000.0};
  const Standing standing(ranking_rules(study), trials);
  PaybackRule rule;
  // A trial costs 20 s; 1 % of the best run's 1000 s is 10 s.
  EXPECT_FALSE(rule.stops(study, 0.01, standing));
  EXPECT_FALSE(rule.stops(study, 0.01, standing));
  EXPECT_FALSE(rule.stops(study, 0.03, standing)) << "this trial pays for itself";
  EXPECT_FALSE(rule.stops(study, 0.01, standing));
  EXPECT_FALSE(rule.stops(study, 0.01, standing));
  EXPECT_TRUE(rule.stops(study, 0.01, standing));
}

TEST(Payback, NeverStopsWithoutAModelOrARequest) {
  StudySpec study = time_study();
  const Standing standing(ranking_rules(study), {spent(1, 30)});
  PaybackRule unasked;
  PaybackRule no_model;
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(unasked.stops(study, 0.0, standing));
  study.budget.stop_at_payback = true;
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(no_model.stops(study, {}, standing));
}

TEST(Payback, ContinuesTheCountOfAnEarlierRun) {
  StudySpec study = time_study();
  study.budget.stop_at_payback = true;
  std::vector<TrialRecord> trials{spent(1, 30), spent(2, 10)};
  for (TrialRecord& trial : trials)
    trial.objectives = {1000.0};
  const Standing standing(ranking_rules(study), trials);
  PaybackRule killed;
  EXPECT_FALSE(killed.stops(study, 0.01, standing));
  EXPECT_FALSE(killed.stops(study, 0.01, standing));
  PaybackRule resumed(killed.unpaid_in_a_row());
  EXPECT_TRUE(resumed.stops(study, 0.01, standing));
}

TEST(Payback, IsNotCheckedWithoutAComparison) {
  StudySpec study = time_study();
  EXPECT_TRUE(payback_applies(study));
  study.objectives = {{"cost", Direction::minimize}};
  EXPECT_TRUE(payback_applies(study));
  study.objectives = {{"accuracy", Direction::maximize}};
  EXPECT_FALSE(payback_applies(study));
  EXPECT_FALSE(payback_share(study, 2.0, 1.0, 40.0, 5.0));
}

TEST(Payback, ComparesMoneyWithMoney) {
  StudySpec study = time_study();
  study.objectives = {{"cost", Direction::minimize}};
  study.budget.stop_at_payback = true;
  std::vector<TrialRecord> trials{spent(1, 30), spent(2, 10)};
  for (TrialRecord& trial : trials)
    trial.objectives = {10.0};
  const Standing standing(ranking_rules(study), trials);
  PaybackRule rule;
  // A trial costs $0.02.
  EXPECT_FALSE(rule.stops(study, 0.002, standing));
  EXPECT_DOUBLE_EQ(rule.saving(), 0.02);
  EXPECT_DOUBLE_EQ(rule.price(), 0.02);
  EXPECT_EQ(rule.unpaid_in_a_row(), 0) << "the saving pays for the trial";
  EXPECT_FALSE(rule.stops(study, 0.0019, standing));
  EXPECT_EQ(rule.unpaid_in_a_row(), 1);
}

TEST(Payback, RestartsTheCountWithoutAComparison) {
  StudySpec study = time_study();
  study.budget.stop_at_payback = true;
  std::vector<TrialRecord> trials{spent(1, 30)};
  trials[0].objectives = {1000.0};
  const Standing standing(ranking_rules(study), trials);
  PaybackRule rule;
  EXPECT_FALSE(rule.stops(study, 0.001, standing));
  EXPECT_FALSE(rule.stops(study, 0.001, standing));
  EXPECT_FALSE(rule.stops(study, std::nullopt, standing)) << "the model is gone";
  EXPECT_EQ(rule.unpaid_in_a_row(), 0);
  EXPECT_EQ(rule.price(), 0.0);
  EXPECT_FALSE(rule.stops(study, 0.001, Standing(ranking_rules(study))))
      << "the incumbent is gone, too";
}

TEST(TuningCost, AnOwnMachineCostsItsPriceAllTheTime) {
  const StudySpec study = time_study();  // 3.6 USD per hour
  EXPECT_DOUBLE_EQ(tuning_cost_usd(study, 0.03, 0.0, 100.0), 0.1);
  EXPECT_DOUBLE_EQ(tuning_cost_usd(study, 0.03, 0.01, 100.0), 0.11);
}

TEST(TuningCost, TrialsThatShareAMachineCostTheMachine) {
  Json document = time_study().document;
  document["runner"] = {
      {"type", "local"}, {"parallel", 4}, {"instances", 8}, {"price_per_hour", 3.6}};
  const auto study = study_from_json(document, "/studies/study.json", {{"cpus", 4}, {"gpus", 0}});
  ASSERT_TRUE(study) << study.error().text();
  EXPECT_DOUBLE_EQ(usd_per_hour(*study, study->baseline), 28.8) << "the planned run has eight";
  const double trial_usd = usage_usd(on_demand_usd_per_hour(*study, study->baseline), 100.0);
  EXPECT_DOUBLE_EQ(trial_usd, 0.025) << "a quarter of the machine's price for 100 s";
  EXPECT_DOUBLE_EQ(tuning_cost_usd(*study, 4.0 * trial_usd, 0.0, 100.0), 0.1);
  std::vector<TrialRecord> trials{spent(1, 100, TrialPurpose::baseline)};
  trials[0].spent_usd = trial_usd;
  const Spending spending = spending_of(*study, Standing(ranking_rules(*study), trials));
  EXPECT_DOUBLE_EQ(spending.usd, trial_usd);
  EXPECT_DOUBLE_EQ(spending.confirm_pair_usd,
                   4.0 * 2.0 * trial_usd * spending.confirm_pair_s / 200.0)
      << "fresh runs have the machine to themselves";
}

TEST(RecommendationJson, ReadsBackAsItWasWritten) {
  std::vector<TrialRecord> trials{completed(1, 4.0, 0.1), completed(2, 2.0, 0.1),
                                  completed(3, 2.1, 0.1)};
  trials[0].purpose = TrialPurpose::baseline;
  const auto recommendation =
      recommend(time_study(), Standing(ranking_rules(time_study()), trials), 0.5, 0.25);
  ASSERT_TRUE(recommendation);
  const Json json = to_json(*recommendation);
  const auto text = dump_json(json);
  const auto read = recommendation_from_json(*parse_json(text, "stored"), "stored");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(dump_json(to_json(*read)), text);
  EXPECT_EQ(read->incumbent_trial, 2);
  EXPECT_EQ(read->tied, std::vector<std::int64_t>{3});
  ASSERT_EQ(read->undecided.size(), 1U);
  EXPECT_EQ(read->undecided[0].name, "x");
  EXPECT_EQ(read->undecided[0].values, (std::vector<Value>{std::int64_t{2}, std::int64_t{3}}));
  EXPECT_EQ(read->payback_share, 0.25);
  EXPECT_LT(read->payback_low, 0.25);
  EXPECT_GT(read->payback_high, 0.25);
  Json damaged = json;
  damaged["payback_share"] = "a quarter";
  EXPECT_FALSE(recommendation_from_json(damaged, "stored"));
}

TEST(RecommendationJson, RefusesWhatItIsNot) {
  for (const char* text : {"null", "[]", "{}", R"({"trial": "1"})",
                           R"({"trial": 1, "configuration": [], "speed_up": {}})"}) {
    EXPECT_FALSE(recommendation_from_json(*parse_json(text, "stored"), "stored")) << text;
  }
}

TEST(LoopEndNames, AreReadBackAsWritten) {
  for (const char* name : {"budget", "exhausted", "payback", "interrupted", "too_many_failures",
                           "no_feasible_trial", "nothing_faster", "nothing_to_gain"}) {
    const auto end = loop_end_from_text(name);
    ASSERT_TRUE(end) << name;
    EXPECT_EQ(to_text(*end), name);
  }
  EXPECT_FALSE(loop_end_from_text("done"));
}

TEST(LastLook, ComesOnlyIfTimeOrMoneyEndedTheConfirmation) {
  // However the search ended, a confirmation follows, and ends by time.
  for (const LoopEnd end : {LoopEnd::budget, LoopEnd::exhausted, LoopEnd::payback})
    EXPECT_TRUE(has_last_look(end)) << to_text(end);
  for (const LoopEnd end :
       {LoopEnd::interrupted, LoopEnd::too_many_failures, LoopEnd::nothing_to_gain}) {
    EXPECT_FALSE(has_last_look(end)) << to_text(end);
  }
}

}  // namespace
}  // namespace steptune
