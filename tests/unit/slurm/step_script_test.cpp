// SPDX-License-Identifier: Apache-2.0
// Tests how a task's script finds its place in a launch. The shell that Slurm would start runs it.
#include "trial_runner/slurm/step_script.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/machine/description.hpp"
#include "common/shell_quote.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the output of the script as task `task` of `tasks` on node `node`. `outer`: shell
/// assignments of Slurm's variables and of those that srun passes on.
std::string output_of(const TrialSpec& spec, int nodes, int tasks, int task, int node,
                      const std::string& python_path = "", const std::string& setup = "",
                      const std::string& outer = "") {
  StepScript script;
  script.nodes = nodes;
  script.tasks = tasks;
  script.mark_word = "word";
  script.head_host = "n1";
  script.port = 23'456;
  script.python_path = python_path;
  script.setup = setup;
  const auto text = step_script(spec, script);
  if (!text) return text.error().text();
  const std::string command = fmt::format(
      "env -i PATH=\"$PATH\" SLURM_PROCID={} SLURM_NODEID={} SLURM_LOCALID=0 "
      "SLURM_STEP_NUM_TASKS={} "
      "SLURM_JOB_ID=7 SLURM_STEP_ID=0 {} /bin/sh -c {} 2>&1",
      task, node, script.tasks, outer, posix_quoted(*text));
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string output;
  std::array<char, 512> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr)
    output += buffer.data();
  ::pclose(pipe);
  return output;
}

TrialSpec printing(std::optional<Launch> launch) {
  TrialSpec spec;
  spec.key = {5, 2};
  spec.working_directory = "/tmp";
  spec.launch = std::move(launch);
  spec.argv = {"/bin/sh",
               "-c",
               "env | grep -E '^(PET|RANK|WORLD|MASTER|STEPTUNE)'; printf '%s|' \"$@\"",
               "x",
               "it's $HOME",
               "a\nb",
               ""};
  return spec;
}

TEST(StepScript, GivesTorchrunTheRendezvous) {
  const TrialSpec spec = printing(Launch{Launcher::torchrun, 2, 4});
  const std::string first = output_of(spec, 2, 2, 0, 0);
  EXPECT_THAT(first, HasSubstr("PET_MASTER_ADDR=n1\n"));
  EXPECT_THAT(first, HasSubstr("PET_MASTER_PORT=23456\n"));
  EXPECT_THAT(first, HasSubstr("PET_NODE_RANK=0\n"));
  EXPECT_THAT(first, HasSubstr("STEPTUNE_TRIAL=5.2\n"));
  EXPECT_THAT(first, HasSubstr("it's $HOME|a\nb||"));
  const std::string second = output_of(spec, 2, 2, 1, 1);
  EXPECT_THAT(second, HasSubstr("PET_MASTER_ADDR=n1\n"));
  EXPECT_THAT(second, HasSubstr("PET_NODE_RANK=1\n"));
}

TEST(StepScript, PrintsTheNodeOnWhichItRuns) {
  const auto kernels_and_cpus = [](const std::string& output) {
    StepMarks marks("word", 2);
    marks.feed(output, [](std::string_view) {});
    EXPECT_EQ(marks.started(), 1) << output;
    return std::pair(marks.kernels(), marks.cpus());
  };
  const MachineDescription here = describe_machine(SystemFiles{});
  const auto [kernels, cpus] = kernels_and_cpus(output_of(printing(std::nullopt), 1, 2, 0, 0));
  EXPECT_THAT(kernels, ElementsAre(here.at("kernel")));
  if (here.contains("cpu")) {
    EXPECT_THAT(cpus, ElementsAre(here.at("cpu")));
  }
  // One task per node is enough.
  const auto second =
      kernels_and_cpus(output_of(printing(std::nullopt), 1, 2, 1, 0, "", "", "SLURM_LOCALID=1"));
  EXPECT_TRUE(second.first.empty());
  EXPECT_TRUE(second.second.empty());
}

TEST(StepScript, SetsRanksOfTasksAndNoVariablesOfTorchrun) {
  const TrialSpec spec = printing(Launch{Launcher::srun, 2, 2});
  const std::string third = output_of(spec, 2, 4, 2, 1);
  EXPECT_THAT(third, HasSubstr("RANK=2\n"));
  EXPECT_THAT(third, HasSubstr("WORLD_SIZE=4\n"));
  EXPECT_THAT(third, HasSubstr("MASTER_ADDR=n1\n"));
  EXPECT_THAT(third, HasSubstr("MASTER_PORT=23456\n"));
  EXPECT_THAT(third, Not(HasSubstr("PET_")));
  EXPECT_THAT(output_of(printing(std::nullopt), 1, 1, 0, 0), Not(HasSubstr("RANK")));
}

TEST(StepScript, ASingleProcessDoesNotInheritTheTunersRank) {
  TrialSpec spec = printing(Launch{Launcher::srun, 1, 1});
  spec.argv = {"/bin/sh", "-c",
               "echo \"<${RANK-none}${WORLD_SIZE-none}${OMPI_COMM_WORLD_RANK-}>\""};
  EXPECT_THAT(output_of(spec, 1, 1, 0, 0, "", "", "RANK=3 WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=5"),
              HasSubstr("<nonenone>"));
  spec.launch.reset();
  EXPECT_THAT(output_of(spec, 1, 1, 0, 0, "", "", "RANK=3 WORLD_SIZE=4"), HasSubstr("<34>"));
}

TEST(StepScript, PutsTheHookBeforePythonsPath) {
  const TemporaryFolder folder{"it's a hook"};
  std::ofstream(folder.path() / "sitecustomize.py") << "";
  const std::string hook = folder.path().string();
  TrialSpec spec = printing(std::nullopt);
  spec.argv = {"/bin/sh", "-c", "echo \"<$PYTHONPATH>\""};
  EXPECT_THAT(output_of(spec, 1, 1, 0, 0, hook), HasSubstr("<" + hook + ">\n"));
  spec.environment["PYTHONPATH"] = "/study";
  EXPECT_THAT(output_of(spec, 1, 1, 0, 0, hook), HasSubstr("<" + hook + ":/study>\n"));
  EXPECT_THAT(output_of(spec, 1, 1, 0, 0, hook, "export PYTHONPATH=/module:$PYTHONPATH"),
              HasSubstr("<" + hook + ":/module:/study>\n"));
  EXPECT_THAT(output_of(spec, 1, 1, 0, 0, hook), Not(HasSubstr("is not seen here")));
  EXPECT_THAT(output_of(spec, 1, 1, 0, 0, "/nonexistent/hook"),
              HasSubstr("PyTorch's hook is not seen here: is /nonexistent/hook on every node"));
  EXPECT_THAT(output_of(spec, 1, 1, 0, 0), HasSubstr("</study>\n"));
}

}  // namespace
}  // namespace steptune::slurm
