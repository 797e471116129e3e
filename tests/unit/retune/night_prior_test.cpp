// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_prior.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

StudySpec spec_of_night(const std::string& name) {
  Json document = Json::parse(R"json({
    "command": ["train", "--workers={workers}"],
    "parameters": {"workers": {"type": "int", "low": 0, "high": 16}},
    "baseline": {"workers": 0},
    "planned_run": {"samples": 1e8},
    "search": {"searcher": "random", "scheduler": "none"},
    "budget": {"trials": 6},
    "runner": {"type": "replay", "seconds_per_sample": 1}
  })json");
  document["name"] = name;
  return must(study_from_json(document, "/studies/" + name + ".json",
                              {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 32}}));
}

/// Nights of which each tried one configuration of its own: as many workers as its number says.
class NightPriorTest : public ::testing::Test {
 protected:
  Night& add_night(MachineDescription machine) {
    Night night;
    night.number = std::ssize(nights_) + 1;
    night.study = "demo.night-" + std::to_string(night.number);
    night.fingerprint = "file";
    night.machine = std::move(machine);
    night.times.baseline = {std::log(100.0)};
    const StudySpec spec = spec_of_night(night.study);
    const StudyRecord study =
        must(history_.create_or_continue_study(night.study, "file", spec.document, 1));
    TrialRecord trial;
    trial.number = 1;
    trial.status = TrialStatus::completed;
    trial.configuration.set("workers", night.number);
    trial.objectives = {50.0};
    trial.standard_errors = {0.5};
    EXPECT_TRUE(history_.record_ended(study.id, trial));
    nights_.push_back(std::move(night));
    return nights_.back();
  }

  /// The last night is tonight.
  NightPrior prior() {
    return must(night_prior(spec_of_night("demo"), history_, nights_, nights_.back()));
  }
  static std::vector<std::int64_t> workers(const std::vector<Observation>& observations) {
    std::vector<std::int64_t> result;
    for (const Observation& observation : observations)
      result.push_back(std::get<std::int64_t>(*observation.configuration.find("workers")));
    return result;
  }

  DatabaseFolder folder_;
  VirtualClock clock_;
  History history_ = must(History::open_for_writing(folder_.path() / "history.db", clock_));
  std::vector<Night> nights_;
};

TEST_F(NightPriorTest, NightsAreBelievedTogetherByWhatHasChangedSince) {
  add_night({{"kernel", "6.1"}, {"torch", "2.4"}});
  add_night({{"kernel", "6.1"}, {"torch", "2.4"}});
  add_night({{"kernel", "6.1"}, {"torch", "2.5"}});
  add_night({{"kernel", "6.2"}, {"torch", "2.5"}});
  add_night({{"kernel", "6.2"}, {"torch", "2.5"}});
  const NightPrior prior = this->prior();
  EXPECT_THAT(workers(prior.own), ElementsAre(4));
  ASSERT_EQ(prior.earlier.size(), 2U);
  EXPECT_THAT(workers(prior.earlier[0]), ElementsAre(3)) << "another kernel";
  EXPECT_THAT(workers(prior.earlier[1]), ElementsAre(1, 2)) << "another library, too";
}

TEST_F(NightPriorTest, ATuningBeforeTheNightsIsKnownByWhatItsBaselineTold) {
  const StudySpec spec = spec_of_night("demo");
  const StudyRecord tuned =
      must(history_.create_or_continue_study("demo", "file", spec.document, 1));
  EXPECT_TRUE(history_.record_session(tuned.id, {{k_trials_on, "1 node"}}));
  TrialRecord trial;
  trial.number = 1;
  trial.purpose = TrialPurpose::baseline;
  trial.status = TrialStatus::completed;
  trial.started_wall_s = clock_.wall_time_s();
  trial.configuration.set("workers", std::int64_t{0});
  trial.placement = {{"cpu", "EPYC 7763"}, {"hosts", "n1"}};
  trial.objectives = {100.0};
  trial.standard_errors = {1.0};
  EXPECT_TRUE(history_.record_ended(tuned.id, trial));
  const MachineDescription same{{k_trials_on, "1 node"}, {"cpu", "EPYC 7763"}, {"hosts", "n2"}};
  add_night(same);
  EXPECT_THAT(workers(prior().own), ElementsAre(0));
  nights_.back().machine["cpu"] = "EPYC 9654";
  EXPECT_THAT(prior().own, IsEmpty());
  ASSERT_EQ(prior().earlier.size(), 1U);
  EXPECT_THAT(workers(prior().earlier[0]), ElementsAre(0));
}

TEST_F(NightPriorTest, WhatChangesBackIsBelievedWithItsLikes) {
  add_night({{"gpu", "A100"}});
  add_night({{"gpu", "H100"}});
  add_night({{"gpu", "A100"}});
  add_night({{"gpu", "H100"}});
  const NightPrior prior = this->prior();
  EXPECT_THAT(prior.own, IsEmpty()) << "something has changed since, and may have more than once";
  ASSERT_EQ(prior.earlier.size(), 2U);
  EXPECT_THAT(workers(prior.earlier[0]), ElementsAre(1, 3));
  EXPECT_THAT(workers(prior.earlier[1]), ElementsAre(2));
}

TEST_F(NightPriorTest, ASlowdownThatNothingKnownExplainsSetsItsNightsApart) {
  add_night({{"kernel", "6.1"}});
  add_night({{"kernel", "6.1"}}).slowdown.emplace();
  add_night({{"kernel", "6.1"}});
  const NightPrior prior = this->prior();
  EXPECT_THAT(workers(prior.own), ElementsAre(2));
  ASSERT_EQ(prior.earlier.size(), 1U);
  EXPECT_THAT(workers(prior.earlier[0]), ElementsAre(1));
}

TEST_F(NightPriorTest, TheOldestShareTheLastOfThreeGroups) {
  for (const char* kernel : {"6.1", "6.2", "6.3", "6.4", "6.5", "6.5"})
    add_night({{"kernel", kernel}});
  const NightPrior prior = this->prior();
  EXPECT_THAT(workers(prior.own), ElementsAre(5));
  ASSERT_EQ(prior.earlier.size(), 3U);
  EXPECT_THAT(workers(prior.earlier[0]), ElementsAre(4));
  EXPECT_THAT(workers(prior.earlier[1]), ElementsAre(3));
  EXPECT_THAT(workers(prior.earlier[2]), ElementsAre(1, 2));
}

}  // namespace
}  // namespace steptune
