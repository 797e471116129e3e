// SPDX-License-Identifier: Apache-2.0
// Tests the results of studies with the whole tuner except for its runner, under a virtual clock.
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulated_study.hpp"

namespace steptune::simulation {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LoopTest : public ::testing::Test {
 protected:
  DatabaseFolder folder_;
  Json document_ = study_document();

  LoopResult must_run(SimulatedRun& run) {
    auto result = run.run();
    if (!result) throw std::runtime_error(result.error().text());
    return *std::move(result);
  }
};

std::vector<TrialRecord> of_search(const std::vector<TrialRecord>& trials) {
  std::vector<TrialRecord> result;
  for (const auto& trial : trials) {
    if (is_compared(trial.purpose)) result.push_back(trial);
  }
  return result;
}

double true_seconds_per_sample(const Configuration& configuration) {
  TrialSpec spec;
  spec.configuration = configuration;
  const TrialScript script = train(spec);
  return script.seconds_per_step / script.samples_per_step;
}

/// Records the observations of other studies. Suggests like the wrapped searcher.
class AttentiveSearcher final : public Searcher {
 public:
  explicit AttentiveSearcher(std::unique_ptr<Searcher> searcher) : searcher_(std::move(searcher)) {}
  void observe(const Observation& observation) override { searcher_->observe(observation); }
  void observe_earlier(std::size_t study, const Observation& observation) override {
    studies.push_back(study);
    earlier.push_back(observation);
  }
  [[nodiscard]] std::vector<std::string> take_warnings() override {
    return std::exchange(warnings, {});
  }
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    return searcher_->suggest(request);
  }

  std::vector<std::size_t> studies;
  std::vector<Observation> earlier;
  std::vector<std::string> warnings;

 private:
  std::unique_ptr<Searcher> searcher_;
};

TEST_F(LoopTest, GivesEarlierStudiesToTheSearcher) {
  Json former = document_;
  former["name"] = "former";
  std::size_t searched = 0;
  {
    SimulatedRun first(folder_.path(), former, train);
    must_run(first);
    searched = of_search(first.trials()).size();
  }

  SimulatedRun run(folder_.path(), document_, train, 1000.0);
  run.study.search.learn_from = {run.study.name, "former"};
  auto searcher = std::make_unique<AttentiveSearcher>(std::move(run.searcher));
  AttentiveSearcher& attentive = *searcher;
  attentive.warnings = {"nothing-measured: as an example"};
  run.searcher = std::move(searcher);
  must_run(run);
  EXPECT_EQ(attentive.earlier.size(), searched)
      << "learns from `former`, not from a study of its own name";
  EXPECT_THAT(attentive.studies, ::testing::Each(0U));
  EXPECT_THAT(run.listener.warnings, Contains("nothing-measured: as an example"));
}

TEST_F(LoopTest, AnUnknownEarlierStudyIsRefusedAtOnce) {
  SimulatedRun run(folder_.path(), document_, train);
  run.study.search.learn_from = {"formr"};
  const auto result = run.run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::not_found);
  EXPECT_THAT(result.error().text(), HasSubstr("formr"));
  EXPECT_FALSE(run.history.study(run.study.name)) << "nothing was recorded";
}

TEST_F(LoopTest, FindsABetterConfigurationAndConfirmsIt) {
  SimulatedRun run(folder_.path(), document_, train);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.end, LoopEnd::budget);
  EXPECT_EQ(result.reason, "10 trials");
  ASSERT_TRUE(result.recommendation);
  const auto trials = run.trials();
  ASSERT_EQ(trials.size(), 16U) << "ten of the search, three pairs";
  EXPECT_EQ(trials[0].purpose, TrialPurpose::baseline);
  EXPECT_EQ(trials[0].configuration, run.study.baseline);

  const Recommendation& best = *result.recommendation;
  for (const auto& trial : of_search(trials)) {
    EXPECT_EQ(trial.status, TrialStatus::completed) << trial.failure;
    EXPECT_GE(true_seconds_per_sample(trial.configuration),
              true_seconds_per_sample(best.configuration) * 0.96);
  }
  const double truth =
      true_seconds_per_sample(run.study.baseline) / true_seconds_per_sample(best.configuration);
  EXPECT_EQ(best.speed_up.pairs, 3);
  EXPECT_NEAR(best.speed_up.ratio, truth, truth * 0.03);
  EXPECT_LT(best.speed_up.low, best.speed_up.ratio);
  EXPECT_GT(best.speed_up.high, best.speed_up.ratio);
  EXPECT_NEAR(best.baseline_objectives[0] / best.incumbent_objectives[0], best.speed_up.ratio,
              1e-9);
  EXPECT_NEAR(best.baseline_objectives[0], 1e6 * true_seconds_per_sample(run.study.baseline) + 2.0,
              best.baseline_objectives[0] * 0.03);
  EXPECT_NEAR(*best.payback_share,
              best.tuning_s / (best.baseline_objectives[0] - best.incumbent_objectives[0]), 1e-9);
  EXPECT_NEAR(best.tuning_usd, best.tuning_s * 0.001, 1e-6)
      << "3.6 USD an hour, one trial at a time";
  EXPECT_THAT(run.listener.phases, ElementsAre("searching", "confirming"));
}

TEST_F(LoopTest, TheLargestBatchThatFitsIsNotMistakenForTheBest) {
  // ResNet-18 on a K80: 451 samples a second in batches of 64, 227 in batches of 256.
  const auto spills = [](const TrialSpec& spec) {
    TrialScript script = train(spec);
    const double batch = script.samples_per_step;
    script.seconds_per_step = 0.05 + batch * (batch <= 64 ? 1.0 / 600.0 : 1.0 / 235.0);
    return script;
  };
  document_["budget"]["trials"] = 100;
  SimulatedRun run(folder_.path(), document_, spills);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.recommendation->claim, Claim::faster);
  EXPECT_EQ(*result.recommendation->configuration.find("batch_size"), Value(std::int64_t{64}));
}

TEST_F(LoopTest, ConfirmationTakesTurns) {
  SimulatedRun run(folder_.path(), document_, train);
  must_run(run);
  std::vector<std::pair<TrialPurpose, int>> order;
  for (const auto& trial : run.trials()) {
    if (is_confirmation(trial.purpose)) order.emplace_back(trial.purpose, trial.confirm_pair);
  }
  const auto a = TrialPurpose::confirm_incumbent;
  const auto b = TrialPurpose::confirm_baseline;
  EXPECT_THAT(order, ElementsAre(std::pair(a, 1), std::pair(b, 1), std::pair(b, 2), std::pair(a, 2),
                                 std::pair(a, 3), std::pair(b, 3)));
}

TEST_F(LoopTest, TheSameSeedGivesTheSameHistory) {
  document_["search"]["scheduler"] = "asha";
  const auto history_of = [&] {
    DatabaseFolder folder;
    SimulatedRun run(folder.path(), document_, train, 0.0, 3);
    must_run(run);
    std::string text;
    for (const auto& trial : run.trials()) {
      text += trial.configuration.text() + " " + to_text(trial.status) + " " +
              std::to_string(trial.ended_wall_s) + " " + std::to_string(trial.spent_s) + " ";
      for (const double value : trial.objectives)
        text += std::to_string(value) + " ";
      text += "\n";
    }
    return text;
  };
  const std::string first = history_of();
  EXPECT_EQ(first, history_of());
  EXPECT_THAT(first, HasSubstr("completed"));
}

TEST_F(LoopTest, FillsTheRunnerButMeasuresTheBaselineAlone) {
  SimulatedRun run(folder_.path(), document_, train, 0.0, 4);
  must_run(run);
  EXPECT_EQ(run.runner.most_running(), 4U);
  EXPECT_EQ(run.listener.most_live, 4U);
  const auto trials = run.trials();
  EXPECT_GE(trials[1].started_wall_s, trials[0].ended_wall_s);
  std::set<Configuration> tried;
  for (const auto& trial : of_search(trials)) {
    EXPECT_TRUE(tried.insert(trial.configuration).second) << trial.configuration.text();
  }
}

TEST_F(LoopTest, HintsComeRightAfterTheBaseline) {
  document_["try"] = Json::parse(R"([{"batch_size": 256, "workers": 3},
                                     {"batch_size": 16, "workers": 1}])");
  SimulatedRun run(folder_.path(), document_, train);
  must_run(run);
  const auto trials = run.trials();
  EXPECT_EQ(trials[1].purpose, TrialPurpose::hint);
  EXPECT_EQ(trials[1].configuration.text(), "batch_size=256 workers=3");
  EXPECT_EQ(trials[2].purpose, TrialPurpose::hint);
  EXPECT_EQ(trials[3].purpose, TrialPurpose::search);
  EXPECT_EQ(of_search(trials).size(), 10U);
}

TEST_F(LoopTest, ASpaceThatIsExhaustedEndsTheSearch) {
  document_["budget"]["trials"] = 100;
  SimulatedRun run(folder_.path(), document_, train);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.end, LoopEnd::exhausted);
  EXPECT_EQ(of_search(run.trials()).size(), 20U);
}

/// Suggests nothing while another trial runs, like a searcher that waits for its result.
class PatientSearcher final : public Searcher {
 public:
  explicit PatientSearcher(std::unique_ptr<Searcher> searcher) : searcher_(std::move(searcher)) {}
  void observe(const Observation& observation) override { searcher_->observe(observation); }
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    ++asked;
    if (!request.running.empty()) return std::nullopt;
    return searcher_->suggest(request);
  }

  int asked = 0;

 private:
  std::unique_ptr<Searcher> searcher_;
};

TEST_F(LoopTest, ASearcherWithoutASuggestionIsAskedAgainAfterTheNextTrial) {
  SimulatedRun run(folder_.path(), document_, train, 0.0, 4);
  auto patient = std::make_unique<PatientSearcher>(std::move(run.searcher));
  const int& asked = patient->asked;
  run.searcher = std::move(patient);
  EXPECT_EQ(must_run(run).search_end, LoopEnd::budget);
  EXPECT_EQ(of_search(run.trials()).size(), 10U);
  EXPECT_LE(asked, 20) << "at most two requests for each trial";
}

TEST_F(LoopTest, ABestBaselineIsReported) {
  document_["baseline"] = Json::parse(R"({"batch_size": 256, "workers": 3})");
  SimulatedRun run(folder_.path(), document_, train);
  const LoopResult result = must_run(run);
  ASSERT_TRUE(result.recommendation);
  EXPECT_EQ(result.recommendation->incumbent_trial, 1);
  EXPECT_EQ(result.recommendation->configuration, run.study.baseline);
  EXPECT_EQ(result.end, LoopEnd::nothing_faster);
  EXPECT_EQ(result.recommendation->claim, Claim::nothing_faster);
  EXPECT_TRUE(std::isnan(result.recommendation->speed_up.ratio)) << "it was not measured";
  EXPECT_FALSE(result.recommendation->payback_share);
  EXPECT_EQ(run.trials().size(), 10U) << "nothing to confirm";
}

TEST_F(LoopTest, TheReasonOfTheEndIsAlwaysGiven) {
  document_["baseline"] = Json::parse(R"({"batch_size": 256, "workers": 3})");
  // The second run finds the first run's result in the history.
  for (const double wall_start_s : {0.0, 1000.0}) {
    SimulatedRun run(folder_.path(), document_, train, wall_start_s);
    const LoopResult result = must_run(run);
    EXPECT_EQ(result.end, LoopEnd::nothing_faster);
    EXPECT_EQ(result.search_end, LoopEnd::budget);
  }
  document_["budget"]["trials"] = 100;
  const DatabaseFolder other;
  SimulatedRun decided(other.path(), document_, train);
  EXPECT_EQ(must_run(decided).end, LoopEnd::nothing_to_gain);
  document_["search"]["worth"] = 0.0;
  const DatabaseFolder folder;
  SimulatedRun run(folder.path(), document_, train);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.end, LoopEnd::nothing_faster);
  EXPECT_EQ(result.search_end, LoopEnd::exhausted);
}

TEST_F(LoopTest, ThePlanUsesFreshBaselineRunsIfNothingIsFaster) {
  const auto slower_when_fresh = [](const TrialSpec& spec) {
    TrialScript script = train(spec);
    const bool is_baseline = to_number(*spec.configuration.find("batch_size")) == 32 &&
                             to_number(*spec.configuration.find("workers")) == 0;
    const double of_baseline = spec.key.trial > 10 ? 0.0012 : 0.001;
    const double of_others = spec.key.trial > 10 ? 0.0013 : 0.0009;
    script.seconds_per_step = script.samples_per_step * (is_baseline ? of_baseline : of_others);
    return script;
  };
  SimulatedRun run(folder_.path(), document_, slower_when_fresh);
  const LoopResult result = must_run(run);
  ASSERT_TRUE(result.recommendation);
  ASSERT_EQ(result.end, LoopEnd::nothing_faster);
  EXPECT_EQ(result.recommendation->incumbent_trial, 1);
  const double planned = run.trials().front().objectives[0];
  EXPECT_NEAR(result.recommendation->incumbent_objectives[0] / planned, 1.2, 0.01);
  EXPECT_EQ(result.recommendation->incumbent_objectives,
            result.recommendation->baseline_objectives);
}

TEST_F(LoopTest, AWinnerByLuckIsTakenBack) {
  // Every search trial except the baseline looks fast by luck. Fresh runs are slower.
  const auto lucky = [](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.seconds_per_step = script.samples_per_step * 0.001;
    if (spec.key.trial > 1 && spec.key.trial <= 10) script.seconds_per_step *= 0.9;
    const bool is_baseline = to_number(*spec.configuration.find("batch_size")) == 32 &&
                             to_number(*spec.configuration.find("workers")) == 0;
    if (spec.key.trial > 10 && !is_baseline) script.seconds_per_step *= 1.1;
    return script;
  };
  SimulatedRun run(folder_.path(), document_, lucky);
  const LoopResult result = must_run(run);
  ASSERT_TRUE(result.recommendation);
  EXPECT_EQ(result.recommendation->incumbent_trial, 1) << "the baseline";
  EXPECT_EQ(result.end, LoopEnd::nothing_faster);
  EXPECT_TRUE(std::isnan(result.recommendation->speed_up.ratio));
  ASSERT_EQ(result.recommendation->finalists.size(), 3U) << "each finalist was run";
  for (const FinalistResult& finalist : result.recommendation->finalists) {
    EXPECT_EQ(finalist.verdict, Verdict::not_faster);
    EXPECT_LT(finalist.speed_up.high, 1.05) << "not worth it";
  }
}

TEST_F(LoopTest, AWinnerThatFailsWhenConfirmedIsNoWinner) {
  std::int64_t refuted = 0;
  const auto fragile = [&](const TrialSpec& spec) {
    TrialScript script = train(spec);
    if (spec.key.trial == 11) {
      script.steps = 3;
      script.ends_as = OutcomeKind::failed;
      script.detail = "exit status 1";
    }
    return script;
  };
  SimulatedRun run(folder_.path(), document_, fragile);
  const LoopResult result = must_run(run);
  const auto trials = run.trials();
  for (const auto& trial : of_search(trials)) {
    if (trial.configuration == trials[10].configuration) refuted = trial.number;
  }
  ASSERT_TRUE(result.recommendation);
  ASSERT_GT(refuted, 0);
  EXPECT_NE(result.recommendation->incumbent_trial, refuted);
  EXPECT_EQ(result.recommendation->speed_up.pairs, 3);
  EXPECT_THAT(run.listener.warnings, Contains(HasSubstr("failed when it was confirmed")));
}

TEST_F(LoopTest, CommandsAreRenderedAndLogsHaveTheirPlace) {
  SimulatedRun run(folder_.path(), document_, train);
  must_run(run);
  const TrialSpec& spec = run.runner.started().front();
  EXPECT_THAT(spec.argv, ElementsAre("train", "--batch-size", "32", "--workers", "0"));
  EXPECT_EQ(spec.log_path, folder_.path() / "logs" / "trial-1.log");
  EXPECT_EQ(spec.report_format.samples_per_step, 32.0);
  EXPECT_TRUE(std::filesystem::is_directory(folder_.path() / "logs"));
}

TEST_F(LoopTest, ProgressIsShownEverySecondAndNoOftener) {
  SimulatedRun run(folder_.path(), document_, train);
  must_run(run);
  const auto& times = run.listener.progress_s;
  ASSERT_GT(times.size(), 10U);
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_LE(times[i] - times[i - 1], 1.0);
    EXPECT_GE(times[i] - times[i - 1], 0.2);
  }
}

TEST_F(LoopTest, AshaStopsBadTrialsAndSavesTime) {
  document_["measure"]["target_half_width"] = 0.001;
  document_["budget"]["trials"] = 20;
  document_["search"]["scheduler"] = "asha";
  SimulatedRun asha(folder_.path(), document_, train);
  const LoopResult result = must_run(asha);
  int stopped = 0;
  double stopped_s = 0.0;
  double completed_s = 0.0;
  for (const auto& trial : of_search(asha.trials())) {
    stopped += trial.status == TrialStatus::stopped_early ? 1 : 0;
    if (trial.status == TrialStatus::completed) completed_s = std::max(completed_s, trial.spent_s);
    if (trial.status == TrialStatus::stopped_early) {
      stopped_s += trial.spent_s;
      EXPECT_THAT(trial.failure, HasSubstr("rung"));
      EXPECT_FALSE(trial.objectives.empty());
    }
  }
  EXPECT_EQ(asha.trials()[0].status, TrialStatus::completed) << "the baseline is exempt";
  EXPECT_GE(stopped, 5);
  EXPECT_LT(stopped_s, 0.5 * stopped * completed_s);
  const auto trials = asha.trials();
  const auto confirming =
      std::ranges::find(trials, TrialPurpose::confirm_incumbent, &TrialRecord::purpose);
  ASSERT_NE(confirming, trials.end());
  EXPECT_EQ(result.recommendation->configuration, confirming->configuration);
}

TEST_F(LoopTest, AsksTheBayesianSearcherWhichTrialsContinue) {
  document_["search"]["searcher"] = "bayes";
  document_["search"]["scheduler"] = "asha";
  document_["budget"]["trials"] = 20;
  SimulatedRun run(folder_.path(), document_, train);
  const LoopResult result = must_run(run);
  int advised = 0;
  for (const auto& trial : of_search(run.trials())) {
    if (trial.status != TrialStatus::stopped_early) continue;
    EXPECT_FALSE(trial.milestones.empty()) << "kept for a searcher that learns from the history";
    advised += trial.failure.find("of its length") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(advised, 1);
  ASSERT_TRUE(result.recommendation);
  EXPECT_GT(result.recommendation->speed_up.ratio, 2.0);
}

/// Suggests like the wrapped searcher, with an invented expected improvement.
class Claiming final : public Searcher {
 public:
  Claiming(std::unique_ptr<Searcher> searcher, double claim)
      : searcher_(std::move(searcher)), claim_(claim) {}
  void observe(const Observation& observation) override { searcher_->observe(observation); }
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    auto suggestion = searcher_->suggest(request);
    if (suggestion && *suggestion) (*suggestion)->expected_improvement = claim_;
    return suggestion;
  }

 private:
  std::unique_ptr<Searcher> searcher_;
  double claim_;
};

TEST_F(LoopTest, StopsWhenTryingNoLongerPays) {
  document_["budget"]["stop"] = "payback";
  document_["budget"]["trials"] = 20;
  SimulatedRun run(folder_.path(), document_, train);
  run.searcher = std::make_unique<Claiming>(std::move(run.searcher), 1e-4);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.end, LoopEnd::payback);
  EXPECT_EQ(of_search(run.trials()).size(), 3U) << "the third hopeless suggestion is not tried";
  std::vector<int> unpaid;
  for (const StudyDecision& decision : must(run.history.decisions(run.record().id))) {
    if (decision.kind != "payback") continue;
    unpaid.push_back(decision.numbers.at("in_a_row").get<int>());
    EXPECT_LT(decision.numbers.at("saving").get<double>(),
              decision.numbers.at("price").get<double>());
  }
  EXPECT_EQ(unpaid, (std::vector{1, 2, 3}));
  EXPECT_EQ(run.record().status, StudyStatus::finished);

  DatabaseFolder other;
  SimulatedRun hopeful(other.path(), document_, train);
  hopeful.searcher = std::make_unique<Claiming>(std::move(hopeful.searcher), 0.5);
  EXPECT_NE(must_run(hopeful).end, LoopEnd::payback);
}

TEST_F(LoopTest, TwoObjectivesGiveATradeOff) {
  document_["objectives"] = Json::parse(R"(["time", "energy"])");
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    result.steps = 100;
    // Workers cost energy, so no configuration is both fast and frugal.
    result.metrics["energy"] = 100.0 * (1.0 + to_number(*spec.configuration.find("workers")));
    return result;
  };
  SimulatedRun run(folder_.path(), document_, script);
  const LoopResult result = must_run(run);
  ASSERT_TRUE(result.recommendation);
  EXPECT_GE(result.recommendation->pareto.size(), 2U);
  const auto trials = run.trials();
  for (const std::int64_t number : result.recommendation->pareto) {
    const auto& member = trials[static_cast<std::size_t>(number - 1)];
    for (const auto& other : of_search(trials)) {
      EXPECT_FALSE(other.objectives[0] < member.objectives[0] &&
                   other.objectives[1] < member.objectives[1]);
    }
  }
  EXPECT_EQ(result.recommendation->incumbent_objectives.size(), 2U);
}

TEST_F(LoopTest, AReportedMetricMayBeMaximized) {
  document_["objectives"] = Json::parse(R"([{"metric": "score", "direction": "maximize"}])");
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    result.steps = 5;
    result.metrics["score"] = to_number(*spec.configuration.find("batch_size"));
    return result;
  };
  document_["budget"]["trials"] = 20;
  SimulatedRun run(folder_.path(), document_, script);
  const LoopResult result = must_run(run);
  ASSERT_TRUE(result.recommendation);
  EXPECT_NEAR(result.recommendation->incumbent_objectives.at(0), 256.0, 1e-9);
  EXPECT_NEAR(result.recommendation->speed_up.ratio, 8.0, 1e-9);
}

}  // namespace
}  // namespace steptune::simulation
