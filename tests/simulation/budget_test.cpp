// SPDX-License-Identifier: Apache-2.0
// Tests that a study uses its time budget while further trials are useful, and ends afterwards.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulated_study.hpp"

namespace steptune::simulation {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A study of two hundred configurations and ten minutes.
class TimeBudget : public ::testing::Test {
 protected:
  TimeBudget() {
    document_["parameters"]["workers"]["high"] = 39;
    document_["budget"] = Json{{"time", 600.0}};
  }

  LoopResult result_of(const ScriptedRunner::Script& script) {
    const DatabaseFolder folder;
    SimulatedRun run(folder.path(), document_, script);
    LoopResult result = must(run.run());
    used_ = run.record().elapsed_s / document_["budget"]["time"].get<double>();
    trials_ = run.trials();
    return result;
  }
  [[nodiscard]] std::size_t searched() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        trials_, [](const TrialRecord& trial) { return is_compared(trial.purpose); }));
  }
  /// True if a trial of the search came after a confirming run.
  [[nodiscard]] bool search_continued_after_confirming() const {
    const auto confirming = std::ranges::find_if(
        trials_, [](const TrialRecord& trial) { return is_confirmation(trial.purpose); });
    return std::any_of(confirming, trials_.end(),
                       [](const TrialRecord& trial) { return is_compared(trial.purpose); });
  }

  Json document_ = study_document();
  std::vector<TrialRecord> trials_;
  double used_ = 0.0;  ///< used share of the budget
};

TEST_F(TimeBudget, IsUsedWhateverTheNoise) {
  for (const double noise : {0.01, 0.12, 0.3}) {
    const LoopResult result = result_of([noise](const TrialSpec& spec) {
      TrialScript script = train(spec);
      script.noise = noise;
      return script;
    });
    EXPECT_EQ(result.end, LoopEnd::budget) << noise;
    EXPECT_GT(used_, 0.85) << noise << ": " << searched() << " trials";
    EXPECT_LT(used_, 1.1) << noise;
  }
}

TEST_F(TimeBudget, SufficesForANoisyBaselineAndOneOtherTrial) {
  document_["parameters"]["workers"]["high"] = 1;
  document_["parameters"].erase("batch_size");
  document_["command"] = Json::array({"train", "{workers}"});
  document_["baseline"] = Json{{"workers", 0}};
  document_["planned_run"]["batch_size"] = 32;
  document_["budget"]["time"] = 300.0;
  document_["measure"]["max_trial"] = "120s";
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script;
    script.seconds_per_step = 0.1 / (1.0 + to_number(*spec.configuration.find("workers")));
    script.noise = 0.5;
    return script;
  });
  EXPECT_EQ(searched(), 2U);
  EXPECT_EQ(result.recommendation->claim, Claim::faster) << result.reason;
  EXPECT_GT(used_, 0.85);
  EXPECT_LT(used_, 1.1);
}

TEST_F(TimeBudget, TimeReservedForAnUnneededConfirmationIsUsedForTheSearch) {
  // The baseline is the best, and two fifths of the time are reserved for a confirmation.
  document_["baseline"] = Json::parse(R"({"batch_size": 256, "workers": 39})");
  document_["measure"]["confirm_pairs"] = 6;
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.startup_s = 20.0;
    return script;
  });
  EXPECT_EQ(result.end, LoopEnd::nothing_faster);
  EXPECT_GT(used_, 0.7) << searched() << " trials";
  EXPECT_LT(used_, 1.1);
}

TEST_F(TimeBudget, ATooShortTimeIsReported) {
  document_["budget"]["time"] = 60.0;
  const auto starts_in = [](double startup_s) {
    return [startup_s](const TrialSpec& spec) {
      TrialScript script = train(spec);
      script.startup_s = startup_s;
      return script;
    };
  };
  EXPECT_EQ(result_of(starts_in(40.0)).reason,
            "1 min of tuning time; that was enough only for the baseline, and the 16.9 s left are "
            "too short for another trial and its confirmation: "
            "run it again with a longer --time to continue where it stopped");
  document_["baseline"] = Json::parse(R"({"batch_size": 256, "workers": 39})");
  const LoopResult compared = result_of(starts_in(5.0));
  EXPECT_GT(searched(), 1U);
  EXPECT_THAT(compared.reason, HasSubstr("nothing was shown to be faster than the baseline"));
  EXPECT_LT(used_, 0.8);
  EXPECT_THAT(compared.reason,
              HasSubstr(" left are too short for another trial and its confirmation"));
}

TEST_F(TimeBudget, TimeLeftByTheConfirmationIsUsedForTheSearch) {
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.noise = 0.002;
    return script;
  });
  EXPECT_EQ(result.recommendation->claim, Claim::faster);
  EXPECT_TRUE(search_continued_after_confirming());
}

TEST_F(TimeBudget, EndsEarlyIfFreshBaselineRunsFail) {
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.noise = 0.002;
    const bool is_baseline = to_number(*spec.configuration.find("batch_size")) == 32 &&
                             to_number(*spec.configuration.find("workers")) == 0;
    if (is_baseline && spec.key.trial > 1) {
      script.steps = 0;
      script.ends_as = OutcomeKind::failed;
    }
    return script;
  });
  EXPECT_EQ(result.recommendation->claim, Claim::unconfirmed);
  EXPECT_THAT(texts_of(result.recommendation->notes),
              ::testing::Contains(HasSubstr("fresh runs of the baseline failed")));
  EXPECT_FALSE(search_continued_after_confirming()) << "nothing that is found can be confirmed";
}

TEST_F(TimeBudget, EndsEarlyIfEverythingWasTried) {
  document_["parameters"]["workers"]["high"] = 1;
  document_["parameters"].erase("batch_size");
  document_["command"] = Json::array({"train", "{workers}"});
  document_["baseline"] = Json{{"workers", 0}};
  document_["planned_run"]["batch_size"] = 32;
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script;
    script.seconds_per_step = 0.1 / (1.0 + to_number(*spec.configuration.find("workers")));
    return script;
  });
  EXPECT_EQ(result.end, LoopEnd::exhausted);
  EXPECT_FALSE(result.reason.empty());
  EXPECT_EQ(result.recommendation->claim, Claim::faster);
  EXPECT_LT(used_, 0.5);
}

/// Makes trials up to number 10 look faster than the baseline. Later trials, fresh runs included,
/// are far slower.
ScriptedRunner::Script faster_at_first(double startup_s) {
  return [startup_s](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.startup_s = startup_s;
    script.seconds_per_step = script.samples_per_step * 0.003;
    const bool is_baseline = to_number(*spec.configuration.find("batch_size")) == 32 &&
                             to_number(*spec.configuration.find("workers")) == 0;
    if (!is_baseline) script.seconds_per_step *= spec.key.trial <= 10 ? 0.9 : 1.5;
    return script;
  };
}

TEST_F(TimeBudget, EndsEarlyIfNoFurtherClaimIsPossible) {
  document_["measure"]["confirm_pairs"] = 9;
  document_["budget"]["time"] = 1200.0;
  const LoopResult result = result_of(faster_at_first(20.0));
  EXPECT_EQ(result.end, LoopEnd::nothing_faster);
  ASSERT_EQ(result.recommendation->finalists.size(), 3U);
  EXPECT_THAT(result.reason,
              HasSubstr("; fresh runs did not confirm 3 configurations, and no more are tried"));
  EXPECT_LT(used_, 0.95);
}

TEST_F(TimeBudget, IsNotCalledTooShortIfNoFurtherClaimIsPossible) {
  document_["measure"]["confirm_pairs"] = 20;
  document_["budget"]["time"] = 1200.0;
  const LoopResult result = result_of(faster_at_first(8.0));
  EXPECT_LT(used_, 0.8);
  EXPECT_THAT(result.reason, HasSubstr("3 configurations, and no more are tried"));
  EXPECT_THAT(result.reason, Not(HasSubstr("too short for another trial")));
}

/// A program that ends by itself after a minute, before a steady state. The baseline is slower.
TrialScript ends_unsteady(const TrialSpec& spec) {
  TrialScript script = train(spec);
  const bool is_baseline = to_number(*spec.configuration.find("batch_size")) == 32 &&
                           to_number(*spec.configuration.find("workers")) == 0;
  script.seconds_per_step = is_baseline ? 2.0 : 1.4;
  script.samples_per_step = 32.0;
  script.noise = 0.02;
  script.slower_by_step = 0.05;
  script.steps = 24;
  return script;
}

TEST_F(TimeBudget, IsNotOverrunByProgramsThatRunToTheirEnd) {
  document_["measure"]["max_trial"] = "120s";
  for (const double time_s : {300.0, 360.0}) {
    document_["budget"]["time"] = time_s;
    static_cast<void>(result_of(ends_unsteady));
    EXPECT_LT(used_, 1.1) << time_s;
  }
}

TEST_F(TimeBudget, LeavesTimeForThreeUnsteadyPairs) {
  document_["measure"]["max_trial"] = "120s";
  document_["budget"]["time"] = 900.0;
  const LoopResult result = result_of(ends_unsteady);
  EXPECT_EQ(result.recommendation->claim, Claim::faster) << result.reason;
  EXPECT_LT(used_, 1.1);
}

/// A program that slows down all the time, after a start of `startup_s`.
ScriptedRunner::Script never_steady(double startup_s) {
  return [startup_s](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.startup_s = startup_s;
    script.slower_by_step = 0.002;
    return script;
  };
}

TEST_F(TimeBudget, IsNotSpentOnABaselineWithoutASteadyState) {
  document_["measure"]["max_trial"] = "600s";
  document_["budget"]["time"] = 120.0;
  const LoopResult result = result_of(never_steady(5.0));
  EXPECT_LT(used_, 1.05);
  ASSERT_GT(trials_.size(), 2U);
  EXPECT_EQ(trials_[0].status, TrialStatus::completed) << "its measurement so far counts";
  EXPECT_LT(trials_[0].spent_s, 0.55 * 120.0) << "time is left for trials to compare with it";
  EXPECT_GT(searched(), 1U);
  EXPECT_THAT(result.reason, Not(HasSubstr("enough only for the baseline")));
}

TEST_F(TimeBudget, IsNotOverrunByASilentBaseline) {
  document_["budget"]["time"] = 120.0;
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.silent = true;
    return script;
  });
  EXPECT_LT(used_, 1.05);
  EXPECT_EQ(result.end, LoopEnd::too_many_failures);
  EXPECT_THAT(result.reason, HasSubstr("the tuning time (2 min) was over"));
}

TEST_F(TimeBudget, IsNotOverrunByTrialsWithoutASteadyState) {
  document_["measure"]["max_trial"] = "600s";
  for (const double time_s : {120.0, 300.0}) {
    document_["budget"]["time"] = time_s;
    // The baseline is steady, and is measured within seconds.
    static_cast<void>(result_of([](const TrialSpec& spec) {
      const bool is_baseline = to_number(*spec.configuration.find("batch_size")) == 32 &&
                               to_number(*spec.configuration.find("workers")) == 0;
      return is_baseline ? train(spec) : never_steady(5.0)(spec);
    }));
    EXPECT_GT(searched(), 1U) << time_s;
    EXPECT_LT(used_, 1.25) << time_s << ": overrun at most by the first pair of fresh runs";
  }
}

/// Reduces the study to two configurations that differ in the number of workers.
void have_two_configurations(Json& document) {
  document["parameters"].erase("batch_size");
  document["parameters"]["workers"]["high"] = 1;
  document["command"] = Json::array({"train", "{workers}"});
  document["baseline"] = Json{{"workers", 0}};
  document["planned_run"]["batch_size"] = 32;
}

TEST_F(TimeBudget, ATrialCutOffEarlyRunsAgainWithMoreTime) {
  have_two_configurations(document_);
  document_["budget"] = Json{{"time", 120.0}, {"trials", 2}};
  document_["measure"]["confirm_pairs"] = 0;
  const auto hardly_tells = [](const TrialSpec& spec) {
    TrialScript script;
    script.startup_s = 1.0;
    if (spec.key.trial == 2 && spec.key.attempt == 1) script.seconds_per_step = 20.0;
    return script;
  };
  document_["measure"]["max_trial"] = "300s";
  const DatabaseFolder folder;
  {
    SimulatedRun run(folder.path(), document_, hardly_tells);
    const LoopResult result = must(run.run());
    EXPECT_LT(run.record().elapsed_s, 126.0);
    ASSERT_EQ(run.trials().size(), 2U);
    EXPECT_EQ(run.trials()[1].status, TrialStatus::interrupted) << run.trials()[1].failure;
    EXPECT_THAT(result.reason, HasSubstr("trial 2 was cut off"));
  }
  {
    SimulatedRun again(folder.path(), document_, hardly_tells, 1000.0);
    static_cast<void>(must(again.run()));
    EXPECT_TRUE(again.runner.started().empty()) << "there is no more time than before";
  }
  document_["budget"]["time"] = 600.0;
  SimulatedRun run(folder.path(), document_, hardly_tells, 2000.0);
  static_cast<void>(must(run.run()));
  ASSERT_EQ(run.trials().size(), 2U);
  EXPECT_EQ(run.trials()[1].status, TrialStatus::completed);
}

TEST_F(TimeBudget, ATrialThatStartsTooSlowlyIsRetriedWithMoreTime) {
  have_two_configurations(document_);
  document_["budget"] = Json{{"time", 120.0}};
  const auto compiles = [](const TrialSpec& spec) {
    const bool is_compiled = to_number(*spec.configuration.find("workers")) == 1;
    TrialScript script;
    script.startup_s = is_compiled ? 60.0 : 1.0;
    script.seconds_per_step = is_compiled ? 0.05 : 0.1;
    return script;
  };
  const DatabaseFolder folder;
  for (int times = 0; times < 2; ++times) {
    SimulatedRun run(folder.path(), document_, compiles, 1000.0 * times);
    const LoopResult result = must(run.run());
    ASSERT_EQ(run.trials().size(), 2U) << "the same time budget as before";
    EXPECT_EQ(run.trials()[1].status, TrialStatus::infeasible);
    EXPECT_THAT(run.trials()[1].failure, HasSubstr("no step reported within"));
    EXPECT_THAT(result.reason, HasSubstr("; trial 2 was ended before its first step; a longer "
                                         "tuning time would wait for it"));
  }
  document_["budget"]["time"] = 900.0;
  SimulatedRun run(folder.path(), document_, compiles, 2000.0);
  const LoopResult result = must(run.run());
  EXPECT_EQ(result.recommendation->claim, Claim::faster) << result.reason;
  EXPECT_THAT(result.reason, Not(HasSubstr("first step"))) << "the tuner waited for the slow start";
}

TEST_F(TimeBudget, LetsTrialsReachAGuardBeyondTheirShare) {
  // The fastest configuration needs 24 s to reach the guard's samples, and a trial's share is 17 s.
  document_["measure"]["max_trial"] = "120s";
  document_["guards"] =
      Json::parse(R"([{"metric": "loss", "after_samples": 25000, "max_ratio_to_baseline": 1.02}])");
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.metrics["loss"] = 2.0;
    return script;
  });
  EXPECT_GT(searched(), 5U);
  for (const TrialRecord& trial : trials_)
    EXPECT_NE(trial.status, TrialStatus::infeasible) << trial.number << ": " << trial.failure;
  EXPECT_EQ(result.recommendation->claim, Claim::faster) << result.reason;
  EXPECT_LT(used_, 1.1);
}

TEST_F(TimeBudget, FreshRunsTooShortForAGuardExcludeNoFinalist) {
  have_two_configurations(document_);
  document_["budget"]["time"] = 150.0;
  document_["guards"] =
      Json::parse(R"([{"metric": "loss", "after_samples": 9000, "max_ratio_to_baseline": 1.02}])");
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script;
    script.metrics["loss"] = 2.0;
    if (to_number(*spec.configuration.find("workers")) == 1) script.seconds_per_step = 0.07;
    return script;
  });
  for (const TrialRecord& trial : trials_)
    EXPECT_EQ(trial.status, TrialStatus::completed) << trial.number << ": " << trial.failure;
  EXPECT_EQ(result.recommendation->claim, Claim::faster) << result.reason;
}

TEST_F(TimeBudget, IsNotSpentOnAFreshRunThatDoesNotStart) {
  have_two_configurations(document_);
  document_["budget"]["time"] = 300.0;
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script;
    const bool is_faster = to_number(*spec.configuration.find("workers")) == 1;
    if (is_faster) script.seconds_per_step = 0.05;
    if (is_faster && spec.key.trial > 2) script.hangs_after = 0;
    return script;
  });
  ASSERT_EQ(trials_.size(), 3U);
  EXPECT_EQ(trials_[2].attempt, 1) << "a second attempt would have even less time";
  EXPECT_EQ(trials_[2].status, TrialStatus::interrupted);
  EXPECT_THAT(result.reason, HasSubstr("trial 3 was cut off"));
  EXPECT_EQ(result.recommendation->claim, Claim::unconfirmed);
  EXPECT_LT(used_, 0.8);
}

/// Two configurations. The faster configuration starts slowly, and even more slowly in a fresh run.
ScriptedRunner::Script starts_slowly(double startup_s, double noise) {
  return [=](const TrialSpec& spec) {
    const bool is_faster = to_number(*spec.configuration.find("workers")) == 1;
    TrialScript script;
    script.noise = noise;
    if (is_faster) {
      script.startup_s = startup_s + (spec.key.trial == 2 ? 0.0 : 3.0);
      script.seconds_per_step = 0.05;
    }
    return script;
  };
}

TEST_F(TimeBudget, AStartMayTakeAThirdOfTheSearch) {
  have_two_configurations(document_);
  document_["budget"]["time"] = 300.0;
  static_cast<void>(result_of(starts_slowly(50.0, 0.05)));
  ASSERT_GT(trials_.size(), 1U);
  EXPECT_EQ(trials_[1].status, TrialStatus::completed) << trials_[1].failure;
  EXPECT_LT(used_, 1.1);
}

TEST_F(TimeBudget, CutsOffNoFreshRunThatStartsAsSlowlyAsItsTrialDid) {
  have_two_configurations(document_);
  document_["budget"]["time"] = 150.0;
  static_cast<void>(result_of(starts_slowly(28.0, 0.3)));
  ASSERT_GT(trials_.size(), 2U);
  for (const TrialRecord& trial : trials_) {
    EXPECT_EQ(trial.status, TrialStatus::completed) << trial.number << ": " << trial.failure;
    EXPECT_EQ(trial.attempt, 1) << trial.number;
  }
  EXPECT_LT(used_, 1.25) << "overrun at most by the first pair of fresh runs";
}

/// A machine that costs a tenth of a cent per second.
class MoneyOfThisMachine : public ::testing::Test {
 protected:
  Json document_ = study_document();
};

TEST_F(MoneyOfThisMachine, IsKeptLikeATimeBudget) {
  document_["parameters"]["workers"]["high"] = 39;
  for (const double startup_s : {2.0, 12.0}) {
    for (const double cost : {0.003, 0.01, 0.03, 0.05, 0.1, 0.3}) {
      document_["budget"] = Json{{"cost", cost}};
      const DatabaseFolder folder;
      SimulatedRun run(folder.path(), document_, [startup_s](const TrialSpec& spec) {
        TrialScript script = train(spec);
        script.startup_s = startup_s;
        script.noise = 0.3;
        return script;
      });
      const LoopResult result = must(run.run());
      const double first_pair = 2.0 * 0.001 * (startup_s + 5.0);
      const double spent = 0.001 * run.record().elapsed_s;
      EXPECT_LT(spent, 1.05 * cost + first_pair) << startup_s << ": " << cost;
      if (cost < 0.1 || startup_s > 5.0) continue;
      EXPECT_GT(spent, 0.85 * cost) << startup_s << ": " << cost;
      EXPECT_GT(run.trials().size(), 5U);
      EXPECT_EQ(result.search_end, LoopEnd::budget);
      EXPECT_EQ(result.recommendation->claim, Claim::faster) << result.reason;
      EXPECT_THAT(result.reason, ::testing::StartsWith(cost < 0.2 ? "$0.10" : "$0.30"));
    }
  }
}

TEST_F(MoneyOfThisMachine, MoneyForTheBaselineOnlyIsReported) {
  document_["budget"] = Json{{"cost", 0.03}};
  const auto slow = [](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.startup_s = 20.0;
    return script;
  };
  const DatabaseFolder folder;
  {
    SimulatedRun run(folder.path(), document_, slow);
    EXPECT_EQ(must(run.run()).reason,
              "$0.03; that was enough only for the baseline, and the "
              "6.9 s left are too short for another trial and its confirmation");
  }
  document_["budget"]["cost"] = 0.6;
  SimulatedRun run(folder.path(), document_, slow, 1000.0);
  EXPECT_EQ(must(run.run()).recommendation->claim, Claim::faster);
}

TEST_F(MoneyOfThisMachine, NeverExtendsATimeBudgetNorIsExtendedByOne) {
  for (const bool money_is_less : {true, false}) {
    document_["budget"] = Json{{"cost", money_is_less ? 0.05 : 0.5}, {"time", 150.0}};
    document_["parameters"]["workers"]["high"] = 39;
    const DatabaseFolder folder;
    SimulatedRun run(folder.path(), document_, train);
    const LoopResult result = must(run.run());
    EXPECT_THAT(result.reason, ::testing::StartsWith(money_is_less ? "$0.05" : "2 min 30 s"));
    EXPECT_LT(run.record().elapsed_s, 1.1 * (money_is_less ? 50.0 : 150.0));
  }
}

}  // namespace
}  // namespace steptune::simulation
