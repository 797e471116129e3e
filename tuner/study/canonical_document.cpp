// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/canonical_document.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/text.hpp"
#include "tuner/study/study_keys.hpp"
#include "tuner/study/text_template.hpp"

namespace steptune::study {
namespace {

template <typename T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

Json part_json(const CommandPart& part, const SearchSpace& space) {
  bool plain = !part.when && part.args.size() == 1;
  if (plain) {
    for (const std::string& name : TextTemplate::parse(part.args.front())->parameters()) {
      plain = plain && !space.find(name)->when;
    }
  }
  if (plain) return part.args.front();
  Json json = Json::object();
  put(json, "when", part.when);
  json["args"] = part.args;
  return json;
}

Json choices_json(const Parameter& parameter,
                  const std::map<std::string, std::map<std::string, std::string>>& all_texts) {
  const auto texts = all_texts.find(parameter.name);
  if (texts != all_texts.end()) {
    Json json = Json::object();
    for (const Value& choice : parameter.choices) {
      json[to_text(choice)] = texts->second.at(to_text(choice));
    }
    return json;
  }
  Json json = Json::array();
  for (const Value& choice : parameter.choices)
    json.push_back(to_json(choice));
  return json;
}

Json parameter_json(const Parameter& parameter, const StudySpec& study) {
  Json json = {{"type", names::k_parameter_types[static_cast<std::size_t>(parameter.kind)]}};
  const bool whole = parameter.kind == ParameterKind::integer;
  const auto number = [&](double value) {
    return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
  };
  if (whole || parameter.kind == ParameterKind::floating) {
    json["low"] = number(parameter.low);
    json["high"] = number(parameter.high);
    if (parameter.step) json["step"] = number(*parameter.step);
    json["scale"] = names::k_scales[static_cast<std::size_t>(parameter.scale)];
  } else if (parameter.kind != ParameterKind::boolean) {
    json["choices"] = choices_json(parameter, study.choice_texts);
  }
  put(json, "when", parameter.when);
  if (parameter.memory != MemoryEffect::unknown) {
    json["memory"] = names::k_memory_effects[parameter.memory == MemoryEffect::increases ? 0 : 1];
  }
  return json;
}

Json goals_json(const StudySpec& study, Json json) {
  json["planned_run"] = Json::object();
  put(json["planned_run"], "samples", study.planned_run.samples);
  put(json["planned_run"], "batch_size", study.planned_run.batch_size);
  json["objectives"] = Json::array();
  for (const Objective& objective : study.objectives) {
    json["objectives"].push_back(
        {{"metric", objective.metric},
         {"direction", names::k_directions[static_cast<std::size_t>(objective.direction)]}});
  }
  json["guards"] = Json::array();
  for (const Guard& guard : study.guards) {
    Json entry = {{"metric", guard.metric}, {"after_samples", guard.after_samples}};
    put(entry, "max", guard.max);
    put(entry, "min", guard.min);
    put(entry, "max_ratio_to_baseline", guard.max_ratio_to_baseline);
    put(entry, "min_ratio_to_baseline", guard.min_ratio_to_baseline);
    json["guards"].push_back(std::move(entry));
  }
  return json;
}

Json search_json(const StudySpec& study, Json json) {
  const SearchSpec& search = study.search;
  json["search"] = {{"searcher", search.searcher},   {"scheduler", search.scheduler},
                    {"seed", search.seed},           {"eta", search.eta},
                    {"min_steps", search.min_steps}, {"max_steps", search.max_steps}};
  put(json["search"], "initial_points", search.initial_points);
  if (!search.learn_from.empty()) json["search"]["learn_from"] = search.learn_from;
  json["try"] = Json::array();
  for (const Configuration& hint : search.hints)
    json["try"].push_back(to_json(hint));
  json["budget"] = {{"consecutive_failures", study.budget.consecutive_failures}};
  put(json["budget"], "trials", study.budget.trials);
  put(json["budget"], "time", study.budget.time_s);
  put(json["budget"], "cost", study.budget.cost_usd);
  if (study.budget.stop_at_payback) json["budget"]["stop"] = names::k_stops[0];
  json["measure"] = {{"target_half_width", study.measure.target_half_width},
                     {"max_trial", study.measure.max_trial_s},
                     {"min_window", study.measure.min_window_s},
                     {"min_window_steps", study.measure.min_window_steps},
                     {"confirm_pairs", study.measure.confirm_pairs}};
  return json;
}

Json count_json(const std::string& count) {
  const auto constant = parse_finite(count);
  return constant ? Json(static_cast<std::int64_t>(*constant)) : Json(count);
}

void put_cluster(const ClusterSpec& cluster, Json& entry) {
  if (cluster.machines.empty()) return;
  for (const MachinesSpec& machines : cluster.machines) {
    Json json = {{"instance_type", machines.instance_type},
                 {"instance_count", count_json(machines.instance_count)}};
    if (machines.group.empty()) {
      entry.update(json);
    } else {
      json["name"] = machines.group;
      entry["instance_groups"].push_back(std::move(json));
    }
  }
  for (const auto& [name, type] : cluster.prices) {
    Json json = {{"usd_per_hour", type.usd_per_hour}, {"gpus", type.gpus}};
    if (type.vcpus > 0) json["vcpus"] = type.vcpus;
    if (type.memory_gib > 0.0) json["memory_gib"] = type.memory_gib;
    entry["prices"][name] = std::move(json);
  }
}

Json channel_json(const Channel& channel) {
  Json json = Json::object();
  const auto put_text = [&](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = text;
  };
  put_text("s3", channel.s3_uri);
  put_text("input_mode", channel.input_mode);
  put_text("content_type", channel.content_type);
  put_text("file_system", channel.file_system_id);
  put_text("file_system_type", channel.file_system_type);
  put_text("path", channel.directory_path);
  if (!channel.instance_groups.empty()) json["instance_groups"] = channel.instance_groups;
  return json;
}

void put_sagemaker(const SageMakerSpec& spec, Json& entry) {
  const JobSettings& job = spec.settings;
  const auto put_text = [&](const char* key, const std::string& text) {
    if (!text.empty()) entry[key] = text;
  };
  put_text("region", spec.region);
  put_text("role", job.role_arn);
  put_text("image", job.image);
  put_text("algorithm", job.algorithm_name);
  put_text("input_mode", job.input_mode);
  for (const Channel& channel : job.channels)
    entry["channels"][channel.name] = channel_json(channel);
  put_text("output", job.output_s3_uri);
  put_text("checkpoints", job.checkpoint_s3_uri);
  put_text("code", job.code_s3_uri);
  if (!job.subnets.empty()) entry["subnets"] = job.subnets;
  if (!job.security_group_ids.empty()) entry["security_groups"] = job.security_group_ids;
  if (!job.tags.empty()) entry["tags"] = job.tags;
  entry["volume_gb"] = job.volume_gb;
  entry["network_isolation"] = job.network_isolation;
  entry["encrypt_traffic"] = job.encrypt_traffic;
  entry["spot"] = job.spot;
  if (job.spot) {
    entry["spot_share"] = spec.spot_share;
    entry["max_wait"] = job.max_wait_s;
  }
  put(entry, "keep_alive", spec.keep_alive_s);
  entry["poll"] = spec.poll_s;
}

Json runner_json(const StudySpec& study, Json json) {
  json["reports"] = {{"metrics", Json::array()}};
  put(json["reports"], "preset", study.report_format.preset);
  for (const MetricDefinition& metric : study.report_format.metrics) {
    json["reports"]["metrics"].push_back({{"name", metric.name}, {"regex", metric.regex}});
  }
  const RunnerSpec& runner = study.runner;
  Json& entry = json["runner"];
  entry = {{"type", runner.type}};
  if (runner.cluster.machines.empty()) entry["instances"] = runner.instances;
  entry["parallel"] = runner.parallel;
  put_cluster(runner.cluster, entry);
  put(entry, "price_per_hour", runner.price_per_hour);
  if (runner.type == "replay") {
    if (!runner.replay.table.empty()) entry["table"] = runner.replay.table.string();
    put(entry, "objective_column", runner.replay.objective_column);
    put(entry, "seconds_per_sample", runner.replay.seconds_per_sample);
    entry["startup"] = runner.replay.startup_s;
    entry["noise"] = runner.replay.noise;
  } else if (runner.type == "sagemaker") {
    put_sagemaker(runner.sagemaker, entry);
  } else {
    put(entry, "cpus_per_trial", runner.cpus_per_trial);
    put(entry, "gpus_per_trial", runner.gpus_per_trial);
    entry["pin"] = runner.pin;
  }
  json["limits"] = {
      {"wall", runner.wall_limit_s}, {"idle", runner.idle_limit_s}, {"grace", runner.grace_s}};
  put(json["limits"], "memory", runner.memory_limit_bytes);
  return json;
}

}  // namespace

Json canonical_document(const StudySpec& study) {
  Json json = {{"name", study.name}};
  if (!study.command.empty()) {
    json["command"] = Json::array();
    for (const CommandPart& part : study.command) {
      json["command"].push_back(part_json(part, study.space));
    }
  }
  json["env"] = Json::object();
  for (const auto& [name, text] : study.environment)
    json["env"][name] = text;
  json["working_directory"] = study.working_directory.string();
  json["facts"] = Json::object();
  for (const auto& [name, value] : study.facts)
    json["facts"][name] = value;
  json["parameters"] = Json::object();
  for (const Parameter& parameter : study.space.parameters()) {
    json["parameters"][parameter.name] = parameter_json(parameter, study);
  }
  json["constraints"] = study.space.constraints();
  json["baseline"] = to_json(study.baseline);
  return runner_json(study, search_json(study, goals_json(study, std::move(json))));
}

}  // namespace steptune::study
