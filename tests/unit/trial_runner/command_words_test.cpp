// SPDX-License-Identifier: Apache-2.0
//
// Tests how a Python script and a launcher are found in a user's command. Also tests that a
// launcher does not inherit the ranks of an outer launcher.
#include "trial_runner/launch/command_words.hpp"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trial_runner/launch/outer_ranks.hpp"

namespace steptune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::Pair;
using Command = std::vector<std::string>;

TEST(PythonScript, IsWhatPythonRunsWithItsWords) {
  EXPECT_THAT(python_script({"python3", "train.py", "--lr", "1"}),
              Optional(ElementsAre("train.py", "--lr", "1")));
  EXPECT_THAT(python_script({"/usr/bin/python3.12", "-u", "train.py"}),
              Optional(ElementsAre("train.py")));
  EXPECT_THAT(python_script({"python", "-m", "pkg.train", "-x"}),
              Optional(ElementsAre("-m", "pkg.train", "-x")));
  EXPECT_THAT(python_script({"python", "-u", "-m", "pkg"}), Optional(ElementsAre("-m", "pkg")));
}

TEST(PythonScript, IsNotFoundInOtherProgramsOrPythonsOptions) {
  for (const Command& command : {Command{"./train"},
                                 {"python2", "train.py"},
                                 {"python3-dbg", "train.py"},
                                 {"ipython", "x"},
                                 {"pythonista", "x"},
                                 {"python3"},
                                 {"python3", "-u"},
                                 {"python3", "-m"},
                                 {"python3", "-c", "import x"},
                                 {"python3", "-O", "train.py"},
                                 {"python3", "-"}})
    EXPECT_EQ(python_script(command), std::nullopt) << command.back();
}

TEST(LauncherInACommand, IsKnownAsAProgramAndAsAModule) {
  const auto launcher = [](const Command& command) {
    return std::string(launcher_in(command).value_or("none"));
  };
  EXPECT_EQ(launcher({"torchrun", "train.py"}), "torchrun");
  EXPECT_EQ(launcher({"/opt/bin/torchrun", "train.py"}), "torchrun");
  EXPECT_EQ(launcher({"python3", "-m", "torch.distributed.run", "train.py"}), "torchrun");
  EXPECT_EQ(launcher({"python3", "-u", "-m", "torch.distributed.launch", "x"}), "torchrun");
  EXPECT_EQ(launcher({"accelerate", "launch", "train.py"}), "accelerate");
  EXPECT_EQ(launcher({"python3", "-m", "accelerate.commands.launch", "x"}), "accelerate");
  EXPECT_EQ(launcher({"mpirun", "-np", "2", "x"}), "mpirun");
  EXPECT_EQ(launcher({"mpiexec", "x"}), "mpirun");
  EXPECT_EQ(launcher({"srun", "x"}), "srun");
  EXPECT_EQ(launcher({"deepspeed", "train.py"}), "deepspeed");
  EXPECT_EQ(launcher({"horovodrun", "-np", "2", "x"}), "horovodrun");
}

TEST(LauncherInACommand, SimilarWordsAreNoLauncher) {
  for (const Command& command : {Command{"python3", "train.py"},
                                 {"python3", "torchrun"},
                                 {"python3", "train.py", "mpirun"},
                                 {"torchrunner"},
                                 {"python3", "-m"},
                                 {"python3", "-m", "torch.utils.bottleneck"},
                                 {"-m"},
                                 {"python3", "-m", "pkg.train", "--launcher", "deepspeed"}})
    EXPECT_EQ(launcher_in(command), std::nullopt) << command.back();
}

TEST(OuterRanks, AreRemovedButOtherVariablesStay) {
  std::map<std::string, std::string> inherited{{"RANK", "3"},
                                               {"WORLD_SIZE", "4"},
                                               {"LOCAL_RANK", "1"},
                                               {"OMPI_COMM_WORLD_RANK", "3"},
                                               {"OMPI_COMM_WORLD_NODE_RANK", "0"},
                                               {"PMI_RANK", "3"},
                                               {"PMIX_NAMESPACE", "x"},
                                               {"MPI_LOCALNRANKS", "2"},
                                               {"MASTER_ADDR", "n1"},
                                               {"MASTER_PORT", "29500"},
                                               {"OMPI_MCA_btl", "tcp"},
                                               {"RANKING", "1"},
                                               {"MY_RANK", "1"},
                                               {"PATH", "/bin"}};
  forget_outer_ranks(inherited);
  EXPECT_THAT(inherited, ElementsAre(Pair("MASTER_ADDR", "n1"), Pair("MASTER_PORT", "29500"),
                                     Pair("MY_RANK", "1"), Pair("OMPI_MCA_btl", "tcp"),
                                     Pair("PATH", "/bin"), Pair("RANKING", "1")));
}

TEST(OuterRanks, AllRankVariablesAreRemoved) {
  std::map<std::string, std::string> inherited;
  for (const std::string_view name : rank_variables())
    inherited.emplace(name, "1");
  EXPECT_THAT(inherited, Contains(Pair("LOCAL_RANK", "1")));
  forget_outer_ranks(inherited);
  EXPECT_TRUE(inherited.empty());
}

}  // namespace
}  // namespace steptune
