// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/machine_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(MachineChanges, AreNamedWithTheOldValue) {
  const MachineDescription before{{"cpu", "EPYC"}, {"kernel", "6.1.0-25"}, {"steptune", "0.1.0"}};
  const MachineDescription after{{"cpu", "EPYC"},
                                 {"kernel", "6.1.0-27"},
                                 {"cpu_governor", "powersave"},
                                 {"steptune", "0.2.0"}};
  const auto changes = machine_changes(before, after);
  EXPECT_EQ(to_text(changes), "cpu_governor none -> powersave, kernel 6.1.0-25 -> 6.1.0-27");
  EXPECT_EQ(json_of(changes)[1]["after"], "6.1.0-27");
  EXPECT_TRUE(machine_changes(after, after).empty());
}

TEST(MachineChanges, LibrariesAreComparedIfBothAreKnown) {
  const MachineDescription unknown{{"kernel", "6.1"}};
  const MachineDescription old{{"kernel", "6.1"}, {"torch", "2.4.0"}, {"cuda", "12.1"}};
  const MachineDescription now{{"kernel", "6.1"}, {"torch", "2.5.1"}, {"cuda", "12.4"}};
  EXPECT_TRUE(machine_changes(unknown, now).empty());
  EXPECT_EQ(machine_changes(old, now).size(), 2U);
  EXPECT_EQ(machine_part("torch"), MachinePart::library);
  EXPECT_EQ(machine_part("gpu"), MachinePart::hardware);
  EXPECT_EQ(machine_part("gpu_driver"), MachinePart::system);
}

TEST(MachineChanges, RemoteMachinesAreComparedByTrialReports) {
  const MachineDescription first{{k_trials_on, "1 node --partition=a100"},
                                 {"cpu", "EPYC 7763"},
                                 {"hosts", "n1"},
                                 {"kernel", "5.14.0-362"},
                                 {"steptune", "0.1.0"}};
  MachineDescription next = first;
  next["hosts"] = "n7";
  EXPECT_TRUE(machine_changes(first, next).empty()) << "another node of the same kind";
  next["cpu"] = "EPYC 9654";
  EXPECT_EQ(to_text(machine_changes(first, next)), "cpu EPYC 7763 -> EPYC 9654");
  const MachineDescription asked{{k_trials_on, "1 node --partition=h100"}};
  EXPECT_EQ(to_text(machine_changes(first, asked)),
            "trials_on 1 node --partition=a100 -> 1 node --partition=h100")
      << "no trial has reported its processor yet";
  EXPECT_EQ(machine_part(k_trials_on), MachinePart::hardware);
  MachineDescription with_library = first;
  with_library["torch"] = "2.6.0";
  EXPECT_EQ(to_text(machine_changes({{"numpy", "1.26"}, {"torch", "2.5.1"}}, with_library)),
            "torch 2.5.1 -> 2.6.0")
      << "trials reported the versions";
}

}  // namespace
}  // namespace steptune
