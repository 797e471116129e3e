// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/runner_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/document/type.hpp"
#include "tuner/study/cluster_section.hpp"
#include "tuner/study/sagemaker_section.hpp"
#include "tuner/study/study_keys.hpp"

namespace steptune::study {
namespace {

using document::ObjectNode;

constexpr double k_max_duration_s = 30.0 * 86'400.0;

void read_common(const ObjectNode& object, RunnerSpec& runner) {
  object.read_number("price_per_hour", runner.price_per_hour, {0.0, 1e6});
  object.read_number("instances", runner.instances, {1.0, 10'000.0});
  object.read_integer("parallel", runner.parallel, {1.0, 1024.0});
}

void read_local(const ObjectNode& object, RunnerSpec& runner) {
  object.read_integer("cpus_per_trial", runner.cpus_per_trial, {1.0, 65'536.0});
  object.read_integer("gpus_per_trial", runner.gpus_per_trial, {0.0, 1024.0});
  object.read_boolean("pin", runner.pin);
  const auto check_share = [&](std::string_view key, const std::optional<int>& share,
                               std::string_view fact) {
    const auto found = object.node().reading().scope->fact(fact);
    if (!share || !found) return;
    const double wanted = static_cast<double>(*share) * runner.parallel;
    if (wanted <= *found) return;
    object.find(key)->fault(fmt::format("{} trials with {} {} each need {}; this machine has {}",
                                        runner.parallel, *share, fact, wanted, *found));
  };
  check_share("cpus_per_trial", runner.cpus_per_trial, "cpus");
  check_share("gpus_per_trial", runner.gpus_per_trial, "gpus");
}

void read_replay(const ObjectNode& object, RunnerSpec& runner) {
  ReplaySpec& replay = runner.replay;
  if (const auto table = object.find("table")) {
    replay.table = document::path().read(*table).value_or("");
  }
  if (const auto column = object.find("objective_column")) {
    replay.objective_column = column->string(200);
    if (!object.has("table")) column->fault("names a column of a table, but no \"table\" is given");
  }
  if (const auto model = object.find("seconds_per_sample")) {
    replay.seconds_per_sample = document::formula_or_number({1e-12, 1e9}).read(*model);
    if (object.has("table"))
      model->fault("give either \"table\" or \"seconds_per_sample\", not both");
  }
  if (!object.has("table") && !object.has("seconds_per_sample")) {
    object.node().fault(
        "give \"table\", a recorded table's JSON file, or \"seconds_per_sample\", an "
        "expression over parameters");
  }
  object.read_duration_s("startup", replay.startup_s, {0.0, k_max_duration_s});
  object.read_number("noise", replay.noise, {0.0, 10.0});
}

}  // namespace

RunnerSpec read_runner(const Node& node) {
  RunnerSpec runner;
  if (node.json().is_object()) {
    if (node.json().contains("type")) {
      const auto index = node.child("type").one_of(document::to_strings(names::k_runners));
      if (!index) return runner;
      runner.type = names::k_runners[*index];
    }
  }
  if (runner.type == "replay") {
    const ObjectNode object(node, "an object", keys::k_replay_runner);
    read_common(object, runner);
    read_replay(object, runner);
    runner.cluster = read_cluster(object, {});
    for (const char* key : {"price_per_hour", "instances"}) {
      if (runner.cluster.instances.empty() || !object.has(key)) continue;
      object.find(key)->fault("the instances and their prices are given already; remove this one");
    }
    for (const char* key : {"prices", "price_table"}) {
      if (!runner.cluster.instances.empty() || !object.has(key)) continue;
      object.find(key)->fault("prices instances, but no \"instance_type\" is given");
    }
  } else if (runner.type == "sagemaker") {
    runner = read_sagemaker(node);
  } else {
    const ObjectNode object(node, "an object such as {\"type\": \"local\"}", keys::k_local_runner);
    read_common(object, runner);
    read_local(object, runner);
  }
  return runner;
}

}  // namespace steptune::study
