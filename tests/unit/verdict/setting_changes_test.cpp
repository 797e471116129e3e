// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/setting_changes.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"
#include "tuner/verdict/recommend.hpp"
#include "tuner/verdict/worth.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns the study of a loader's settings; `prefetch` and `persistent` need workers.
StudySpec loader_study() {
  const Json document = parse_json(R"({
    "name": "s", "command": ["train"],
    "env": {"W": "{workers}", "P": "{prefetch}", "M": "{malloc}", "PIN": "{pin}", "T": "{threads}"},
    "parameters": {
      "workers": {"type": "int", "low": 0, "high": 4},
      "prefetch": {"type": "int", "low": 2, "high": 8, "scale": "log2", "when": "workers > 0"},
      "malloc": {"type": "categorical", "choices": ["libc", "jemalloc", "tcmalloc"]},
      "pin": {"type": "bool"},
      "threads": {"type": "int", "low": 1, "high": 2}
    },
    "baseline": {"workers": 0, "malloc": "libc", "pin": false, "threads": 2},
    "objectives": ["time"], "planned_run": {"samples": 1000},
    "runner": {"type": "local"}
  })",
                                   "study")
                            .value();
  auto study = study_from_json(document, "/studies/study.json", {{"cpus", 4}, {"gpus", 0}});
  if (!study) throw std::runtime_error(study.error().text());
  return *std::move(study);
}

class SettingChangesTest : public ::testing::Test {
 protected:
  SettingChangesTest() {
    add(study_.baseline, 4.0);
    trials_.front().purpose = TrialPurpose::baseline;
  }
  Configuration with(std::map<std::string, Value, std::less<>> changes) const {
    Configuration configuration = study_.baseline;
    for (const auto& [name, value] : changes)
      configuration.set(name, value);
    return configuration;
  }
  TrialRecord& add(Configuration configuration, double value, double error = 0.004) {
    const auto number = static_cast<std::int64_t>(trials_.size()) + 1;
    trials_.push_back(completed(number, value, error));
    trials_.back().purpose = TrialPurpose::search;
    trials_.back().configuration = std::move(configuration);
    return trials_.back();
  }
  Standing standing() const { return Standing(ranking_rules(study_), trials_); }
  std::optional<Configuration> fewer() const { return fewer_changes(study_, standing()); }
  Confirmation confirmation() {
    standing_.emplace(standing());
    return {study_, *standing_};
  }
  std::optional<double> decided(std::optional<double> expected = std::nullopt) {
    const Confirmation fresh = confirmation();
    return nothing_to_gain(study_, *standing_, fresh, expected);
  }
  /// Adds trials with one change each that cover every parameter.
  void cover_all(double value) {
    add(with({{"workers", std::int64_t{1}}, {"prefetch", std::int64_t{2}}}), value);
    add(with({{"workers", std::int64_t{3}}, {"prefetch", std::int64_t{2}}}), value);
    add(with({{"workers", std::int64_t{3}}, {"prefetch", std::int64_t{4}}}), value);
    add(with({{"malloc", std::string("jemalloc")}}), value);
    add(with({{"malloc", std::string("tcmalloc")}}), value);
    add(with({{"pin", true}}), value);
    add(with({{"threads", std::int64_t{1}}}), value);
  }

  StudySpec study_ = loader_study();
  std::vector<TrialRecord> trials_;
  std::optional<Standing> standing_;
};

const Value k_four = std::int64_t{4};
const Value k_two = std::int64_t{2};

TEST_F(SettingChangesTest, AConditionalSettingAtItsLeastIsNoChange) {
  EXPECT_THAT(changed_settings(study_, study_.baseline), IsEmpty());
  EXPECT_THAT(changed_settings(study_, with({{"workers", k_four}, {"prefetch", k_two}})),
              ElementsAre("workers"));
  EXPECT_THAT(changed_settings(study_, with({{"workers", k_four}, {"prefetch", k_four}})),
              ElementsAre("prefetch", "workers"));
}

TEST_F(SettingChangesTest, AConditionalSettingIsDroppedWithTheSettingThatItNeeds) {
  const Configuration all = with({{"workers", k_four}, {"prefetch", k_four}, {"pin", true}});
  EXPECT_EQ(with_changes(study_, all, {"workers"}),
            with({{"workers", k_four}, {"prefetch", k_two}}));
  EXPECT_EQ(with_changes(study_, all, {"prefetch", "pin"}), with({{"pin", true}}));
}

TEST_F(SettingChangesTest, EffectsOfSettingsAreTakenApart) {
  add(with({{"malloc", std::string("jemalloc")}}), 4.0);
  add(with({{"malloc", std::string("jemalloc")}, {"pin", true}}), 2.0);
  const SettingEffects effects(study_, standing());
  const Configuration both = trials_.back().configuration;
  EXPECT_NEAR(effects.of(both, "pin").value, std::log(2.0), 0.05);
  EXPECT_NEAR(effects.of(both, "malloc").value, 0.0, 0.03);
  EXPECT_LT(effects.of(both, "pin").error, 0.1);
}

TEST_F(SettingChangesTest, EffectsComeFromTheFreshRunsThatCount) {
  const auto fresh = [&](TrialPurpose purpose, Configuration configuration,
                         double value) -> TrialRecord& {
    TrialRecord& run = add(std::move(configuration), value);
    run.purpose = purpose;
    run.confirm_pair = 1;
    return run;
  };
  const Configuration pinned = with({{"pin", true}});
  TrialRecord& failed = fresh(TrialPurpose::confirm_baseline, study_.baseline, 4.0);
  failed.status = TrialStatus::failed;
  failed.objectives.clear();
  TrialRecord& beside_others = fresh(TrialPurpose::confirm_incumbent, pinned, 8.0);
  beside_others.spent_s = beside_others.disturbed_s = 10.0;
  fresh(TrialPurpose::confirm_baseline, study_.baseline, 4.0);
  fresh(TrialPurpose::confirm_incumbent, pinned, 2.0).spent_s = 10.0;
  EXPECT_NEAR(SettingEffects(study_, standing()).of(pinned, "pin").value, std::log(2.0), 0.05);
}

TEST_F(SettingChangesTest, SettingsWithoutMeasurableEffectAreReset) {
  add(with({{"malloc", std::string("jemalloc")}}), 4.0);
  add(with({{"pin", true}}), 4.0);
  add(with({{"workers", k_four}, {"prefetch", k_two}}), 3.0).status = TrialStatus::infeasible;
  add(with({{"workers", k_four},
            {"prefetch", k_two},
            {"malloc", std::string("jemalloc")},
            {"pin", true}}),
      3.0);
  EXPECT_EQ(fewer(),
            with({{"workers", k_four}, {"malloc", std::string("jemalloc")}, {"prefetch", k_two}}))
      << "the workers alone were tried";
  trials_[3].configuration.set("threads", std::int64_t{1});
  EXPECT_EQ(fewer(), with({{"workers", k_four}, {"prefetch", k_two}}));
}

TEST_F(SettingChangesTest, HalfOfTheChangesReturnIfTheReducedConfigurationIsSlower) {
  const Configuration all = with({{"workers", k_four},
                                  {"prefetch", k_four},
                                  {"malloc", std::string("jemalloc")},
                                  {"pin", true}});
  add(all, 2.0);
  const auto first = fewer();
  ASSERT_TRUE(first);
  EXPECT_EQ(changed_settings(study_, *first).size(), 2U)
      << "the settings were never varied separately";
  add(*first, 2.6).origin = k_fewest_changes;
  const auto second = fewer();
  ASSERT_TRUE(second);
  EXPECT_NE(first, second);
  EXPECT_FALSE(changed_settings(study_, *second).empty());
  for (int i = 0; i < k_most_reductions; ++i)
    add(*first, 2.6).origin = k_fewest_changes;
  EXPECT_EQ(fewer(), std::nullopt) << "their number is bounded";
}

TEST_F(SettingChangesTest, ATiedReducedTrialBecomesTheIncumbent) {
  add(with({{"workers", k_four}, {"prefetch", k_four}, {"pin", true}}), 1.0);
  add(with({{"workers", k_four}, {"prefetch", k_two}}), 1.01).origin = k_fewest_changes;
  const Standing now = standing();
  ASSERT_EQ(now.incumbent()->number, 3);
  const Reduction reduction = reduction_of(study_, now, *now.incumbent());
  EXPECT_EQ(reduction.state, ReductionState::reset);
  EXPECT_EQ(reduction.from_trial, 2);
  ASSERT_EQ(reduction.reset.size(), 2U);
  EXPECT_EQ(reduction.reset[0].name, "pin");
  EXPECT_EQ(reduction.reset[0].now, Value(false));
  EXPECT_EQ(reduction.reset[1].name, "prefetch");
}

TEST_F(SettingChangesTest, ALuckyTrialDoesNotKeepChangesThatItsPeersDoNotNeed) {
  // Six trials with needless changes scatter as their errors let expect; the best of them is lucky.
  for (const double value : {0.80, 0.95, 1.0, 1.05, 1.02, 0.98}) {
    add(with({{"workers", k_four},
              {"prefetch", k_four},
              {"pin", true},
              {"malloc", std::string("jemalloc")}}),
        value, 0.1);
  }
  add(with({{"workers", k_four}, {"prefetch", k_two}}), 1.04, 0.1).origin = k_fewest_changes;
  EXPECT_EQ(standing().incumbent()->number, 8);
}

TEST_F(SettingChangesTest, ASlowerTrialWithFewChangesDoesNotWinByNoise) {
  for (const double value : {0.95, 1.0, 1.05, 1.02, 0.98})
    add(with({{"workers", k_four}, {"prefetch", k_two}, {"pin", true}}), value, 0.1);
  add(with({{"pin", true}}), 1.3, 0.15);
  EXPECT_EQ(changed_settings(study_, standing().incumbent()->configuration).size(), 2U);
}

TEST_F(SettingChangesTest, SaysIfThereWasNoTimeOrEveryChangeIsNeeded) {
  add(with({{"workers", k_four}, {"prefetch", k_four}, {"pin", true}}), 1.0);
  const auto state = [&] {
    const Standing now = standing();
    return reduction_of(study_, now, *now.incumbent()).state;
  };
  EXPECT_EQ(state(), ReductionState::no_time);
  add(with({{"workers", k_four}, {"prefetch", k_two}}), 1.5).origin = k_fewest_changes;
  EXPECT_EQ(state(), ReductionState::all_needed);
}

TEST_F(SettingChangesTest, ATiedBaselineIsNotPreferred) {
  add(with({{"pin", true}}), 3.95);
  EXPECT_EQ(standing().incumbent()->number, 2) << "fresh runs decide";
}

TEST_F(SettingChangesTest, NoGainIsLeftOnceAllValuesAreBounded) {
  cover_all(4.1);
  ASSERT_TRUE(decided());
  EXPECT_LT(*decided(), 0.05);
  study_.search.worth = 0.01;
  EXPECT_FALSE(decided()) << "1 % is not excluded";
  study_.search.worth = 0.0;
  EXPECT_FALSE(decided()) << "switched off";
}

TEST_F(SettingChangesTest, UntriedValuesMayGain) {
  cover_all(4.1);
  trials_.pop_back();
  EXPECT_FALSE(decided()) << "no trial with one thread";
  EXPECT_FALSE(decided(0.01)) << "a model that expects 1 % is no proof";
  EXPECT_TRUE(decided(0.002)) << "by Markov's inequality";
}

TEST_F(SettingChangesTest, AWideIntervalMayGain) {
  cover_all(4.1);
  trials_.back().standard_errors = {0.2};
  EXPECT_FALSE(decided());
}

TEST_F(SettingChangesTest, AGainBehindAnotherSettingsLossIsNoProof) {
  cover_all(4.1);
  trials_.pop_back();
  // Threads gain a tenth, and the allocator loses as much.
  trials_[5].objectives = {4.5};
  add(with({{"threads", std::int64_t{1}}, {"malloc", std::string("tcmalloc")}}), 4.1);
  EXPECT_FALSE(decided());
}

TEST_F(SettingChangesTest, ABetterConfigurationIsSomethingToGain) {
  cover_all(4.1);
  trials_.back().objectives = {3.6};
  EXPECT_FALSE(decided());
}

TEST_F(SettingChangesTest, TheResultShowsThePossibleGain) {
  cover_all(4.1);
  study_.budget.time_s = 100.0;
  const auto result = recommend(study_, standing(), 40.0, 0.0);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->claim, Claim::nothing_to_gain);
  EXPECT_EQ(result->configuration, study_.baseline);
  EXPECT_THAT(result->changed, IsEmpty());
  EXPECT_LT(result->most_gain, 0.05);
  EXPECT_EQ(result->unused_s, 60.0);
}

TEST_F(SettingChangesTest, RemainingTimeGoesToAConfigurationThatMayBeWorthIt) {
  add(with({{"pin", true}}), 4.05, 0.2);
  EXPECT_THAT(confirmation().contenders(3), IsEmpty()) << "without a budget of time";
  study_.budget.time_s = 600.0;
  EXPECT_THAT(confirmation().contenders(3), ElementsAre(trials_.back().configuration));
  trials_.back().objectives = {5.0};
  EXPECT_THAT(confirmation().contenders(3), IsEmpty());
}

/// Two configurations that the search cannot distinguish; the one with more changes leads.
class SimplerFinalist : public SettingChangesTest {
 protected:
  SimplerFinalist() {
    study_.budget.time_s = 600.0;
    add(more_, 1.0, 0.02);
    add(fewer_, 1.05, 0.02);
  }
  /// Confirms `configuration` in the next rounds.
  void confirm(const Configuration& configuration, double value) {
    for (int pair = 0; pair < 3; ++pair, ++round_) {
      for (const bool of_baseline : {false, true}) {
        TrialRecord& run =
            add(of_baseline ? study_.baseline : configuration, of_baseline ? 4.0 : value, 0.01);
        run.purpose =
            of_baseline ? TrialPurpose::confirm_baseline : TrialPurpose::confirm_incumbent;
        run.confirm_pair = round_;
      }
    }
  }

  const Configuration more_ =
      with({{"workers", std::int64_t{4}}, {"prefetch", std::int64_t{2}}, {"pin", true}});
  const Configuration fewer_ = with({{"workers", std::int64_t{4}}, {"prefetch", std::int64_t{2}}});
  int round_ = 1;
};

TEST_F(SimplerFinalist, FollowsAWinnerWhileTimeIsLeft) {
  confirm(more_, 1.0);
  const auto step = confirmation().next_step({true, 1});
  ASSERT_TRUE(step);
  EXPECT_EQ(step->configuration, fewer_);
  EXPECT_FALSE(confirmation().next_step({false, 1})) << "no time";
  study_.budget.time_s.reset();
  EXPECT_FALSE(confirmation().next_step({true, 1})) << "more runs would cost something";
}

TEST_F(SimplerFinalist, HasAPartOfTheWinnersChanges) {
  trials_.pop_back();
  add(with({{"threads", std::int64_t{1}}}), 1.04, 0.02);
  confirm(more_, 1.0);
  EXPECT_FALSE(confirmation().next_step({true, 1})) << "another setting is no part of the winner";
}

TEST_F(SimplerFinalist, WinsUnlessItIsMeasurablySlower) {
  confirm(more_, 1.0);
  confirm(fewer_, 1.02);
  EXPECT_EQ(confirmation().winner()->configuration, fewer_);
  trials_.resize(3);
  round_ = 1;
  confirm(more_, 1.0);
  confirm(fewer_, 1.5);
  EXPECT_EQ(confirmation().winner()->configuration, more_);
}

}  // namespace
}  // namespace steptune
