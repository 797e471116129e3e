// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_prior.hpp"

#include <cmath>
#include <map>

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

/// Nights that each tried one configuration: the number of workers is the night's number.
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

  /// Adds a trial to a night.
  void add_trial(const Night& night, std::int64_t workers, TrialStatus status, double objective) {
    const StudyRecord study = must(history_.study(night.study));
    TrialRecord trial;
    trial.number = std::ssize(must(history_.trials(study.id))) + 1;
    trial.status = status;
    trial.configuration.set("workers", workers);
    trial.objectives = {objective};
    trial.standard_errors = {0.01 * objective};
    EXPECT_TRUE(history_.record_ended(study.id, trial));
  }

  /// Returns the prior of the last night.
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

TEST_F(NightPriorTest, ChangesOfTheMachineSeparateNights) {
  add_night({{"kernel", "6.1"}, {"torch", "2.4"}});
  add_night({{"kernel", "6.1"}, {"torch", "2.4"}});
  add_night({{"kernel", "6.1"}, {"torch", "2.5"}});
  add_night({{"kernel", "6.2"}, {"torch", "2.5"}});
  add_night({{"kernel", "6.2"}, {"torch", "2.5"}});
  const NightPrior prior = this->prior();
  EXPECT_THAT(workers(prior.own), ElementsAre(4));
  ASSERT_EQ(prior.earlier.size(), 2U);
  EXPECT_THAT(workers(prior.earlier[0]), ElementsAre(3)) << "the earlier night had another kernel";
  EXPECT_THAT(workers(prior.earlier[1]), ElementsAre(1, 2))
      << "the earlier nights had another library, too";
}

TEST_F(NightPriorTest, AnEarlierTuningHasItsBaselinesMachine) {
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

TEST_F(NightPriorTest, AMachineChangedBackUsesItsEarlierNights) {
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

TEST_F(NightPriorTest, AnUnexplainedSlowdownSeparatesNights) {
  add_night({{"kernel", "6.1"}});
  add_night({{"kernel", "6.1"}}).slowdown.emplace();
  add_night({{"kernel", "6.1"}});
  const NightPrior prior = this->prior();
  EXPECT_THAT(workers(prior.own), ElementsAre(2));
  ASSERT_EQ(prior.earlier.size(), 1U);
  EXPECT_THAT(workers(prior.earlier[0]), ElementsAre(1));
}

TEST_F(NightPriorTest, EarlierNightsMayBeTriedAgainAfterAFailure) {
  add_night({{"kernel", "6.1"}});
  add_night({{"kernel", "6.1"}});
  add_night({{"kernel", "6.1"}}).broken = "it failed";
  EXPECT_THAT(prior().own, IsEmpty()) << "tonight";
  ASSERT_EQ(prior().earlier.size(), 1U);
  EXPECT_THAT(workers(prior().earlier[0]), ElementsAre(1, 2));
  add_night({{"kernel", "6.1"}});
  EXPECT_THAT(workers(prior().own), ElementsAre(3)) << "the night after";
  ASSERT_EQ(prior().earlier.size(), 1U);
  EXPECT_THAT(workers(prior().earlier[0]), ElementsAre(1, 2));
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

TEST_F(NightPriorTest, ValuesAndErrorsAreScaledToTonightsSpeed) {
  add_night({{"kernel", "6.1"}});
  Night& tonight = add_night({{"kernel", "6.1"}});
  const Observation as_fast = prior().own.at(0);
  EXPECT_NEAR(as_fast.values[0], 50.0, 1e-9);
  tonight.times.baseline = {std::log(200.0)};
  const Observation half_as_fast = prior().own.at(0);
  EXPECT_NEAR(half_as_fast.values[0], 100.0, 1e-9);
  EXPECT_NEAR(half_as_fast.standard_errors[0], 2.0 * as_fast.standard_errors[0], 1e-9);
}

TEST_F(NightPriorTest, TheNightOfTheConfigurationInUseCountsOnce) {
  add_night({{"kernel", "6.1"}});
  add_night({{"kernel", "6.1"}}).before.study = "demo.night-1";
  EXPECT_THAT(workers(prior().own), ElementsAre(1));
  EXPECT_THAT(prior().earlier, IsEmpty());
}

TEST_F(NightPriorTest, AStoppedTrialReplacesNoMeasuredOne) {
  const Night first = add_night({{"kernel", "6.1"}});
  const Night second = add_night({{"kernel", "6.1"}});
  add_night({{"kernel", "6.1"}});
  add_trial(first, 9, TrialStatus::completed, 40.0);
  add_trial(second, 9, TrialStatus::stopped_early, 70.0);
  add_trial(first, 10, TrialStatus::stopped_early, 60.0);
  add_trial(second, 10, TrialStatus::stopped_early, 80.0);
  add_trial(first, 11, TrialStatus::stopped_early, 60.0);
  add_trial(second, 11, TrialStatus::completed, 90.0);
  std::map<std::int64_t, double> values;
  for (const Observation& observation : prior().own)
    values[std::get<std::int64_t>(*observation.configuration.find("workers"))] =
        observation.values.at(0);
  EXPECT_NEAR(values.at(9), 40.0, 1e-9);
  EXPECT_NEAR(values.at(10), 80.0, 1e-9) << "the later one of two stopped trials";
  EXPECT_NEAR(values.at(11), 90.0, 1e-9);
}

}  // namespace
}  // namespace steptune
