// SPDX-License-Identifier: Apache-2.0
// Tests trials that fail in every possible way, guards and budgets.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/simulation/simulated_study.hpp"
#include "trial_runner/machine_holder.hpp"

namespace steptune::simulation {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FaultTest : public ::testing::Test {
 protected:
  DatabaseFolder folder_;
  Json document_ = study_document();

  LoopResult must_run(SimulatedRun& run) {
    auto result = run.run();
    if (!result) throw std::runtime_error(result.error().text());
    return *std::move(result);
  }
};

double workers_of(const TrialSpec& spec) {
  return to_number(*spec.configuration.find("workers"));
}
double batch_of(const TrialSpec& spec) {
  return to_number(*spec.configuration.find("batch_size"));
}

TrialScript crash(std::string detail = "exit status 1: cannot open data") {
  TrialScript script;
  script.steps = 0;
  script.ends_as = OutcomeKind::failed;
  script.detail = std::move(detail);
  return script;
}

TEST_F(FaultTest, AFailingBaselineEndsTheStudyAtOnceWithItsLog) {
  SimulatedRun run(folder_.path(), document_, [](const TrialSpec&) { return crash(); });
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.end, LoopEnd::too_many_failures);
  EXPECT_THAT(result.reason, HasSubstr("cannot open data"));
  EXPECT_FALSE(result.recommendation);
  EXPECT_EQ(run.runner.started().size(), 1U);
  EXPECT_EQ(run.record().status, StudyStatus::interrupted);
}

TEST_F(FaultTest, AfterAFailedBaselineTheNextRunTriesAnother) {
  {
    SimulatedRun run(folder_.path(), document_, [](const TrialSpec&) { return crash(); });
    must_run(run);
  }
  SimulatedRun run(folder_.path(), document_, train, 1000.0);
  EXPECT_EQ(must_run(run).end, LoopEnd::budget);
  const auto trials = run.trials();
  EXPECT_EQ(trials[0].status, TrialStatus::failed);
  EXPECT_EQ(trials[1].purpose, TrialPurpose::baseline);
  EXPECT_EQ(trials[1].status, TrialStatus::completed);
}

TEST_F(FaultTest, TooManyFailuresInARowEndTheStudyWithTheLastLog) {
  const auto script = [](const TrialSpec& spec) {
    return spec.key.trial > 3 ? crash("exit status 7: trial " + std::to_string(spec.key.trial))
                              : train(spec);
  };
  SimulatedRun run(folder_.path(), document_, script);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.end, LoopEnd::too_many_failures);
  EXPECT_THAT(result.reason, HasSubstr("5 trials in a row failed"));
  EXPECT_THAT(result.reason, HasSubstr("trial 8"));
  EXPECT_EQ(run.trials().size(), 8U);
  EXPECT_TRUE(result.recommendation) << "the trials before the failure still give a recommendation";
}

TEST_F(FaultTest, SingleFailuresAreRecordedAndTheStudyContinues) {
  document_["budget"]["trials"] = 100;
  const auto script = [](const TrialSpec& spec) {
    if (workers_of(spec) == 3 && batch_of(spec) < 64) return crash();
    if (batch_of(spec) == 256) {
      TrialScript result = train(spec);
      result.steps = 2;
      result.ends_as = OutcomeKind::out_of_memory;
      return result;
    }
    return train(spec);
  };
  SimulatedRun run(folder_.path(), document_, script);
  EXPECT_EQ(must_run(run).end, LoopEnd::exhausted);
  std::map<TrialStatus, int> counts;
  std::set<Configuration> tried;
  for (const auto& trial : run.trials()) {
    if (!is_compared(trial.purpose)) continue;
    ++counts[trial.status];
    EXPECT_TRUE(tried.insert(trial.configuration).second) << "never proposed again";
    if (!is_ranked(trial.status)) {
      EXPECT_THAT(trial.objectives, IsEmpty());
      EXPECT_FALSE(trial.failure.empty());
    }
  }
  EXPECT_EQ(counts[TrialStatus::out_of_memory], 4);
  EXPECT_EQ(counts[TrialStatus::failed], 2);
  EXPECT_EQ(counts[TrialStatus::completed], 14);
}

TEST_F(FaultTest, ATrialWithoutReportsIsNeverRanked) {
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    if (spec.key.trial == 2) {
      result.silent = true;
      result.steps = 1;
    }
    if (spec.key.trial == 3) result.silent = true;
    if (spec.key.trial == 4) result.steps = 3;
    return result;
  };
  document_["limits"] = Json::parse(R"({"idle": "100s"})");
  SimulatedRun run(folder_.path(), document_, script);
  const LoopResult result = must_run(run);
  const auto trials = run.trials();
  EXPECT_EQ(trials[1].status, TrialStatus::failed);
  EXPECT_THAT(trials[1].failure, HasSubstr("ended before it could be measured"));
  EXPECT_EQ(trials[2].status, TrialStatus::failed);
  EXPECT_THAT(trials[2].failure, HasSubstr("no progress reports"));
  EXPECT_EQ(trials[3].status, TrialStatus::failed);
  EXPECT_THAT(result.recommendation->incumbent_trial, ::testing::Not(::testing::AnyOf(2, 3, 4)));
}

TEST_F(FaultTest, AProgramThatIgnoresItsEndDoesNotEndTheStudy) {
  // The runner finally kills the trial. Its measurement counts.
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    result.stops_as = OutcomeKind::failed;
    result.stopping_s = 10.0;
    return result;
  };
  SimulatedRun run(folder_.path(), document_, script);
  EXPECT_EQ(must_run(run).end, LoopEnd::budget);
  for (const auto& trial : run.trials())
    EXPECT_EQ(trial.status, TrialStatus::completed);
}

TEST_F(FaultTest, ALostTrialIsLaunchedAgainButNotForEver) {
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    const bool lost = spec.key.trial == 2 ? spec.key.attempt == 1 : spec.key.trial == 3;
    if (lost) {
      result.steps = 2;
      result.ends_as = OutcomeKind::lost;
    }
    return result;
  };
  SimulatedRun run(folder_.path(), document_, script);
  EXPECT_EQ(must_run(run).end, LoopEnd::budget);
  const auto trials = run.trials();
  EXPECT_EQ(trials[1].status, TrialStatus::completed);
  EXPECT_EQ(trials[1].attempt, 2);
  EXPECT_EQ(trials[2].status, TrialStatus::failed);
  EXPECT_EQ(trials[2].attempt, 3);
  EXPECT_GT(trials[1].spent_s, 4.0) << "both attempts are paid for";
}

TEST_F(FaultTest, GuardsKeepFastButBadConfigurationsFromWinning) {
  document_["guards"] =
      Json::parse(R"([{"metric": "loss", "after_samples": 640, "max_ratio_to_baseline": 1.02}])");
  document_["budget"]["trials"] = 20;
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    result.metrics["loss"] = batch_of(spec) > 64 ? 2.2 : 2.0;
    return result;
  };
  SimulatedRun run(folder_.path(), document_, script);
  const LoopResult result = must_run(run);
  ASSERT_TRUE(result.recommendation);
  EXPECT_LE(to_number(*result.recommendation->configuration.find("batch_size")), 64);
  for (const auto& trial : run.trials()) {
    const bool large = to_number(*trial.configuration.find("batch_size")) > 64;
    EXPECT_EQ(trial.status, large ? TrialStatus::infeasible : TrialStatus::completed);
    if (large) {
      EXPECT_THAT(trial.failure, HasSubstr("loss@640"));
      EXPECT_LT(trial.measurement->total_samples, 2000) << "stopped as soon as it was known";
    } else {
      const double best = result.recommendation->incumbent_objectives[0];
      EXPECT_TRUE(trial.measurement->total_samples >= 640 || trial.objectives[0] > 1.1 * best)
          << "run until it could be judged, unless it is slower anyway";
    }
  }
}

/// Makes the configuration with the largest batch and most workers ten times as fast, but lets it
/// diverge.
TrialScript fast_but_diverging(const TrialSpec& spec) {
  TrialScript result = train(spec);
  const bool diverges = batch_of(spec) == 256 && workers_of(spec) == 3;
  if (diverges) result.seconds_per_step *= 0.1;
  result.metrics["loss"] = diverges ? 9.0 : 2.0;
  return result;
}

TEST_F(FaultTest, ADivergingTrialStopsNoSoundOneHoweverFast) {
  document_["guards"] =
      Json::parse(R"([{"metric": "loss", "after_samples": 12800, "max_ratio_to_baseline": 1.02}])");
  document_["try"] = Json::parse(R"([{"batch_size": 256, "workers": 3}])");
  document_["search"]["scheduler"] = "racing";
  SimulatedRun run(folder_.path(), document_, fast_but_diverging);
  must_run(run);
  const auto trials = run.trials();
  ASSERT_EQ(trials[1].status, TrialStatus::infeasible);
  for (const auto& trial : trials)
    EXPECT_THAT(trial.failure, ::testing::Not(HasSubstr("trial 2 "))) << trial.number;
}

TEST_F(FaultTest, ATrialThatIsMerelySlowIsSlowAndNotFailed) {
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    if (spec.key.trial == 3) result.seconds_per_step = 25.0;
    return result;
  };
  SimulatedRun run(folder_.path(), document_, script);
  must_run(run);
  const TrialRecord slow = run.trials()[2];
  EXPECT_EQ(slow.status, TrialStatus::stopped_early);
  EXPECT_THAT(slow.failure, HasSubstr("samples in all): too few reports"));
  ASSERT_EQ(slow.objectives.size(), 1U);
  const double seconds_per_sample = 25.0 / to_number(*slow.configuration.find("batch_size"));
  EXPECT_NEAR(slow.objectives[0], 1e6 * seconds_per_sample, 0.2e6 * seconds_per_sample);
}

TEST_F(FaultTest, AnUnsteadyBaselineHasAWideInterval) {
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    if (spec.key.trial == 1) result.slower_by_step = 0.01;
    return result;
  };
  SimulatedRun run(folder_.path(), document_, script);
  EXPECT_EQ(must_run(run).end, LoopEnd::budget);
  const TrialRecord baseline = run.trials()[0];
  EXPECT_EQ(baseline.status, TrialStatus::completed);
  EXPECT_EQ(baseline.measurement->status, MeasurementStatus::not_steady);
  EXPECT_GT(baseline.standard_errors[0], 0.05 * baseline.objectives[0]);
  EXPECT_THAT(run.listener.warnings, Contains(HasSubstr("no steady state")));
}

TEST_F(FaultTest, AFinalistWithHangingFreshRunsIsNotClaimed) {
  document_["budget"]["trials"] = 3;
  document_["try"] = Json::parse(R"([{"batch_size": 256, "workers": 3}])");
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    const bool is_fast = batch_of(spec) == 256 && workers_of(spec) == 3;
    result.seconds_per_step = result.samples_per_step * (is_fast ? 0.0015 : 0.003);
    // The trial hangs before it is measured as precisely as requested.
    if (is_fast && spec.key.trial > 3) result.hangs_after = 25;
    return result;
  };
  SimulatedRun run(folder_.path(), document_, script);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.recommendation->claim, Claim::nothing_faster);
  ASSERT_FALSE(result.recommendation->finalists.empty());
  EXPECT_EQ(result.recommendation->finalists[0].verdict, Verdict::hidden);
  EXPECT_THAT(texts_of(result.recommendation->notes),
              Contains(HasSubstr("reported no step for most of its time: it hangs")));
  for (const TrialRecord& trial : run.trials()) {
    const bool hangs = trial.purpose == TrialPurpose::confirm_incumbent &&
                       trial.configuration == run.trials()[1].configuration;
    if (!hangs) continue;
    ASSERT_TRUE(trial.measurement);
    EXPECT_THAT(trial.measurement->remark, HasSubstr("no step was reported in its last"));
  }
}

TEST_F(FaultTest, AHangingTrialFailsAndTheStudyContinues) {
  document_["env"] = {{"NCCL_BUFFSIZE", "{batch_size}{workers}"}};
  document_["budget"] = Json{{"time", 300.0}};
  document_["measure"]["max_trial"] = "600s";
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    if (spec.key.trial == 2) result.hangs_after = 5;
    if (spec.key.trial == 3) result.hangs_after = 0;
    return result;
  };
  SimulatedRun run(folder_.path(), document_, script);
  const LoopResult result = must_run(run);
  const auto trials = run.trials();
  ASSERT_GT(trials.size(), 4U);
  EXPECT_EQ(trials[1].status, TrialStatus::failed);
  EXPECT_THAT(trials[1].failure, HasSubstr("hung: no step reported for"));
  EXPECT_THAT(trials[1].failure, HasSubstr("it set NCCL_BUFFSIZE="));
  EXPECT_EQ(trials[2].status, TrialStatus::infeasible);
  EXPECT_THAT(trials[2].failure, HasSubstr("no step reported within"));
  EXPECT_EQ(result.recommendation->claim, Claim::faster) << result.reason;
  EXPECT_LT(run.record().elapsed_s, 330.0);
}

TEST_F(FaultTest, AGuardViolatedByAllLeavesNoWinner) {
  document_["guards"] = Json::parse(R"([{"metric": "loss", "max": 1.0}])");
  const auto script = [](const TrialSpec& spec) {
    TrialScript result = train(spec);
    result.metrics["loss"] = 2.0;
    return result;
  };
  SimulatedRun run(folder_.path(), document_, script);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.end, LoopEnd::no_feasible_trial);
  EXPECT_FALSE(result.recommendation);
  EXPECT_THAT(run.listener.warnings, Contains(HasSubstr("baseline itself violates")));
  EXPECT_EQ(run.record().status, StudyStatus::finished);
}

TEST_F(FaultTest, AMissedDeadlineNamesTheNearestTrial) {
  document_["planned_run"]["deadline"] = 60;
  SimulatedRun run(folder_.path(), document_, train);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.end, LoopEnd::no_feasible_trial);
  const auto trials = run.trials();
  const auto fastest = std::ranges::min_element(trials, {}, [](const TrialRecord& trial) {
    return trial.objectives.empty() ? 1e300 : trial.objectives[0];
  });
  EXPECT_THAT(result.reason,
              HasSubstr(fmt::format("no trial respects all limits; trial {} comes nearest: the "
                                    "planned run takes",
                                    fastest->number)));
  EXPECT_THAT(result.reason, HasSubstr("its deadline is 1 min"));
}

TEST_F(FaultTest, TheTimeBudgetIsKeptWithTheConfirmation) {
  document_["budget"] = Json::parse(R"({"trials": 1000, "time": "60s"})");
  document_["measure"]["target_half_width"] = 0.004;
  SimulatedRun run(folder_.path(), document_, train);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.end, LoopEnd::budget);
  EXPECT_THAT(result.reason, HasSubstr("1 min"));
  EXPECT_GE(result.recommendation->speed_up.pairs, 1);
  EXPECT_GT(run.record().elapsed_s, 30.0);
  EXPECT_LT(run.record().elapsed_s, 90.0);
}

TEST_F(FaultTest, TheCostBudgetIsKeptWithSeveralTrialsAtATime) {
  // 3.6 USD per hour: a tenth of a cent per second.
  document_["budget"] = Json::parse(R"({"trials": 1000, "cost": 0.06})");
  document_["measure"]["target_half_width"] = 0.004;
  SimulatedRun run(folder_.path(), document_, train, 0.0, 3);
  const LoopResult result = must_run(run);
  EXPECT_EQ(result.end, LoopEnd::budget);
  EXPECT_THAT(result.reason, HasSubstr("$0.06"));
  EXPECT_GT(result.recommendation->tuning_usd, 0.03);
  EXPECT_LT(result.recommendation->tuning_usd, 0.10);
}

/// Starts no trial.
class RefusingRunner : public Runner {
 public:
  [[nodiscard]] Result<void> begin_study(const std::string&, const std::string&) override {
    return {};
  }
  [[nodiscard]] int capacity() const override { return 1; }
  [[nodiscard]] Result<void> start(const TrialSpec&) override {
    return fail(ErrorKind::runner, "no permission");
  }
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double) override {
    return std::vector<TrialEvent>{};
  }
  void stop(TrialKey) override {}
  void kill_all() override {}
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan>) override {
    return std::vector<TrialKey>{};
  }
};

TEST_F(FaultTest, ARunnerThatRefusesEndsTheRunWithItsError) {
  RefusingRunner refusing;
  SimulatedRun run(folder_.path(), document_, train);
  const auto result = run.run_on(refusing);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no permission");
  EXPECT_EQ(run.trials()[0].status, TrialStatus::interrupted) << "to be launched again";
}

TEST_F(FaultTest, MachinesThatARunReleasesAfterAnErrorAreInItsCost) {
  class Renting final : public RefusingRunner, public MachineHolder {
   public:
    [[nodiscard]] MachineHolder& machine_holder() override { return *this; }
    [[nodiscard]] int backlog() const override { return 1; }
    [[nodiscard]] int open_places() const override { return 1; }
    [[nodiscard]] int trials_in_turn() const override { return 1; }
    [[nodiscard]] double expected_start_s(const Resources&) const override { return 0.0; }
    [[nodiscard]] std::vector<TrialKey> trials_without_machine() const override { return {}; }
    void expect_at_most(std::int64_t) override {}
    [[nodiscard]] Result<void> release(double) override {
      unused_.push_back({"machine", 0.0, 10.0, 0.5});
      return {};
    }
    [[nodiscard]] Result<std::string> detach() override { return std::string(); }
    [[nodiscard]] std::vector<UnusedTime> take_unused() override {
      return std::exchange(unused_, {});
    }
    [[nodiscard]] std::vector<Notice> take_notices() override { return {}; }

   private:
    std::vector<UnusedTime> unused_;
  } renting;
  SimulatedRun run(folder_.path(), document_, train);
  ASSERT_FALSE(run.run_on(renting));
  EXPECT_EQ(run.record().overhead_usd, 0.5);
}

TEST_F(FaultTest, AFullDiskEndsTheRunAfterOneMinute) {
  const auto previous = signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  constexpr int k_trials_at_a_time = 4;
  SimulatedRun run(folder_.path(), document_, train, 0.0, k_trials_at_a_time);
  double full_from_s = -1.0;
  run.runner.at_wait = [&] {
    if (full_from_s >= 0.0 || run.listener.ended.size() < 3) return;
    full_from_s = run.clock.now_s();
    rlimit limit = before;
    limit.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  const auto result = run.run();
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, previous);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::store);
  EXPECT_EQ(run.runner.running(), 0U);
  EXPECT_LT(run.clock.now_s() - full_from_s, 85.0) << "no second minute, no wait for lost ends";
}

TEST_F(FaultTest, AnUnreadableFirstTrialEndsTheStudy) {
  SimulatedRun run(folder_.path(), document_, [](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.silent = true;
    return script;
  });
  LoopParts parts{run.study, *run.searcher, *run.scheduler,      run.runner,    run.history,
                  run.clock, run.listener,  run.folder / "logs", run.interrupts};
  parts.why_unread = [](const std::filesystem::path& /*log*/, double run_s) {
    return run_s >= 5.0 ? std::optional<std::string>("its lines are foreign") : std::nullopt;
  };
  const auto result = run_loop(std::move(parts));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->end, LoopEnd::too_many_failures);
  EXPECT_THAT(result->reason, HasSubstr("could not be measured (failed): its lines are foreign"));
  EXPECT_EQ(run.trials().at(0).failure, "its lines are foreign");
  EXPECT_LT(run.clock.now_s(), 10.0);
}

TEST_F(FaultTest, AFullDiskDelaysButLosesNothing) {
  const auto previous = signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  SimulatedRun run(folder_.path(), document_, train);
  double full_until_s = -1.0;
  run.runner.at_wait = [&] {
    rlimit limit = before;
    const bool begins = full_until_s < 0.0 && run.listener.ended.size() == 3;
    if (begins) full_until_s = run.clock.now_s() + 20.0;
    const bool full = run.clock.now_s() < full_until_s;
    limit.rlim_cur = full ? 4096 : before.rlim_cur;
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  const auto result = run.run();
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, previous);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->end, LoopEnd::budget);
  EXPECT_THAT(run.listener.warnings, Contains(HasSubstr("retrying for a minute")));
  const auto trials = run.trials();
  EXPECT_EQ(trials.size(), 16U);
  for (const auto& trial : trials)
    EXPECT_EQ(trial.attempt, 1) << trial.number;
}

}  // namespace
}  // namespace steptune::simulation
