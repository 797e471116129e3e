// SPDX-License-Identifier: Apache-2.0
// Tests interrupted, killed and resumed studies.
#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/simulation/simulated_study.hpp"
#include "tuner/history/decision_text.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune::simulation {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ResumeTest : public ::testing::Test {
 protected:
  DatabaseFolder folder_;
  Json document_ = study_document();

  LoopResult must_run(SimulatedRun& run) {
    auto result = run.run();
    if (!result) throw std::runtime_error(result.error().text());
    return *std::move(result);
  }
  /// Runs until `trials` have ended, then interrupts.
  LoopResult run_and_interrupt(std::size_t trials, int capacity = 1, int times = 1) {
    SimulatedRun run(folder_.path(), document_, train, 0.0, capacity);
    run.interrupts = [&] { return run.listener.ended.size() >= trials ? times : 0; };
    return must_run(run);
  }
};

std::set<Configuration> searched(const std::vector<TrialRecord>& trials) {
  std::set<Configuration> result;
  for (const auto& trial : trials) {
    if (is_compared(trial.purpose)) result.insert(trial.configuration);
  }
  return result;
}

TEST_F(ResumeTest, AnInterruptedStudyContinuesWhereItStopped) {
  std::set<Configuration> uninterrupted;
  {
    DatabaseFolder other;
    SimulatedRun run(other.path(), document_, train);
    must_run(run);
    uninterrupted = searched(run.trials());
  }
  const LoopResult first = run_and_interrupt(4);
  EXPECT_EQ(first.end, LoopEnd::interrupted);
  ASSERT_TRUE(first.recommendation) << "the result so far";

  SimulatedRun run(folder_.path(), document_, train, 1000.0);
  const StudyRecord between = run.record();
  EXPECT_EQ(between.status, StudyStatus::interrupted);
  EXPECT_GT(between.elapsed_s, 1.0);
  EXPECT_EQ(must_run(run).end, LoopEnd::budget);
  EXPECT_EQ(searched(run.trials()), uninterrupted);
  EXPECT_EQ(run.record().status, StudyStatus::finished);
  EXPECT_GT(run.record().elapsed_s, between.elapsed_s);
  EXPECT_THAT(run.listener.started, ::testing::Not(Contains(1)))
      << "the baseline was measured before";
}

TEST_F(ResumeTest, AnInterruptionRecordsRunningTrialsAndStartsNone) {
  SimulatedRun run(folder_.path(), document_, train, 0.0, 3);
  run.interrupts = [&] { return run.listener.ended.size() >= 2 ? 1 : 0; };
  EXPECT_EQ(must_run(run).end, LoopEnd::interrupted);
  EXPECT_EQ(run.runner.running(), 0U);
  std::size_t interrupted = 0;
  for (const auto& trial : run.trials()) {
    EXPECT_TRUE(is_final(trial.status) || trial.status == TrialStatus::interrupted);
    interrupted += trial.status == TrialStatus::interrupted ? 1 : 0;
    if (trial.status == TrialStatus::interrupted) {
      EXPECT_GT(trial.spent_s, 0.0);
    }
  }
  EXPECT_GE(interrupted, 1U);
  EXPECT_THAT(run.listener.phases, ElementsAre("searching", "stopping"));
}

TEST_F(ResumeTest, ASecondInterruptEndsTrialsThatIgnoreTheFirst) {
  const auto stubborn = [](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.ignores_stop = spec.key.trial == 2;
    return script;
  };
  SimulatedRun run(folder_.path(), document_, stubborn);
  run.interrupts = [&] {
    if (run.listener.started.size() < 2) return 0;
    return run.clock.now_s() < 100.0 ? 1 : 2;
  };
  EXPECT_EQ(must_run(run).end, LoopEnd::interrupted);
  EXPECT_EQ(run.trials()[1].status, TrialStatus::interrupted);
  EXPECT_GE(run.clock.now_s(), 100.0);
}

TEST_F(ResumeTest, InterruptedTrialsAreLaunchedAgainAsFurtherAttempts) {
  run_and_interrupt(2, 3);
  SimulatedRun run(folder_.path(), document_, train, 1000.0, 3);
  std::vector<std::int64_t> open;
  for (const auto& trial : run.trials()) {
    if (!is_final(trial.status)) open.push_back(trial.number);
  }
  ASSERT_FALSE(open.empty());
  must_run(run);
  for (const std::int64_t number : open) {
    const auto trial = run.trials()[static_cast<std::size_t>(number - 1)];
    EXPECT_EQ(trial.status, TrialStatus::completed);
    EXPECT_EQ(trial.attempt, 2);
  }
}

TEST_F(ResumeTest, AFinishedStudyOnlyReportsItsResult) {
  Recommendation first;
  {
    SimulatedRun run(folder_.path(), document_, train);
    first = *must_run(run).recommendation;
  }
  SimulatedRun run(folder_.path(), document_, train, 1000.0);
  const LoopResult again = must_run(run);
  EXPECT_THAT(run.runner.started(), IsEmpty());
  EXPECT_EQ(again.end, LoopEnd::budget);
  EXPECT_EQ(again.reason, "10 trials");
  ASSERT_TRUE(again.recommendation);
  EXPECT_EQ(to_json(*again.recommendation), to_json(first));
}

TEST_F(ResumeTest, ALargerBudgetContinuesAFinishedStudy) {
  {
    SimulatedRun run(folder_.path(), document_, train);
    must_run(run);
  }
  document_["budget"]["trials"] = 15;
  SimulatedRun run(folder_.path(), document_, train, 1000.0);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.reason, "15 trials");
  EXPECT_EQ(searched(run.trials()).size(), 15U);
  EXPECT_EQ(result.recommendation->speed_up.pairs, 3);
}

TEST_F(ResumeTest, ALargerBudgetIsUsedAfterAnEarlyKill) {
  {
    SimulatedRun run(folder_.path(), document_, train);
    must_run(run);
  }
  document_["budget"]["trials"] = 15;
  {
    SimulatedRun run(folder_.path(), document_, train, 1000.0);
    run.listener.at_crash_point = [] { throw 1; };  // before any trial is started
    EXPECT_THROW((void)run.run(), int);
    EXPECT_EQ(run.trials().size(), 16U) << "ten trials and three pairs of confirming runs";
  }
  SimulatedRun run(folder_.path(), document_, train, 2000.0);
  EXPECT_EQ(must_run(run).reason, "15 trials");
  EXPECT_EQ(searched(run.trials()).size(), 15U);
}

TEST_F(ResumeTest, ALargerBudgetIsUsedAfterAKillInTheConfirmation) {
  run_and_interrupt(13);
  document_["budget"]["trials"] = 15;
  {
    SimulatedRun run(folder_.path(), document_, train, 1000.0);
    run.listener.at_crash_point = [] { throw 1; };  // before any trial is started
    EXPECT_THROW((void)run.run(), int);
  }
  SimulatedRun run(folder_.path(), document_, train, 2000.0);
  EXPECT_EQ(must_run(run).reason, "15 trials");
  EXPECT_EQ(searched(run.trials()).size(), 15U);
  std::vector<std::string> changed;
  for (const StudyDecision& decision : must(run.history.decisions(run.record().id))) {
    if (decision.kind == "changed")
      changed.push_back(decision.numbers["changed"].get<std::string>());
  }
  EXPECT_THAT(changed, ElementsAre("budget"));
}

TEST_F(ResumeTest, AKillLosesNoMoreThanAMinuteOfTimeAndMoney) {
  const auto long_trials = [](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.startup_s = 200.0;
    return script;
  };
  double spent_s = 0.0;
  for (int kills = 1; kills <= 2; ++kills) {
    SimulatedRun run(folder_.path(), document_, long_trials, 1000.0 * kills);
    const double killed_s = run.clock.now_s() + 190.0;
    run.runner.at_wait = [&] {
      if (run.clock.now_s() > killed_s) throw 1;
    };
    EXPECT_THROW((void)run.run(), int);
    spent_s += 190.0;
    EXPECT_NEAR(run.record().elapsed_s, spent_s, 62.0 * kills);
    EXPECT_LE(run.record().elapsed_s, spent_s + kills);
  }
  document_["budget"]["trials"] = 1;
  SimulatedRun run(folder_.path(), document_, long_trials, 5000.0);
  must_run(run);
  const TrialRecord baseline = run.trials()[0];
  const auto attempts = must(run.history.attempts(run.record().id, 1));
  ASSERT_EQ(attempts.size(), 3U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(attempts[i].status, TrialStatus::interrupted);
    // Killed after 190 s; the last record of its time is at most a minute older.
    EXPECT_NEAR(attempts[i].spent_s, 160.0, 32.0);
    EXPECT_NEAR(attempts[i].spent_usd, 0.001 * attempts[i].spent_s, 1e-9);
    EXPECT_NEAR(attempts[i].ended_wall_s - attempts[i].started_wall_s, attempts[i].spent_s, 1e-6);
  }
  EXPECT_NEAR(baseline.spent_s, attempts[0].spent_s + attempts[1].spent_s + attempts[2].spent_s,
              1e-6);
  EXPECT_NEAR(run.record().elapsed_s, baseline.spent_s, 5.0);
}

TEST_F(ResumeTest, AnotherDeadlineIsNotAnsweredWithTheOldResult) {
  {
    SimulatedRun run(folder_.path(), document_, train);
    must_run(run);
  }
  document_["planned_run"]["deadline"] = "1h";
  SimulatedRun run(folder_.path(), document_, train, 1000.0);
  must_run(run);
  std::vector<std::string> changed;
  for (const StudyDecision& decision : must(run.history.decisions(run.record().id))) {
    if (decision.kind != "changed") continue;
    changed.push_back(decision.numbers.at("changed").get<std::string>());
  }
  EXPECT_THAT(changed, ElementsAre("planned_run"));
}

/// Suggests like the wrapped searcher, and expects no improvement.
class ExpectsNothing final : public Searcher {
 public:
  explicit ExpectsNothing(std::unique_ptr<Searcher> searcher) : searcher_(std::move(searcher)) {}
  void observe(const Observation& observation) override { searcher_->observe(observation); }
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    auto suggestion = searcher_->suggest(request);
    if (suggestion && *suggestion) (*suggestion)->expected_improvement = 0.0;
    return suggestion;
  }

 private:
  std::unique_ptr<Searcher> searcher_;
};

TEST_F(ResumeTest, AContinuedStudyKnowsThatNoImprovementIsExpected) {
  const auto no_gain = [](const TrialSpec& /*spec*/) { return TrialScript{}; };
  document_["search"]["worth"] = 1.0;
  for (const bool is_continued : {false, true}) {
    SimulatedRun run(folder_.path(), document_, no_gain, is_continued ? 1000.0 : 0.0);
    run.searcher = std::make_unique<ExpectsNothing>(std::move(run.searcher));
    if (!is_continued) run.interrupts = [&] { return run.listener.ended.size() >= 2 ? 1 : 0; };
    const LoopResult result = must_run(run);
    EXPECT_EQ(result.end, is_continued ? LoopEnd::nothing_to_gain : LoopEnd::interrupted);
    EXPECT_EQ(run.trials().size(), 2U) << "the baseline and the only suggestion";
  }
}

TEST_F(ResumeTest, LaunchesThatAKillCutOffDoNotCountAsLost) {
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    if (spec.key.trial == 1 && spec.key.attempt == 3) {
      result.steps = 2;
      result.ends_as = OutcomeKind::lost;
    }
    return result;
  };
  for (int kills = 0; kills < 2; ++kills) {
    SimulatedRun run(folder_.path(), document_, script, 1000.0 * kills);
    run.runner.at_wait = [&] {
      if (run.runner.running() > 0) throw 1;
    };
    EXPECT_THROW((void)run.run(), int);
  }
  SimulatedRun run(folder_.path(), document_, script, 5000.0);
  EXPECT_EQ(must_run(run).end, LoopEnd::budget);
  const TrialRecord baseline = run.trials()[0];
  EXPECT_EQ(baseline.status, TrialStatus::completed) << baseline.failure;
  EXPECT_EQ(baseline.attempt, 4);
}

TEST_F(ResumeTest, AKillLosesNoMoreThanAMinuteOfTrialsSideBySide) {
  // The second trial takes long, and later trials repeatedly end while it runs.
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    result.startup_s = spec.key.trial == 2 ? 400.0 : 2.0;
    return result;
  };
  document_["budget"]["trials"] = 40;
  {
    SimulatedRun run(folder_.path(), document_, script, 0.0, 2);
    std::optional<double> killed_s;
    run.runner.at_wait = [&] {
      if (!killed_s && !run.listener.ended.empty()) killed_s = run.clock.now_s() + 190.0;
      if (killed_s && run.clock.now_s() > *killed_s) throw 1;
    };
    EXPECT_THROW((void)run.run(), int);
    EXPECT_GT(run.listener.ended.size(), 5U);
  }
  SimulatedRun run(folder_.path(), document_, script, 1000.0, 2);
  must_run(run);
  const auto attempts = must(run.history.attempts(run.record().id, 2));
  ASSERT_EQ(attempts.size(), 2U);
  // Killed after about 190 s; the last record of its time is at most a minute older.
  EXPECT_NEAR(attempts[0].spent_s, 160.0, 32.0);
  const TrialRecord trial = must(run.history.trial(run.record().id, 2));
  EXPECT_EQ(trial.earlier_s, attempts[0].spent_s);
  EXPECT_NEAR(latest_attempt_s(trial), attempts[1].spent_s, 1e-6);
  EXPECT_NEAR(latest_attempt_usd(trial), attempts[1].spent_usd, 1e-9);
}

TEST_F(ResumeTest, FailuresInARowIgnoreAClockSetBack) {
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    const bool fails = spec.key.trial != 1 && spec.key.trial != 6;
    if (fails && spec.key.trial <= 8) {
      result.steps = 0;
      result.ends_as = OutcomeKind::failed;
    }
    return result;
  };
  // The tuner is killed after four failures, and again after one more, sound trial.
  for (const double wall_s : {9000.0, 1000.0}) {
    SimulatedRun run(folder_.path(), document_, script, wall_s);
    run.listener.at_crash_point = [&] {
      const std::size_t known = wall_s > 5000.0 ? 5 : 6;
      if (!run.listener.ended.empty() &&
          run.listener.ended.back().number >= static_cast<std::int64_t>(known)) {
        throw 1;
      }
    };
    EXPECT_THROW((void)run.run(), int);
  }
  SimulatedRun run(folder_.path(), document_, script, 2000.0);
  EXPECT_EQ(must_run(run).end, LoopEnd::budget);
}

TEST_F(ResumeTest, AnInterruptedConfirmationContinues) {
  const LoopResult first = run_and_interrupt(13);
  EXPECT_EQ(first.end, LoopEnd::interrupted);
  SimulatedRun run(folder_.path(), document_, train, 1000.0);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.recommendation->speed_up.pairs, 3);
  EXPECT_EQ(run.trials().size(), 16U) << "ten trials and three pairs of confirming runs";
}

TEST_F(ResumeTest, TheBudgetOfTimeCountsAllRuns) {
  document_["budget"] = Json::parse(R"({"trials": 1000, "time": "60s"})");
  document_["measure"]["target_half_width"] = 0.004;
  run_and_interrupt(3);
  SimulatedRun run(folder_.path(), document_, train, 1000.0);
  must_run(run);
  EXPECT_LT(run.record().elapsed_s, 90.0);
}

TEST_F(ResumeTest, SurvivingTrialsAreAdopted) {
  {
    SimulatedRun run(folder_.path(), document_, train, 0.0, 2);
    run.runner.at_crash_point = [&] {
      if (run.listener.ended.size() == 2 && run.runner.running() == 2) throw 1;
    };
    EXPECT_THROW((void)run.run(), int);
  }
  SimulatedRun run(folder_.path(), document_, train, 1000.0, 2);
  run.runner.adopts = true;
  must_run(run);
  EXPECT_EQ(run.runner.adopted().size(), 2U);
  for (const auto& trial : run.trials()) {
    EXPECT_EQ(trial.status, TrialStatus::completed);
    EXPECT_EQ(trial.attempt, 1) << "adopted, not launched again";
  }
}

/// Returns all decisions about each trial, and their reasons.
std::vector<std::string> decisions(const std::vector<TrialRecord>& trials) {
  std::vector<std::string> result;
  for (const TrialRecord& trial : trials) {
    std::string text = to_text(trial.purpose) + " " + trial.configuration.text() + ": " +
                       to_text(trial.status) + " " + trial.failure;
    for (const double value : trial.objectives)
      text += " " + std::to_string(value);
    result.push_back(std::move(text));
  }
  return result;
}

struct Deciding {
  const char* searcher;
  const char* scheduler;
};

void PrintTo(const Deciding& deciding, std::ostream* out) {
  *out << deciding.searcher << " " << deciding.scheduler;
}

class DecisionTest : public ::testing::TestWithParam<Deciding> {};

TEST_P(DecisionTest, EqualThoseOfAStudyThatWasNeverKilled) {
  Json document = study_document();
  document["search"]["searcher"] = GetParam().searcher;
  document["search"]["scheduler"] = GetParam().scheduler;
  document["search"]["eta"] = 2.5;
  document["search"]["min_steps"] = 8;
  document["budget"]["trials"] = 14;
  document["measure"]["target_half_width"] = 0.01;
  document["guards"] =
      Json::parse(R"([{"metric": "loss", "after_samples": 6400, "max_ratio_to_baseline": 1.02}])");
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    result.noise = 0.05;
    // With these speeds and losses, a resumed study that knows only the trials' last values would
    // have other rungs.
    result.slower_by_step = spec.key.trial % 2 == 0 ? 1e-4 : 0.0;
    result.metrics["loss"] = spec.key.trial % 5 == 0 ? 3.0 : 2.0;
    return result;
  };
  DatabaseFolder unkilled_folder;
  SimulatedRun unkilled(unkilled_folder.path(), document, script);
  std::size_t crash_points = 0;
  unkilled.runner.at_crash_point = [&] { ++crash_points; };
  ASSERT_TRUE(unkilled.run());
  const auto expected = decisions(unkilled.trials());
  for (std::size_t crash_at = 8; crash_at < crash_points; crash_at += 23) {
    DatabaseFolder folder;
    {
      SimulatedRun killed(folder.path(), document, script);
      std::size_t points = 0;
      killed.runner.at_crash_point = [&] {
        if (++points == crash_at) throw 1;
      };
      ASSERT_THROW((void)killed.run(), int);
    }
    SimulatedRun resumed(folder.path(), document, script, 1000.0);
    ASSERT_TRUE(resumed.run());
    ASSERT_EQ(decisions(resumed.trials()), expected) << "killed at crash point " << crash_at;
  }
}

/// Searcher that expects a large improvement from some suggestions: every third one up to the
/// eighth trial, and all from the tenth trial on. If the ninth suggestion ends the search, the loop
/// asks for no more.
class Doubting final : public Searcher {
 public:
  explicit Doubting(std::unique_ptr<Searcher> searcher) : searcher_(std::move(searcher)) {}
  [[nodiscard]] bool learns() const override { return searcher_->learns(); }
  void observe(const Observation& observation) override { searcher_->observe(observation); }
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    auto suggestion = searcher_->suggest(request);
    if (suggestion && *suggestion) {
      const bool hopeful = request.trial > 9 || (request.trial <= 8 && request.trial % 3 == 0);
      (*suggestion)->expected_improvement = hopeful ? 0.5 : 1e-4;
    }
    return suggestion;
  }

 private:
  std::unique_ptr<Searcher> searcher_;
};

TEST_F(ResumeTest, ThePaybackRuleDecidesAfterAKillAsBefore) {
  document_["budget"]["stop"] = "payback";
  document_["budget"]["trials"] = 20;
  const auto run_with = [&](const std::filesystem::path& folder, std::size_t crash_at) {
    SimulatedRun run(folder, document_, train, crash_at == 0 ? 1000.0 : 0.0);
    run.searcher = std::make_unique<Doubting>(std::move(run.searcher));
    std::size_t points = 0;
    run.runner.at_crash_point = [&] {
      if (++points == crash_at) throw 1;
    };
    const auto result = run.run();
    EXPECT_EQ(result->end, LoopEnd::payback);
    return std::pair(decisions(run.trials()), points);
  };
  DatabaseFolder unkilled;
  const auto [expected, crash_points] = run_with(unkilled.path(), 0);
  for (std::size_t crash_at = 5; crash_at < crash_points; crash_at += 17) {
    DatabaseFolder folder;
    EXPECT_THROW((void)run_with(folder.path(), crash_at), int);
    EXPECT_EQ(run_with(folder.path(), 0).first, expected) << "killed at crash point " << crash_at;
  }
}

/// A study whose confirmation takes less time than reserved, so the search continues after it. The
/// first start reads from storage, later starts read from memory.
Json searching_on() {
  Json document = study_document();
  document["parameters"]["workers"]["high"] = 39;
  document["budget"] = Json{{"time", 170.0}};
  return document;
}

TrialScript train_from_memory(const TrialSpec& spec) {
  TrialScript script = train(spec);
  script.noise = 0.002;
  script.startup_s = spec.key.trial == 1 ? 20.0 : 2.0;
  return script;
}

/// Decisions of a trial, two pairs of fresh runs and the result.
constexpr std::size_t k_last_decisions = 6;

TEST_F(ResumeTest, ASearchAfterAConfirmationDecidesAfterAKillAsBefore) {
  double elapsed_s = 0.0, last_trial_s = 0.0;
  const auto run_with = [&](const std::filesystem::path& folder, std::size_t crash_at) {
    SimulatedRun run(folder, searching_on(), train_from_memory, crash_at == 0 ? 1000.0 : 0.0);
    std::size_t points = 0;
    const auto crash_point = [&] {
      if (++points == crash_at) throw 1;
    };
    run.runner.at_crash_point = crash_point;
    run.listener.at_crash_point = crash_point;
    const LoopResult result = must_run(run);
    elapsed_s = run.record().elapsed_s;
    last_trial_s = latest_attempt_s(run.trials().back());
    auto decided = decisions(run.trials());
    decided.push_back(result.reason + ": " + result.recommendation->configuration.text());
    return std::pair(std::move(decided), points);
  };
  DatabaseFolder unkilled;
  const auto [expected, crash_points] = run_with(unkilled.path(), 0);
  const double last_begun_s = elapsed_s - last_trial_s;
  const auto is_fresh = [](const std::string& decision) { return decision.starts_with("confirm"); };
  const auto first = std::ranges::find_if(expected, is_fresh);
  ASSERT_TRUE(std::any_of(first, expected.end(), [](const std::string& decision) {
    return decision.starts_with("search");
  })) << "the search did not go on";
  // Each trial has several crash points, so every third crash point covers all kinds.
  for (std::size_t crash_at = 1; crash_at <= crash_points; crash_at += 3) {
    DatabaseFolder folder;
    EXPECT_THROW((void)run_with(folder.path(), crash_at), int);
    const auto decided = run_with(folder.path(), 0).first;
    // The time of an interrupted attempt counts, so there may be no time for the last trial and its
    // pairs.
    const bool had_time = decided.size() >= expected.size() && elapsed_s <= last_begun_s;
    const std::size_t lasting = expected.size() - (had_time ? 0 : k_last_decisions);
    ASSERT_GE(decided.size(), lasting) << "killed at crash point " << crash_at;
    ASSERT_TRUE(std::equal(
        expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(lasting), decided.begin()))
        << "killed at crash point " << crash_at;
  }
}

TEST_F(ResumeTest, AStudyOfWholeRunsDecidesAfterAKillAsBefore) {
  Json document = study_document();
  document["budget"] = Json{{"trials", 6}};
  document["baseline"] = Json::parse(R"({"batch_size": 256, "workers": 3})");
  document["planned_run"].erase("samples");
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    result.noise = 0.1;
    result.seconds_per_step = 0.003 * result.samples_per_step;
    result.slower_by_step = 0.01;
    result.steps = 24;
    return result;
  };
  const auto run_with = [&](const std::filesystem::path& folder, std::size_t crash_at) {
    SimulatedRun run(folder, document, script, crash_at == 0 ? 1000.0 : 0.0);
    std::size_t points = 0;
    const auto crash_point = [&] {
      if (++points == crash_at) throw 1;
    };
    run.runner.at_crash_point = crash_point;
    run.listener.at_crash_point = crash_point;
    const LoopResult result = must_run(run);
    auto decided = decisions(run.trials());
    decided.push_back(result.reason + ": " + result.recommendation->configuration.text());
    return std::pair(std::move(decided), points);
  };
  DatabaseFolder unkilled;
  const auto [expected, crash_points] = run_with(unkilled.path(), 0);
  EXPECT_GE(std::ranges::count_if(expected,
                                  [](const std::string& decision) {
                                    return decision.starts_with("confirm_incumbent");
                                  }),
            4)
      << testing::PrintToString(expected);
  for (std::size_t crash_at = 1; crash_at <= crash_points; crash_at += 3) {
    DatabaseFolder folder;
    EXPECT_THROW((void)run_with(folder.path(), crash_at), int);
    ASSERT_EQ(run_with(folder.path(), 0).first, expected) << "killed at crash point " << crash_at;
  }
}

/// Returns the decisions about the study, without the kinds that each run of the tuner makes again.
std::vector<std::string> lasting_decisions(const SimulatedRun& run) {
  std::vector<std::string> lasting;
  for (const StudyDecision& decision : must(run.history.decisions(run.record().id))) {
    if (decision.kind == "end" || decision.kind == "search_on" || decision.kind == "recommend")
      continue;
    lasting.push_back(decision.kind + " " + std::to_string(decision.trial) + " " +
                      numbers_text(decision) + " " + decision.text);
  }
  return lasting;
}

/// Returns judgements without the trial's number and measured figures. The time of an interrupted
/// attempt counts, so there may be one trial less before the judgements.
std::vector<std::string> without_figures(std::vector<std::string> decisions) {
  static const std::regex k_figures(
      " \\d+ (?=verdict=)| (?:ratio|low|high|low_if_buffered)=[\\d.]+");
  for (std::string& decision : decisions) {
    if (decision.starts_with("judge ")) decision = std::regex_replace(decision, k_figures, "");
  }
  return decisions;
}

TEST_F(ResumeTest, AKillLosesNoDecisionAndRepeatsNone) {
  Json document = searching_on();
  document["budget"]["time"] = 190.0;
  document["guards"] =
      Json::parse(R"([{"metric": "loss", "after_samples": 640, "max_ratio_to_baseline": 1.02}])");
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train_from_memory(spec);
    result.metrics["loss"] = 2.0;
    return result;
  };
  const auto run_with = [&](const std::filesystem::path& folder, std::size_t crash_at) {
    SimulatedRun run(folder, document, script, crash_at == 0 ? 1000.0 : 0.0);
    std::size_t points = 0;
    const auto crash_point = [&] {
      if (++points == crash_at) throw 1;
    };
    run.runner.at_crash_point = crash_point;
    run.listener.at_crash_point = crash_point;
    must_run(run);
    return std::pair(lasting_decisions(run), points);
  };
  DatabaseFolder unkilled;
  const auto [expected, crash_points] = run_with(unkilled.path(), 0);
  for (const char* kind : {"guard ", "finalist ", "judge "}) {
    EXPECT_TRUE(std::ranges::any_of(
        expected, [kind](const std::string& decision) { return decision.starts_with(kind); }))
        << kind << testing::PrintToString(expected);
  }
  for (std::size_t crash_at = 1; crash_at <= crash_points; crash_at += 2) {
    DatabaseFolder folder;
    EXPECT_THROW((void)run_with(folder.path(), crash_at), int);
    ASSERT_EQ(without_figures(run_with(folder.path(), 0).first), without_figures(expected))
        << "killed at crash point " << crash_at;
  }
}

TEST_F(ResumeTest, AnInterruptedConfirmationPrecedesTheSearch) {
  {
    SimulatedRun run(folder_.path(), searching_on(), train_from_memory);
    run.interrupts = [&] {
      return std::ranges::count_if(
                 run.listener.ended,
                 [](const TrialRecord& trial) { return is_confirmation(trial.purpose); }) >= 2
                 ? 1
                 : 0;
    };
    EXPECT_EQ(must_run(run).end, LoopEnd::interrupted);
  }
  SimulatedRun run(folder_.path(), searching_on(), train_from_memory, 1000.0);
  must_run(run);
  const auto trials = run.trials();
  const auto first = std::ranges::find_if(run.listener.started, [&](std::int64_t number) {
    return trials[static_cast<std::size_t>(number) - 1].purpose != TrialPurpose::sentinel;
  });
  ASSERT_NE(first, run.listener.started.end());
  EXPECT_TRUE(is_confirmation(trials[static_cast<std::size_t>(*first) - 1].purpose)) << *first;
}

INSTANTIATE_TEST_SUITE_P(Schedulers, DecisionTest,
                         ::testing::Values(Deciding{"sobol", "none"}, Deciding{"sobol", "asha"},
                                           Deciding{"sobol", "racing"},
                                           Deciding{"sobol", "median"}));
INSTANTIATE_TEST_SUITE_P(Bayes, DecisionTest, ::testing::Values(Deciding{"bayes", "asha"}));

TEST_F(ResumeTest, AnotherCommandUnderTheSameNameIsAConflict) {
  {
    SimulatedRun run(folder_.path(), document_, train);
    must_run(run);
  }
  document_["command"].push_back("--fast");
  SimulatedRun run(folder_.path(), document_, train, 1000.0);
  const auto result = run.run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::conflict);
}

/// Runs the study in a child process that exits without warning at its crash point `crash_at`.
/// Returns true if the study reached its end.
bool run_in_child(const std::filesystem::path& folder, const Json& document, int crash_at,
                  double wall_start_s, int capacity) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 1;
    try {
      SimulatedRun run(folder, document, train, wall_start_s, capacity);
      int points = 0;
      const auto crash_point = [&] {
        if (++points == crash_at) _exit(2);
      };
      run.runner.at_crash_point = crash_point;
      run.listener.at_crash_point = crash_point;
      const auto result = run.run();
      status = result && result->end == LoopEnd::budget ? 0 : 1;
    } catch (...) {
    }
    _exit(status);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
    throw std::runtime_error("the child process was lost");
  }
  if (WEXITSTATUS(status) == 1) throw std::runtime_error("the run failed");
  return WEXITSTATUS(status) == 0;
}

struct Uninterrupted {
  std::set<Configuration> configurations;
  std::size_t trials = 0;
};

void expect_sound(const std::filesystem::path& folder, const Json& document,
                  const Uninterrupted& expected, int crash_at) {
  SimulatedRun reader(folder, document, train, 1e6);
  const auto trials = reader.trials();
  EXPECT_EQ(trials.size(), expected.trials) << "crash point " << crash_at;
  EXPECT_EQ(searched(trials), expected.configurations) << "crash point " << crash_at;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].number, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(trials[i].status, TrialStatus::completed) << "crash point " << crash_at;
  }
}

Json small_document() {
  Json document = study_document();
  document["budget"]["trials"] = 4;
  document["measure"]["confirm_pairs"] = 1;
  document["measure"]["target_half_width"] = 0.1;
  document["measure"]["min_window"] = 0.1;
  return document;
}

Uninterrupted run_uninterrupted(const Json& document, int capacity, int& crash_points) {
  DatabaseFolder folder;
  SimulatedRun run(folder.path(), document, train, 0.0, capacity);
  crash_points = 0;
  run.runner.at_crash_point = [&] { ++crash_points; };
  run.listener.at_crash_point = [&] { ++crash_points; };
  if (!run.run()) throw std::runtime_error("the run failed");
  return {searched(run.trials()), run.trials().size()};
}

class CrashTest : public ::testing::TestWithParam<int> {};

TEST_P(CrashTest, OneCrashAnywhereLosesNothing) {
  const int capacity = GetParam();
  const Json document = small_document();
  int crash_points = 0;
  const Uninterrupted expected = run_uninterrupted(document, capacity, crash_points);
  ASSERT_GT(crash_points, 40);
  for (int crash_at = 1; crash_at <= crash_points; ++crash_at) {
    DatabaseFolder folder;
    ASSERT_FALSE(run_in_child(folder.path(), document, crash_at, 0.0, capacity)) << crash_at;
    ASSERT_TRUE(run_in_child(folder.path(), document, 0, 1000.0, capacity)) << crash_at;
    expect_sound(folder.path(), document, expected, crash_at);
    if (HasFailure()) return;
  }
}

TEST_P(CrashTest, RepeatedCrashesDoNotPreventTheEnd) {
  const int capacity = GetParam();
  const Json document = small_document();
  int crash_points = 0;
  const Uninterrupted expected = run_uninterrupted(document, capacity, crash_points);
  // The crash points are so far apart that each run completes at least one trial.
  DatabaseFolder folder;
  const int crash_at = crash_points / 2;
  int runs = 0;
  while (!run_in_child(folder.path(), document, crash_at, 1000.0 * runs, capacity)) {
    ASSERT_LT(++runs, 50);
  }
  EXPECT_GE(runs, 2);
  expect_sound(folder.path(), document, expected, crash_at);
}

INSTANTIATE_TEST_SUITE_P(Capacities, CrashTest, ::testing::Values(1, 3));

}  // namespace
}  // namespace steptune::simulation
