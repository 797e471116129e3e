// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/counting_parameter.hpp"

#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

/// Returns the parameter that counts machines in a study of `parameters`, which `patch` changes;
/// empty if there is none.
std::string counting(const std::string& parameters, const std::string& patch = "{}") {
  Json document = {{"name", "s"}, {"command", {"train"}}, {"baseline", Json::object()}};
  document["parameters"] = *parse_json(parameters, "parameters");
  for (const auto& [name, parameter] : document["parameters"].items()) {
    document["command"].push_back("{" + name + "}");
    document["baseline"][name] =
        parameter.contains("low") ? parameter["low"] : parameter["choices"].front();
  }
  document["runner"] = {{"type", "local"}};
  document.merge_patch(*parse_json(patch, "patch"));
  return counting_parameter(testing::sound(document)).value_or("");
}

TEST(CountingParameter, IsFoundByItsName) {
  EXPECT_EQ(counting(R"({"x": {"type": "int", "low": 1, "high": 8}})"), "");
  for (const char* name : {"nodes", "instances", "machines", "world_size", "gpus_per_node"}) {
    EXPECT_EQ(counting(std::string(R"({"x": {"type": "int", "low": 1, "high": 2}, ")") + name +
                       R"(": {"type": "int", "low": 1, "high": 8}})"),
              name);
  }
}

TEST(CountingParameter, IsNoNumberOfADataLoadersWorkers) {
  for (const char* name : {"workers", "num_workers", "workers_count"}) {
    EXPECT_EQ(counting(std::string(R"({")") + name + R"(": {"type": "int", "low": 1, "high": 8}})"),
              "")
        << name;
  }
}

TEST(CountingParameter, PrefersMachinesToProcesses) {
  EXPECT_EQ(counting(R"({"gpus_per_node": {"type": "int", "low": 1, "high": 8},
                         "nodes": {"type": "int", "low": 1, "high": 4}})"),
            "nodes");
}

TEST(CountingParameter, IsANumber) {
  EXPECT_EQ(counting(R"({"nodes": {"type": "categorical", "choices": ["few", "many"]}})"), "");
  EXPECT_EQ(counting(R"({"nodes": {"type": "categorical", "choices": [1, 2, 4]}})"), "nodes");
  EXPECT_EQ(counting(R"({"nodes": {"type": "categorical", "choices": [1, true]}})"), "");
}

TEST(CountingParameter, KeysOfALaunchNameIt) {
  EXPECT_EQ(counting(R"({"n": {"type": "int", "low": 1, "high": 4},
                         "machines": {"type": "int", "low": 1, "high": 4}})",
                     R"({"command": ["python3", "train.py", "{machines}"],
                         "launch": {"with": "torchrun", "processes_per_node": "{n}"}})"),
            "n");
}

TEST(IsNumeric, IsTrueIfAllValuesAreNumbers) {
  Parameter parameter;
  parameter.kind = ParameterKind::integer;
  EXPECT_TRUE(is_numeric(parameter));
  parameter.kind = ParameterKind::floating;
  EXPECT_TRUE(is_numeric(parameter));
  parameter.kind = ParameterKind::boolean;
  EXPECT_FALSE(is_numeric(parameter));
  parameter.kind = ParameterKind::ordinal;
  parameter.choices = {Value(std::int64_t{1}), Value(2.5)};
  EXPECT_TRUE(is_numeric(parameter));
  parameter.choices.emplace_back("3");
  EXPECT_FALSE(is_numeric(parameter)) << "a string that writes a number";
}

TEST(CountsMachines, ByName) {
  for (const char* name : {"nodes", "nnodes", "instance_count"})
    EXPECT_TRUE(counts_machines(name)) << name;
  for (const char* name : {"world_size", "processes", "gpus", "workers_count", "x", ""})
    EXPECT_FALSE(counts_machines(name)) << name;
}

}  // namespace
}  // namespace steptune
