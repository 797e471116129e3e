// SPDX-License-Identifier: Apache-2.0
// Tests the processes of a study's command: keys, the commands for each kind of runner, and refused
// launches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"
#include "trial_runner/launch/launch_words.hpp"

namespace steptune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read;
using testing::sound;

Json launched(const std::string& runner, const std::string& launch) {
  Json document = *parse_json(R"({
    "name": "ddp", "command": ["python3", "-u", "train.py", "--batch", "{batch}", "a b'"],
    "parameters": {
      "batch": {"type": "int", "low": 8, "high": 16},
      "nodes": {"type": "ordinal", "choices": [1, 2]},
      "processes": {"type": "int", "low": 1, "high": 2}
    },
    "env": {"N": "{nodes}", "P": "{processes}"},
    "baseline": {"batch": 8, "nodes": 2, "processes": 2}
  })",
                              "study.json");
  document["runner"] = *parse_json(runner, "runner");
  document["launch"] = *parse_json(launch, "launch");
  return document;
}

constexpr const char* k_here = R"({"type": "local"})";
constexpr const char* k_cluster = R"({"type": "slurm", "nodes": "nodes"})";
constexpr const char* k_cloud = R"({
  "type": "sagemaker", "region": "us-east-1", "role": "arn:aws:iam::123456789012:role/training",
  "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1", "code": "s3://bucket/code",
  "output": "s3://bucket/out", "instance_type": "ml.g5.xlarge", "instance_count": "nodes"})";

std::vector<std::string> baseline_words(const Json& document) {
  const StudySpec study = sound(document);
  return render_command(study, study.baseline).argv;
}

std::string launch_fault_of(const Json& document) {
  const auto study = read(document);
  return study ? "" : study.error().text();
}

TEST(Launch, OnThisMachineMeetsAtAFreePort) {
  EXPECT_THAT(baseline_words(launched(k_here, R"({"processes_per_node": "{processes}"})")),
              ElementsAre("python3", "-m", "torch.distributed.run", "--nnodes=1",
                          "--nproc_per_node=2", "--rdzv_backend=c10d",
                          "--rdzv_endpoint=localhost:0", "train.py", "--batch", "8", "a b'"));
  EXPECT_THAT(
      baseline_words(launched(
          k_here, R"({"with": "mpi", "processes_per_node": 4, "options": ["--bind-to", "none"]})")),
      ElementsAre("mpirun", "-np", "4", "--bind-to", "none", "python3", "-u", "train.py", "--batch",
                  "8", "a b'"));
}

TEST(Launch, OverNodesLeavesTheRendezvousToTheRunner) {
  for (const char* runner : {k_cluster, k_cloud}) {
    EXPECT_THAT(
        baseline_words(launched(runner, R"({"nodes": "{nodes}", "processes_per_node": 8})")),
        ElementsAre("python3", "-m", "torch.distributed.run", "--nnodes=2", "--nproc_per_node=8",
                    "train.py", "--batch", "8", "a b'"));
  }
}

TEST(Launch, SrunKeepsTheCommandAndShowsTypedWords) {
  const StudySpec study = sound(launched(
      k_cluster,
      R"({"with": "srun", "processes_per_node": "2 * processes", "options": ["--mpi=pmix"]})"));
  const RenderedCommand command = render_command(study, study.baseline);
  EXPECT_THAT(command.argv, ElementsAre("python3", "-u", "train.py", "--batch", "8", "a b'"));
  ASSERT_TRUE(command.launch);
  EXPECT_EQ(command.launch->processes(), 8);
  EXPECT_THAT(typed_words(*command.launch, command.argv),
              ElementsAre("srun", "--nodes=2", "--ntasks-per-node=4", "--mpi=pmix", "python3", "-u",
                          "train.py", "--batch", "8", "a b'"));
}

TEST(Launch, MpiOnSlurmUsesSrunWithPmix) {
  const StudySpec study =
      sound(launched(k_cluster, R"({"with": "mpi", "processes_per_node": 2, "options": ["-K"]})"));
  const RenderedCommand command = render_command(study, study.baseline);
  EXPECT_THAT(typed_words(*command.launch, command.argv),
              ElementsAre("srun", "--nodes=2", "--ntasks-per-node=2", "--mpi=pmix", "-K", "python3",
                          "-u", "train.py", "--batch", "8", "a b'"));
  const StudySpec other =
      sound(launched(k_cluster, R"({"with": "mpi", "options": ["--mpi=pmi2"]})"));
  EXPECT_THAT(render_command(other, other.baseline).launch->options, ElementsAre("--mpi=pmi2"));
}

TEST(Launch, TorchrunStartsProgramsOtherThanPython) {
  Json document = launched(k_here, R"({"processes_per_node": 2})");
  document["command"] = *parse_json(R"(["./train", "{batch}"])", "command");
  EXPECT_THAT(baseline_words(document),
              ElementsAre("torchrun", "--nnodes=1", "--nproc_per_node=2", "--rdzv_backend=c10d",
                          "--rdzv_endpoint=localhost:0", "--no_python", "./train", "8"));
}

TEST(Launch, BelongsToTheFingerprint) {
  Json without = launched(k_here, "{}");
  without.erase("launch");
  const StudySpec plain = sound(without);
  EXPECT_FALSE(plain.document.contains("launch"));
  EXPECT_FALSE(render_command(plain, plain.baseline).launch);
  const StudySpec two = sound(launched(k_here, R"({"processes_per_node": 2})"));
  const StudySpec three = sound(launched(k_here, R"({"processes_per_node": 3})"));
  EXPECT_NE(two.fingerprint, plain.fingerprint);
  EXPECT_NE(two.fingerprint, three.fingerprint);
  // The fingerprint depends neither on defaults written out nor on the form of a count.
  EXPECT_EQ(sound(two.document).fingerprint, two.fingerprint);
  EXPECT_EQ(sound(launched(k_here, R"({"processes_per_node": "{processes}"})")).fingerprint,
            sound(launched(k_here, R"({"processes_per_node": "processes"})")).fingerprint);
}

TEST(Launch, FaultsNameTheKeyAndARemedy) {
  EXPECT_THAT(launch_fault_of(launched(k_here, R"({"with": "srun"})")),
              AllOf(HasSubstr("/launch/with: the runner local has no \"srun\": use \"torchrun\" or "
                              "\"mpi\"")));
  EXPECT_THAT(launch_fault_of(launched(k_here, R"({"nodes": 2})")),
              HasSubstr("/launch/nodes: is 2, but a trial of the runner local has one machine"));
  EXPECT_THAT(launch_fault_of(launched(k_cluster, R"({"nodes": 1})")),
              HasSubstr("/launch/nodes: is 1, but a trial of the runner slurm has 2 machines"));
  EXPECT_THAT(launch_fault_of(launched(k_cloud, R"({"with": "mpi", "processes_per_node": 2})")),
              HasSubstr("/launch/with: on the runner sagemaker, \"mpi\" starts processes on one "
                        "machine only, and a trial has 2: use \"torchrun\""));
  EXPECT_THAT(launch_fault_of(launched(k_here, R"({"processes_per_node": "batch / 3"})")),
              HasSubstr("/launch/processes_per_node: must be a whole number from 1 to 1024"));
  EXPECT_THAT(launch_fault_of(launched(k_here, R"({"processes_per_node": 0})")),
              HasSubstr("/launch/processes_per_node"));
  EXPECT_THAT(launch_fault_of(launched(k_here, R"({"processes_per_node": "{gpu}"})")),
              HasSubstr("/launch/processes_per_node"));
  EXPECT_THAT(launch_fault_of(launched(k_here, R"({"with": "torch"})")), HasSubstr("/launch/with"));
  EXPECT_THAT(launch_fault_of(launched(R"({"type": "replay", "seconds_per_sample": "1"})", "{}")),
              HasSubstr("/launch: trials of the runner replay start no processes"));
}

TEST(Launch, IsRefusedIfTheCommandLaunchesItself) {
  Json document = launched(k_here, R"({"processes_per_node": 2})");
  document["command"] =
      *parse_json(R"(["torchrun", "--nproc_per_node=2", "t.py", "{batch}"])", "command");
  EXPECT_THAT(launch_fault_of(document), HasSubstr("/launch: \"command\" starts torchrun itself"));
  document.erase("command");
  EXPECT_THAT(launch_fault_of(document), HasSubstr("\"command\" is missing"));
}

TEST(Launch, ByASlurmStudyLeavesNoTasksToTheSection) {
  const std::string tasks = R"({"type": "slurm", "nodes": "nodes", "tasks_per_node": 4})";
  EXPECT_THAT(launch_fault_of(launched(tasks, R"({"processes_per_node": 4})")),
              HasSubstr("/runner/tasks_per_node: is 4, but \"launch\" starts 1 task on each node"));
  EXPECT_THAT(launch_fault_of(launched(tasks, R"({"with": "srun", "processes_per_node": 4})")),
              IsEmpty());
  const std::string shared = R"({"type": "slurm", "nodes": "nodes", "exclusive": false})";
  EXPECT_THAT(launch_fault_of(launched(shared, R"({"with": "srun", "processes_per_node": 4})")),
              HasSubstr("/runner/tasks_per_node: nodes are shared"));
}

}  // namespace
}  // namespace steptune
