// SPDX-License-Identifier: Apache-2.0
// A budget of time is used as long as something can be learnt with it, and no longer.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulated_study.hpp"

namespace steptune::simulation {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Two hundred configurations and ten minutes.
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
  /// Whether a trial of the search came after a confirming run.
  [[nodiscard]] bool went_on() const {
    const auto confirming = std::ranges::find_if(
        trials_, [](const TrialRecord& trial) { return is_confirmation(trial.purpose); });
    return std::any_of(confirming, trials_.end(),
                       [](const TrialRecord& trial) { return is_compared(trial.purpose); });
  }

  Json document_ = study_document();
  std::vector<TrialRecord> trials_;
  double used_ = 0.0;  ///< share of the budget
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

TEST_F(TimeBudget, IsEnoughForTwoConfigurationsOfWhichTheBaselineIsNoisy) {
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

TEST_F(TimeBudget, WhatNothingNeedsForItsProofIsSearchedWith) {
  // The baseline is the best, and two fifths of the time are kept for a confirmation.
  document_["baseline"] = Json::parse(R"({"batch_size": 256, "workers": 39})");
  document_["measure"]["confirm_pairs"] = 6;
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.startup_s = 20.0;
    return script;
  });
  EXPECT_EQ(result.end, LoopEnd::nothing_faster);
  EXPECT_GT(used_, 0.75) << searched() << " trials";
  EXPECT_LT(used_, 1.1);
}

TEST_F(TimeBudget, ThatIsTooShortToCompareSaysSo) {
  document_["budget"]["time"] = 60.0;
  const auto starts_in = [](double startup_s) {
    return [startup_s](const TrialSpec& spec) {
      TrialScript script = train(spec);
      script.startup_s = startup_s;
      return script;
    };
  };
  EXPECT_EQ(result_of(starts_in(40.0)).reason,
            "1 min of tuning time; that is time for the baseline only, and nothing was compared "
            "with it: run it again with a longer --time, and it goes on");
  document_["baseline"] = Json::parse(R"({"batch_size": 256, "workers": 39})");
  const LoopResult compared = result_of(starts_in(5.0));
  EXPECT_GT(searched(), 1U);
  EXPECT_THAT(compared.reason, HasSubstr("nothing was shown to be faster than the baseline"));
  EXPECT_LT(used_, 0.8);
  EXPECT_THAT(compared.reason, HasSubstr(" left would not do for another trial and its proof"));
}

TEST_F(TimeBudget, WhatAProofLeavesIsSearchedWith) {
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.noise = 0.002;
    return script;
  });
  EXPECT_EQ(result.recommendation->claim, Claim::faster);
  EXPECT_TRUE(went_on());
}

TEST_F(TimeBudget, EndsEarlyWhereFreshRunsOfTheBaselineFail) {
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
  EXPECT_THAT(result.recommendation->notes,
              ::testing::Contains(HasSubstr("fresh runs of the baseline failed")));
  EXPECT_FALSE(went_on()) << "nothing that is found can be confirmed";
}

TEST_F(TimeBudget, EndsEarlyWhereEverythingWasTried) {
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

TEST_F(TimeBudget, EndsEarlyWhereNothingMoreMayBeClaimed) {
  // The search's first ten trials look faster than the baseline; fresh runs are far slower.
  document_["measure"]["confirm_pairs"] = 20;
  document_["budget"]["time"] = 2000.0;
  const LoopResult result = result_of([](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.startup_s = 20.0;
    script.seconds_per_step = script.samples_per_step * 0.003;
    const bool is_baseline = to_number(*spec.configuration.find("batch_size")) == 32 &&
                             to_number(*spec.configuration.find("workers")) == 0;
    if (!is_baseline) script.seconds_per_step *= spec.key.trial <= 10 ? 0.9 : 1.5;
    return script;
  });
  EXPECT_EQ(result.end, LoopEnd::nothing_faster);
  ASSERT_EQ(result.recommendation->finalists.size(), 3U);
  EXPECT_THAT(result.reason,
              HasSubstr("; fresh runs did not confirm 3 configurations, and no more are tried"));
  EXPECT_LT(used_, 0.8);
  EXPECT_THAT(result.reason, Not(HasSubstr("would not do"))) << "time is not what was missing";
}

}  // namespace
}  // namespace steptune::simulation
