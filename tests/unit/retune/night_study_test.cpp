// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_study.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace steptune {
namespace {

StudySpec study_with(const Json& budget, const Json& hints = Json::array()) {
  Json document = Json::parse(R"json({
    "name": "demo",
    "command": ["train", "{workers}"],
    "parameters": {"workers": {"type": "int", "low": 0, "high": 8}},
    "baseline": {"workers": 0},
    "planned_run": {"samples": 1e8},
    "search": {"searcher": "random", "seed": 7},
    "runner": {"type": "local", "price_per_hour": 2.0}
  })json");
  document["budget"] = budget;
  if (!hints.empty()) document["try"] = hints;
  return must(study_from_json(document, "/studies/demo.json",
                              {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 32}}));
}

Configuration with_workers(std::int64_t count) {
  Configuration configuration;
  configuration.set("workers", count);
  return configuration;
}

Night night_with(std::int64_t workers_in_use) {
  Night night;
  night.number = 12;
  night.study = "demo.night-12";
  night.before.configuration = with_workers(workers_in_use);
  return night;
}

const Json k_budget = {{"trials", 40}, {"time", 1800.0}, {"cost", 5.0}};

TEST(NightStudy, TheStudysBudgetIsTheDefault) {
  const StudySpec study = study_with(k_budget);
  const BudgetSpec budget = must(night_study(study, night_with(4), {}, {})).budget;
  EXPECT_EQ(budget.time_s, 1800.0);
  EXPECT_EQ(budget.cost_usd, 5.0);
  const BudgetSpec first = must(first_night_study(study, night_with(0), {})).budget;
  EXPECT_EQ(first.trials, 40);
  EXPECT_EQ(first.time_s, 1800.0);
  EXPECT_EQ(first.cost_usd, 5.0);
}

TEST(NightStudy, BoundsOfTheCommandLineWin) {
  const NightBounds bounds{600.0, 0.25, 3};
  for (const Json& budget : {k_budget, Json::object()}) {
    const StudySpec study = study_with(budget);
    const BudgetSpec night = must(night_study(study, night_with(4), bounds, {})).budget;
    EXPECT_EQ(night.time_s, 600.0);
    EXPECT_EQ(night.cost_usd, 0.25);
    const BudgetSpec first = must(first_night_study(study, night_with(0), bounds)).budget;
    EXPECT_EQ(first.trials, 4) << "three beside the baseline";
    EXPECT_EQ(first.time_s, 600.0);
    EXPECT_EQ(first.cost_usd, 0.25);
  }
}

TEST(NightStudy, TriesOfAFirstNightDoNotCountAsSearchTrials) {
  const StudySpec study = study_with(k_budget, Json::array({{{"workers", 2}}, {{"workers", 4}}}));
  NightBounds bounds;
  bounds.trials = 0;
  EXPECT_EQ(must(first_night_study(study, night_with(0), bounds)).budget.trials, 3)
      << "the baseline and the two configurations to try";
}

TEST(NightStudy, NightsAcceptTheLargestStudyValues) {
  Json document = study_with({{"trials", 1'000'000}}).document;
  document["search"]["seed"] = std::uint64_t{1} << 53;
  document["measure"]["confirm_pairs"] = 100;
  const StudySpec study = must(study_from_json(document, "/studies/demo.json",
                                               {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 32}}));
  PhasePlan confirmation;
  confirmation.phase = NightPhase::confirmation;
  confirmation.search_trials = *study.budget.trials;
  confirmation.confirm_pairs = 2 * study.measure.confirm_pairs;
  const StudySpec night = must(night_study(study, night_with(4), {}, confirmation));
  EXPECT_EQ(night.measure.confirm_pairs, 100);
  EXPECT_EQ(night.budget.trials, 1'000'000);
  EXPECT_NE(night.search.seed, study.search.seed);
  NightBounds bounds;
  bounds.trials = 1'000'000;
  EXPECT_EQ(must(first_night_study(study, night_with(0), bounds)).budget.trials, 1'000'000);
}

TEST(NightStudy, APhaseHasItsShareOfTheTimeThatIsLeft) {
  const StudySpec study = study_with(k_budget);
  NightBounds bounds;
  bounds.time_s = 600.0;
  PhasePlan plan;
  plan.phase = NightPhase::search;
  plan.time_share = 0.6;
  plan.elapsed_s = 100.0;
  EXPECT_EQ(must(night_study(study, night_with(4), bounds, plan)).budget.time_s, 400.0)
      << "100 s have passed, and the phase gets 60 % of the other 500 s";
  plan.elapsed_s = 700.0;
  EXPECT_EQ(must(night_study(study, night_with(4), bounds, plan)).budget.time_s, 700.0)
      << "the night has used its 600 s, so the phase gets no time";
}

TEST(NightStudy, SearchTrialsAreAddedToComparedOnes) {
  const StudySpec study = study_with(k_budget);
  PhasePlan plan;
  plan.phase = NightPhase::search;
  plan.search_trials = 5;
  const StudySpec night = must(night_study(study, night_with(4), {}, plan));
  EXPECT_EQ(night.budget.trials, 7) << "includes the baseline and the configuration in use";
  ASSERT_EQ(night.search.hints.size(), 1U);
  EXPECT_EQ(night.search.hints[0], with_workers(4));
  ASSERT_TRUE(night.measure.in_use);
  EXPECT_EQ(night.measure.in_use->configuration, with_workers(4));
  const StudySpec of_baseline = must(night_study(study, night_with(0), {}, plan));
  EXPECT_EQ(of_baseline.budget.trials, 6);
  EXPECT_FALSE(of_baseline.measure.in_use);
}

TEST(NightStudy, PaybackDoesNotEndASearchIfTheConfigurationInUseIsBroken) {
  const StudySpec study = study_with(k_budget);
  EXPECT_TRUE(must(night_study(study, night_with(4), {}, {})).budget.stop_at_payback);
  Night broken = night_with(4);
  broken.broken = "it failed";
  EXPECT_FALSE(must(night_study(study, broken, {}, {})).budget.stop_at_payback);
}

TEST(NightStudy, PaybackEndsNoSearchAfterASlowdownOrAShrunkenLead) {
  const StudySpec study = study_with(k_budget);
  Night slower = night_with(4), shrunken = night_with(4);
  slower.slowdown = Slowdown{};
  shrunken.lead_shrank = true;
  for (const Night& night : {slower, shrunken})
    EXPECT_FALSE(must(night_study(study, night, {}, {})).budget.stop_at_payback);
}

TEST(NightStudy, OnlySearchesUseTheStudysSearcherAndScheduler) {
  Json document = study_with(k_budget).document;
  document["search"] = {
      {"searcher", "bayes"}, {"scheduler", "median"}, {"seed", 7}, {"learn_from", {"other"}}};
  const StudySpec study = must(study_from_json(document, "/studies/demo.json",
                                               {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 32}}));
  for (const NightPhase phase : {NightPhase::check, NightPhase::recheck}) {
    PhasePlan plan;
    plan.phase = phase;
    const StudySpec night = must(night_study(study, night_with(4), {}, plan));
    EXPECT_EQ(night.search.searcher, "random");
    EXPECT_EQ(night.search.scheduler, "none");
  }
  for (const NightPhase phase : {NightPhase::search, NightPhase::confirmation}) {
    PhasePlan plan;
    plan.phase = phase;
    const StudySpec night = must(night_study(study, night_with(4), {}, plan));
    EXPECT_EQ(night.search.searcher, "bayes");
    EXPECT_EQ(night.search.scheduler, "median");
    EXPECT_EQ(night.search.seed, 7U + 12U) << "each night draws other configurations";
    EXPECT_EQ(night.name, "demo.night-12");
    EXPECT_FALSE(night.document["search"].contains("learn_from"))
        << "a night learns from earlier nights instead";
  }
  const StudySpec first = must(first_night_study(study, night_with(4), {}));
  EXPECT_EQ(first.name, "demo.night-12");
}

TEST(NightStudy, ConfirmPairsAreTheLargerOfRoundsAndPairs) {
  const StudySpec study = study_with(k_budget);
  PhasePlan plan;
  plan.rounds = 2;
  plan.confirm_pairs = 6;
  EXPECT_EQ(must(night_study(study, night_with(4), {}, plan)).measure.confirm_pairs, 6);
  plan.rounds = 8;
  EXPECT_EQ(must(night_study(study, night_with(4), {}, plan)).measure.confirm_pairs, 8);
}

TEST(NightStudy, AllPhasesHaveTheFingerprintOfTheStudy) {
  const StudySpec study = study_with(k_budget);
  PhasePlan search;
  search.phase = NightPhase::search;
  search.search_trials = 5;
  search.confirm_pairs = 6;
  const StudySpec check = must(night_study(study, night_with(4), {}, {}));
  EXPECT_EQ(check.fingerprint, study.fingerprint);
  EXPECT_EQ(must(night_study(study, night_with(4), {600.0, {}, {}}, search)).fingerprint,
            study.fingerprint);
}

TEST(NightStudy, ANameThatLeavesNoRoomForItsNightsIsRefused) {
  EXPECT_EQ(must(night_study_name("demo", 12)), "demo.night-12");
  const auto name = night_study_name(std::string(500, 'x'), 12);
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().kind, ErrorKind::usage);
}

TEST(NightStudy, TheNameSaysWhichStudysNightItIs) {
  EXPECT_EQ(tuned_study_name(must(night_study_name("resnet", 12))), "resnet");
  EXPECT_EQ(tuned_study_name("resnet"), "resnet");
  EXPECT_EQ(tuned_study_name("a.night-1.night-2"), "a.night-1");
}

}  // namespace
}  // namespace steptune
