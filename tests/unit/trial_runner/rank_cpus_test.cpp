// SPDX-License-Identifier: Apache-2.0
// Tests the shares of CPUs of a launch's processes, and the commands that bind them.
#include "trial_runner/launch/rank_cpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trial_runner/launch/launch_words.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using Words = std::vector<std::string>;

constexpr const char* k_parts = "0/1";
const LauncherSupport k_torchrun{Launcher::torchrun, false, {"--rdzv_backend=c10d"}};
const LauncherSupport k_mpi{Launcher::mpi};

Words bound(const Launch& launch, const LauncherSupport& support, const Words& command) {
  auto words = bound_words(launch, support, launched_words(launch, support, command), k_parts);
  EXPECT_TRUE(words);
  return words.value_or(Words{});
}

TEST(RankCpus, AreEqualAndLeaveNoneOut) {
  EXPECT_EQ(rank_cpus({0, 1, 2, 3}, 2), "0-1/2-3");
  EXPECT_EQ(rank_cpus({0, 4, 1, 5}, 2), "0,4/1,5") << "threads of a core stay together";
  EXPECT_EQ(rank_cpus({0, 1, 2, 3, 4, 5, 6, 7}, 3), "0-1/2-4/5-7");
  EXPECT_EQ(rank_cpus({0, 1}, 1), "") << "nothing to divide";
  EXPECT_EQ(rank_cpus({0, 1}, 3), "") << "fewer CPUs than processes";
  EXPECT_EQ(rank_cpus({}, 2), "");
}

TEST(RankCpus, TheBindingProgramPrecedesEachProcess) {
  const Launch torchrun{Launcher::torchrun, 1, 2, {"--tee=9:1"}};
  const auto program = EndsWith("/steptune-bind-rank");
  EXPECT_THAT(bound(torchrun, k_torchrun, {"python3", "train.py", "-m"}),
              ElementsAre("python3", "-m", "torch.distributed.run", "--nnodes=1",
                          "--nproc_per_node=2", "--rdzv_backend=c10d", "--tee=9:1", "--no_python",
                          program, k_parts, "python3", "-u", "train.py", "-m"));
  EXPECT_THAT(bound(torchrun, k_torchrun, {"python3", "-m", "trainer"}),
              ElementsAre("python3", "-m", "torch.distributed.run", "--nnodes=1",
                          "--nproc_per_node=2", "--rdzv_backend=c10d", "--tee=9:1", "--no_python",
                          program, k_parts, "python3", "-u", "-m", "trainer"));
  EXPECT_THAT(bound(torchrun, k_torchrun, {"./train"}),
              ElementsAre("torchrun", "--nnodes=1", "--nproc_per_node=2", "--rdzv_backend=c10d",
                          "--tee=9:1", "--no_python", program, k_parts, "./train"));
  EXPECT_THAT(bound({Launcher::mpi, 1, 2, {"--oversubscribe"}}, k_mpi, {"python3", "train.py"}),
              ElementsAre("mpirun", "-np", "2", "--oversubscribe", program, k_parts, "python3",
                          "train.py"));
}

TEST(RankCpus, AModuleOptionOfTorchrunPreventsBinding) {
  const Launch module{Launcher::torchrun, 1, 2, {"--module"}};
  EXPECT_FALSE(bound_words(module, k_torchrun,
                           launched_words(module, k_torchrun, {"python3", "trainer"}), k_parts));
}

TEST(RankCpus, AreNotSetIfTheUserBindsProcesses) {
  const Launch plain{Launcher::mpi, 1, 2};
  const Words words{"mpirun", "-np", "2", "train"};
  EXPECT_FALSE(binds_processes(plain, words, {{"OMP_NUM_THREADS", "2"}, {"OMP_PLACES", ""}}));
  EXPECT_TRUE(binds_processes(plain, words, {{"OMP_PLACES", "cores"}}));
  EXPECT_TRUE(
      binds_processes(plain, {"mpirun", "-np", "2", "/usr/bin/numactl", "-l", "train"}, {}));
  for (const Words& options : {Words{"--bind-to", "core"}, Words{"-map-by", "socket"},
                               Words{"--cpu-set=0,1"}, Words{"--numa_binding=node"}}) {
    EXPECT_TRUE(binds_processes({Launcher::mpi, 1, 2, options}, words, {})) << options.front();
  }
}

}  // namespace
}  // namespace steptune
