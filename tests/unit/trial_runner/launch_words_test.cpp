// SPDX-License-Identifier: Apache-2.0
//
// Tests how the processes of a launch are started, and which launches a runner cannot start.
#include "trial_runner/launch/launch_words.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const LauncherSupport k_torchrun_elsewhere{Launcher::torchrun, true, {"--rdzv_backend=c10d"}};
const LauncherSupport k_mpi_on_this_machine{Launcher::mpi, false};
const LauncherSupport k_srun_elsewhere{Launcher::srun, true};

TEST(LaunchedWords, TorchrunRunsWithTheCommandsPython) {
  const Launch launch{Launcher::torchrun, 2, 4, {"--max_restarts=0"}};
  EXPECT_THAT(
      launched_words(launch, k_torchrun_elsewhere, {"/opt/py/bin/python3.11", "train.py", "-x"}),
      ElementsAre("/opt/py/bin/python3.11", "-m", "torch.distributed.run", "--nnodes=2",
                  "--nproc_per_node=4", "--rdzv_backend=c10d", "--max_restarts=0", "train.py",
                  "-x"));
  EXPECT_THAT(
      launched_words(launch, k_torchrun_elsewhere, {"python", "-u", "-m", "pkg.train"}),
      ElementsAre("python", "-m", "torch.distributed.run", "--nnodes=2", "--nproc_per_node=4",
                  "--rdzv_backend=c10d", "--max_restarts=0", "-m", "pkg.train"));
}

TEST(LaunchedWords, AnotherProgramIsLeftToTheTorchrunInPath) {
  EXPECT_THAT(launched_words({Launcher::torchrun, 1, 2}, {}, {"./train", "--lr", "1"}),
              ElementsAre("torchrun", "--nnodes=1", "--nproc_per_node=2", "--no_python", "./train",
                          "--lr", "1"));
  EXPECT_THAT(launched_words({Launcher::torchrun, 1, 2}, {}, {"python3", "-O", "train.py"}),
              ElementsAre("torchrun", "--nnodes=1", "--nproc_per_node=2", "--no_python", "python3",
                          "-O", "train.py"))
      << "torchrun would lose Python's options";
}

TEST(LaunchedWords, MpirunStartsAllProcessesAndSrunIsTheRunners) {
  EXPECT_THAT(
      launched_words({Launcher::mpi, 2, 3, {"--oversubscribe"}}, k_mpi_on_this_machine, {"train"}),
      ElementsAre("mpirun", "-np", "6", "--oversubscribe", "train"));
  EXPECT_THAT(
      launched_words({Launcher::srun, 2, 3, {"--mpi=pmix"}}, k_srun_elsewhere, {"train", "x"}),
      ElementsAre("train", "x"));
}

TEST(TypedWords, BeginWithSrunIfTheRunnerCallsIt) {
  EXPECT_THAT(typed_words({Launcher::srun, 2, 3, {"--mpi=pmix"}}, {"train"}),
              ElementsAre("srun", "--nodes=2", "--ntasks-per-node=3", "--mpi=pmix", "train"));
  EXPECT_THAT(typed_words({Launcher::mpi, 1, 2}, {"mpirun", "-np", "2", "train"}),
              ElementsAre("mpirun", "-np", "2", "train"));
}

TEST(AsStarted, MpiUsesSrunIfTheRunnerDoes) {
  const std::vector<LauncherSupport> with_srun{k_torchrun_elsewhere, k_srun_elsewhere};
  const Launch mpi{Launcher::mpi, 2, 3, {"--cpu-bind=cores"}};
  const Launch started = as_started(mpi, with_srun);
  EXPECT_EQ(started.with, Launcher::srun);
  EXPECT_EQ(started.processes(), 6);
  EXPECT_THAT(started.options, ElementsAre("--mpi=pmix", "--cpu-bind=cores"));
  EXPECT_THAT(as_started({Launcher::mpi, 1, 1, {"--mpi=pmi2"}}, with_srun).options,
              ElementsAre("--mpi=pmi2"))
      << "the user's option has priority";
  EXPECT_EQ(as_started(mpi, std::vector{k_mpi_on_this_machine}), mpi);
  const Launch torchrun{Launcher::torchrun, 2, 3};
  EXPECT_EQ(as_started(torchrun, with_srun), torchrun);
}

class LaunchFaults : public testing::Test {
 protected:
  static std::string pointer_of(const Launch& launch, int machines) {
    const auto fault = fault_of(launch, machines, k_supported, "cloud");
    return fault ? fault->pointer : "none";
  }
  static std::string message_of(const Launch& launch, int machines,
                                const std::vector<LauncherSupport>& supported = k_supported) {
    const auto fault = fault_of(launch, machines, supported, "cloud");
    return fault ? fault->message : "none";
  }
  inline static const std::vector<LauncherSupport> k_supported{k_torchrun_elsewhere,
                                                               k_mpi_on_this_machine};
};

TEST_F(LaunchFaults, ALaunchThatTheRunnerCanStartHasNoFault) {
  EXPECT_EQ(pointer_of({Launcher::torchrun, 1, 8}, 1), "none");
  EXPECT_EQ(pointer_of({Launcher::torchrun, 4, 8}, 4), "none");
  EXPECT_EQ(pointer_of({Launcher::mpi, 1, 8}, 1), "none");
}

TEST_F(LaunchFaults, NameTheKeyAndTheLaunchersThatWork) {
  EXPECT_EQ(pointer_of({Launcher::srun, 1, 1}, 1), "/with");
  EXPECT_EQ(message_of({Launcher::srun, 1, 1}, 1),
            "the runner cloud has no \"srun\": use \"torchrun\" or \"mpi\"");
  EXPECT_EQ(message_of({Launcher::srun, 3, 1}, 3),
            "the runner cloud has no \"srun\": use \"torchrun\"")
      << "mpi is for one machine";
  EXPECT_EQ(pointer_of({Launcher::mpi, 3, 1}, 3), "/with");
  EXPECT_THAT(message_of({Launcher::mpi, 3, 1}, 3),
              HasSubstr("\"mpi\" starts processes on one machine only, and a trial has 3: use "
                        "\"torchrun\""));
  EXPECT_EQ(message_of({Launcher::srun, 3, 1}, 3, {k_mpi_on_this_machine}),
            "the runner cloud has no \"srun\"")
      << "no other launcher works either";
}

TEST_F(LaunchFaults, CountsMustBePositiveAndMatchTheRunner) {
  EXPECT_EQ(pointer_of({Launcher::torchrun, 1, 0}, 1), "/processes_per_node");
  EXPECT_EQ(pointer_of({Launcher::torchrun, 0, 1}, 1), "/nodes");
  EXPECT_EQ(pointer_of({Launcher::torchrun, 2, 1}, 1), "/nodes");
  EXPECT_THAT(message_of({Launcher::torchrun, 2, 1}, 1),
              HasSubstr("is 2, but a trial of the runner "
                        "cloud has one machine"));
  EXPECT_THAT(message_of({Launcher::torchrun, 1, 1}, 4), HasSubstr("has 4 machines"));
}

TEST_F(LaunchFaults, ARunnerThatStartsNoProcessesHasNoLaunch) {
  const auto fault = fault_of({}, 1, {}, "replay");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->pointer, "");
  EXPECT_THAT(fault->message, HasSubstr("leave \"launch\" out"));
}

}  // namespace
}  // namespace steptune
