// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/runner_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tuner/study/cluster_section.hpp"
#include "tuner/study/sagemaker_section.hpp"
#include "tuner/study/study_keys.hpp"

namespace steptune::study {
namespace {

constexpr double k_max_duration_s = 30.0 * 86'400.0;

void read_common(const ObjectNode& object, RunnerSpec& runner) {
  object.read_number("price_per_hour", runner.price_per_hour, {0.0, 1e6});
  object.read_number("instances", runner.instances, {1.0, 10'000.0});
  object.read_integer("parallel", runner.parallel, {1.0, 1024.0});
}

void read_local(const ObjectNode& object, RunnerSpec& runner, const Facts& facts) {
  object.read_integer("cpus_per_trial", runner.cpus_per_trial, {1.0, 65'536.0});
  object.read_integer("gpus_per_trial", runner.gpus_per_trial, {0.0, 1024.0});
  object.read_boolean("pin", runner.pin);
  const auto check_share = [&](std::string_view key, const std::optional<int>& share,
                               std::string_view fact) {
    const auto found = facts.find(fact);
    if (!share || found == facts.end()) return;
    const double wanted = static_cast<double>(*share) * runner.parallel;
    if (wanted <= found->second) return;
    object.find(key)->fault(fmt::format("{} trials with {} {} each need {}; this machine has {}",
                                        runner.parallel, *share, fact, wanted, found->second));
  };
  check_share("cpus_per_trial", runner.cpus_per_trial, "cpus");
  check_share("gpus_per_trial", runner.gpus_per_trial, "gpus");
}

void read_replay(const ObjectNode& object, RunnerSpec& runner, const ParameterSection& parameters,
                 const Facts& facts, const std::filesystem::path& folder) {
  ReplaySpec& replay = runner.replay;
  if (const auto table = object.find("table")) {
    const auto path = table->text();
    if (path && path->empty()) table->fault("the path is empty");
    if (path && !path->empty()) replay.table = (folder / *path).lexically_normal();
  }
  if (const auto column = object.find("objective_column")) {
    replay.objective_column = column->text(200);
    if (!object.has("table")) column->fault("names a column of a table, but no \"table\" is given");
  }
  if (const auto model = object.find("seconds_per_sample")) {
    if (model->json().is_number()) {
      const auto constant = model->number({1e-12, 1e9});
      if (constant) replay.seconds_per_sample = to_text(Value(*constant));
    } else {
      replay.seconds_per_sample = read_expression(*model, parameters.names(), facts);
    }
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

RunnerSpec read_runner(const Node& node, const ParameterSection& parameters, const Facts& facts,
                       const std::filesystem::path& folder) {
  RunnerSpec runner;
  if (node.json().is_object()) {
    const auto type = node.json().find("type");
    if (type != node.json().end()) {
      const auto index =
          Node(*type, node.pointer() + "/type", node.faults()).one_of(names::k_runners);
      if (!index) return runner;
      runner.type = names::k_runners[*index];
    }
  }
  if (runner.type == "replay") {
    const ObjectNode object(node, "an object", keys::k_replay_runner);
    read_common(object, runner);
    read_replay(object, runner, parameters, facts, folder);
    runner.cluster = read_cluster(object, parameters, facts, folder, {});
    for (const char* key : {"price_per_hour", "instances"}) {
      if (runner.cluster.machines.empty() || !object.has(key)) continue;
      object.find(key)->fault("the instances and their prices are given already; remove this one");
    }
    for (const char* key : {"prices", "price_table"}) {
      if (!runner.cluster.machines.empty() || !object.has(key)) continue;
      object.find(key)->fault("prices instances, but no \"instance_type\" is given");
    }
  } else if (runner.type == "sagemaker") {
    runner = read_sagemaker(node, parameters, facts, folder);
  } else {
    const ObjectNode object(node, "an object such as {\"type\": \"local\"}", keys::k_local_runner);
    read_common(object, runner);
    read_local(object, runner, facts);
  }
  return runner;
}

void read_limits(const Node& node, RunnerSpec& runner) {
  const ObjectNode object(node, "an object such as {\"wall\": \"1h\"}", keys::k_limits);
  object.read_duration_s("wall", runner.wall_limit_s, {1.0, k_max_duration_s});
  object.read_duration_s("idle", runner.idle_limit_s, {1.0, k_max_duration_s});
  object.read_duration_s("grace", runner.grace_s, {0.0, 3600.0});
  if (const auto memory = object.find("memory")) {
    runner.memory_limit_bytes = memory->bytes({0x1p20, 0x1p60});
  }
}

}  // namespace steptune::study
