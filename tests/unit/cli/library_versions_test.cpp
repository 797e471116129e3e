// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/library_versions.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

TrialRecord hooked_trial(double started_wall_s) {
  TrialRecord trial;
  trial.purpose = TrialPurpose::baseline;
  trial.started_wall_s = started_wall_s;
  trial.hook = Json::array(
      {{{"event", "patched"}, {"torch", "2.5.1"}, {"cuda", "12.4"}, {"device", "cuda"}}});
  return trial;
}

TEST(LibraryVersions, ComeFromTheReportsOfAHook) {
  EXPECT_TRUE(machine_reported_by(TrialRecord{}).empty());
  EXPECT_EQ(machine_reported_by(hooked_trial(0.0)),
            (MachineDescription{{"torch", "2.5.1"}, {"cuda", "12.4"}}));
}

TEST(LibraryVersions, ComeFromEachFamilyOfTheHook) {
  TrialRecord trial;
  trial.hook = Json::array({{{"event", "patched"}, {"jax", "0.12.0"}, {"tensorflow", "2.21.0"}}});
  EXPECT_EQ(machine_reported_by(trial),
            (MachineDescription{{"jax", "0.12.0"}, {"tensorflow", "2.21.0"}}));
}

TEST(LibraryVersions, NodesOfAClusterReportTheirs) {
  TrialRecord trial;
  trial.purpose = TrialPurpose::baseline;
  trial.started_wall_s = 250.0;
  trial.placement = {{"allocation", "17"}, {"hosts", "n1 n2"}, {"cpu", "EPYC"}, {"kernel", "5.14"}};
  std::vector<SessionRecord> sessions = {{200.0, {{k_trials_on, "2 node"}}}};
  add_baseline_machines(sessions, {trial});
  EXPECT_EQ(sessions[0].machine,
            (MachineDescription{
                {k_trials_on, "2 node"}, {"hosts", "n1 n2"}, {"cpu", "EPYC"}, {"kernel", "5.14"}}));
}

TEST(LibraryVersions, ComeFromTheSessionThatLaunchedTheTrial) {
  std::vector<SessionRecord> sessions = {
      {100.0, {{"kernel", "6.1"}}}, {200.0, {{"cuda", "12.1"}}}, {300.0, {{"kernel", "6.1"}}}};
  TrialRecord searched = hooked_trial(350.0);
  searched.purpose = TrialPurpose::search;
  add_baseline_machines(sessions, {hooked_trial(250.0), searched});
  EXPECT_EQ(sessions[0].machine, (MachineDescription{{"kernel", "6.1"}}));
  EXPECT_EQ(sessions[1].machine, (MachineDescription{{"cuda", "12.1"}, {"torch", "2.5.1"}}))
      << "the session's own report is kept";
  EXPECT_EQ(sessions[2].machine, (MachineDescription{{"kernel", "6.1"}}));

  std::vector<SessionRecord> later = {{300.0, {}}};
  add_baseline_machines(later, {hooked_trial(250.0)});
  EXPECT_TRUE(later[0].machine.empty());
}

TEST(LibraryVersions, AreUnknownForASilentMachine) {
  EXPECT_FALSE(knows_libraries({{"kernel", "6.1"}}));
  EXPECT_TRUE(knows_libraries({{"kernel", "6.1"}, {"python", "3.11.2"}}));
  EXPECT_TRUE(is_of_python("torch"));
  EXPECT_FALSE(is_of_python("c_library"));
}

}  // namespace
}  // namespace steptune
