// SPDX-License-Identifier: Apache-2.0
// Tests studies on a Slurm cluster whose trials need equal or different nodes.
#include <cstdint>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using testing::read;
using testing::sound;

Json on_slurm(const std::string& runner, const std::string& search = "{}") {
  Json document = *parse_json(R"({
    "name": "cluster", "command": ["train", "{batch}", "{choice}"],
    "parameters": {
      "batch": {"type": "int", "low": 8, "high": 16},
      "choice": {"type": "categorical", "choices": ["a", "b"]}
    },
    "baseline": {"batch": 8, "choice": "a"}
  })",
                              "study.json");
  document["runner"] = *parse_json(runner, "runner");
  document["runner"]["type"] = "slurm";
  document["search"] = *parse_json(search, "search");
  return document;
}

bool machines_vary(const std::string& runner) {
  return sound(on_slurm(runner)).runner->traits().machines_vary;
}

TEST(SlurmStudy, NodesVaryIfAParameterDecidesTheRequest) {
  EXPECT_FALSE(machines_vary(R"({"nodes": 2, "gpus_per_node": 4, "partition": "gpu"})"));
  EXPECT_FALSE(machines_vary(R"({"partition": "gpu", "price_per_node_hour": {"gpu": 12}})"));
  EXPECT_TRUE(machines_vary(R"({"nodes": "batch / 8 - batch % 8 / 8"})"));
  EXPECT_TRUE(machines_vary(R"({"gpus_per_node": "batch - 7"})"));
  EXPECT_TRUE(machines_vary(R"({"partition": "{choice}"})"));
  EXPECT_TRUE(machines_vary(R"({"qos": "{choice}"})"));
  EXPECT_TRUE(machines_vary(R"({"options": ["--switches={batch}"]})"));
  EXPECT_FALSE(machines_vary(R"({"memory": "64G"})"));
  EXPECT_TRUE(machines_vary(R"({"memory": "{batch}G"})"));
}

TEST(SlurmStudy, EachOptionOfSbatchMayBeAParameter) {
  for (const char* key :
       {"partition", "account", "qos", "constraint", "gres", "reservation", "time"}) {
    Json document = on_slurm(Json{{key, "{choice}"}}.dump());
    document["parameters"]["choice"]["choices"] = {"90", "120"};
    document["baseline"]["choice"] = "90";
    const StudySpec study = sound(document);
    EXPECT_TRUE(study.runner->traits().machines_vary) << key;
    Configuration configuration = study.baseline;
    for (const char* value : {"90", "120"}) {
      configuration.set("choice", std::string(value));
      EXPECT_EQ(to_text(study.runner->resources_of(configuration)),
                std::string("1 node ") + key + "=" + value);
    }
  }
}

TEST(SlurmStudy, MemoryMayDependOnParameters) {
  const StudySpec study = sound(on_slurm(R"({"memory": "{batch}G"})"));
  Configuration configuration = study.baseline;
  EXPECT_EQ(to_text(study.runner->resources_of(configuration)), "1 node mem=8G");
  configuration.set("batch", std::int64_t{16});
  EXPECT_EQ(to_text(study.runner->resources_of(configuration)), "1 node mem=16G");
  EXPECT_EQ(sound(study.document).fingerprint, study.fingerprint);
  for (const auto& [memory, machines] :
       {std::pair("8G", "1 node mem=8G"), std::pair("all", "1 node"), std::pair("0", "1 node"),
        std::pair("site", "1 node mem=site")}) {
    const StudySpec fixed = sound(on_slurm(Json{{"memory", memory}}.dump()));
    EXPECT_EQ(to_text(fixed.runner->resources_of(configuration)), machines);
  }

  Json labelled = on_slurm(R"({"memory": "{choice}"})");
  labelled["parameters"]["choice"]["choices"] = {"all", "site", "64G"};
  labelled["baseline"]["choice"] = "all";
  const StudySpec chosen = sound(labelled);
  for (const auto& [choice, machines] :
       {std::pair("all", "1 node"), std::pair("site", "1 node mem=site"),
        std::pair("64G", "1 node mem=64G")}) {
    configuration.set("choice", std::string(choice));
    EXPECT_EQ(to_text(chosen.runner->resources_of(configuration)), machines);
  }
  labelled["parameters"]["choice"]["choices"] = {"all", "64 G"};
  const auto refused = read(labelled);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              HasSubstr("/runner/memory: \"64 G\" cannot be given to sbatch"));
}

TEST(SlurmStudy, OptionsOfSrunMayDependOnParameters) {
  const StudySpec study = sound(on_slurm(
      R"({"cpus_per_task": "2 * batch", "step_options": ["--hint={choice}", "--exact"]})"));
  EXPECT_FALSE(study.runner->traits().machines_vary)
      << "options of a step do not change the allocation";
  EXPECT_EQ(study.document["runner"]["cpus_per_task"], "2 * batch");
  EXPECT_EQ(sound(study.document).fingerprint, study.fingerprint);

  const auto fault = [](const std::string& runner) {
    const auto refused = read(on_slurm(runner));
    return refused ? "" : refused.error().text();
  };
  EXPECT_THAT(fault(R"({"cpus_per_task": "batch / 3"})"),
              HasSubstr("/runner/cpus_per_task: \"batch / 3\" is not a number of processors"));
  EXPECT_THAT(fault(R"({"cpus_per_task": "batch", "exclusive": false})"),
              HasSubstr("/runner/cpus_per_task: must be a number if"));
  EXPECT_THAT(fault(R"({"step_options": ["--{choice}=1"]})"),
              HasSubstr("/runner/step_options/0: must name its option"));
}

TEST(SlurmStudy, TasksMayDependOnParameters) {
  const StudySpec study = sound(on_slurm(R"({"tasks_per_node": "2 * batch", "cpus_per_task": 2})"));
  EXPECT_FALSE(study.runner->traits().machines_vary) << "whole nodes have room for all";
  EXPECT_EQ(study.document["runner"]["tasks_per_node"], "2 * batch");
  EXPECT_EQ(sound(study.document).fingerprint, study.fingerprint);
  EXPECT_EQ(sound(on_slurm(R"({"tasks_per_node": 2})")).document["runner"]["tasks_per_node"], 2);

  const auto fault = [](const std::string& runner) {
    const auto refused = read(on_slurm(runner));
    return refused ? "" : refused.error().text();
  };
  EXPECT_THAT(fault(R"({"tasks_per_node": "batch / 3"})"),
              HasSubstr("/runner/tasks_per_node: \"batch / 3\" is not a number of tasks"));
  EXPECT_THAT(fault(R"({"tasks_per_node": "1000 * batch"})"),
              HasSubstr("/runner/tasks_per_node: \"1000 * batch\" is not a number of tasks"))
      << "the limit is the same as for a number";
  EXPECT_THAT(fault(R"({"tasks_per_node": "batch", "exclusive": false})"),
              HasSubstr("/runner/tasks_per_node: must be a number if"));
  EXPECT_THAT(fault(R"({"tasks_per_node": "cpus"})"), HasSubstr("\"cpus\" is mentioned"))
      << "the resources of the nodes are not known";
}

TEST(SlurmStudy, InheritedVariablesAreNamesOrBeginnings) {
  const StudySpec all = sound(on_slurm("{}"));
  EXPECT_FALSE(all.document["runner"].contains("inherit"));
  const StudySpec none = sound(on_slurm(R"({"inherit": []})"));
  const StudySpec some = sound(on_slurm(R"({"inherit": ["VIRTUAL_ENV", "CUDA_*"]})"));
  EXPECT_EQ(some.document["runner"]["inherit"], Json({"VIRTUAL_ENV", "CUDA_*"}));
  EXPECT_NE(none.fingerprint, all.fingerprint) << "inherited variables may change what is measured";
  EXPECT_NE(some.fingerprint, none.fingerprint);
  for (const char* wrong : {"A=b", "*", "A*B", "1A"}) {
    const auto refused = read(on_slurm(Json{{"inherit", {"HOME", wrong}}}.dump()));
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().text(),
                HasSubstr("/runner/inherit/1: must be the name of a variable"));
  }
}

TEST(SlurmStudy, WaitingMayBeWeighedWithOnePriceForAllPartitions) {
  const std::string partitions = R"({"partition": "{choice}", "price_per_node_hour": 12})";
  const StudySpec study = sound(on_slurm(partitions, R"({"waiting_per_hour": 60})"));
  EXPECT_EQ(study.search.waiting_per_hour, 60.0);

  const auto fault = [](const std::string& runner, const std::string& search) {
    const auto refused = read(on_slurm(runner, search));
    return refused ? "" : refused.error().text();
  };
  EXPECT_THAT(fault(R"({"price_per_node_hour": 12})", R"({"waiting_per_hour": 60})"),
              HasSubstr("/search/waiting_per_hour: has no effect: all trials of this study need "
                        "the same machine"));
  EXPECT_THAT(fault(partitions, R"({"searcher": "random", "waiting_per_hour": 60})"),
              HasSubstr("/search/waiting_per_hour: the searcher random does not weigh prices: use "
                        "bayes, or leave it out"));
}

}  // namespace
}  // namespace steptune
