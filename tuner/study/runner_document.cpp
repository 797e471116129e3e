// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common/text.hpp"
#include "tuner/study/runner_section.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

template <typename T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

Json count_json(const document::Formula& count) {
  const auto constant = parse_finite(count.text());
  return constant ? Json(static_cast<std::int64_t>(*constant)) : Json(count.text());
}

void put_cluster(const ClusterSpec& cluster, Json& entry) {
  if (cluster.instances.empty()) return;
  for (const InstancesSpec& instances : cluster.instances) {
    Json json = {{"instance_type", instances.type.text()},
                 {"instance_count", count_json(instances.count)}};
    if (instances.group.empty()) {
      entry.update(json);
    } else {
      json["name"] = instances.group;
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

Json written_runner(const RunnerSpec& runner) {
  Json entry = {{"type", runner.type}};
  if (runner.cluster.instances.empty()) entry["instances"] = runner.instances;
  entry["parallel"] = runner.parallel;
  put_cluster(runner.cluster, entry);
  put(entry, "price_per_hour", runner.price_per_hour);
  if (runner.type == "replay") {
    if (!runner.replay.table.empty()) entry["table"] = runner.replay.table.string();
    put(entry, "objective_column", runner.replay.objective_column);
    if (runner.replay.seconds_per_sample) {
      entry["seconds_per_sample"] = runner.replay.seconds_per_sample->text();
    }
    entry["startup"] = runner.replay.startup_s;
    entry["noise"] = runner.replay.noise;
  } else if (runner.type == "sagemaker") {
    put_sagemaker(runner.sagemaker, entry);
  } else {
    put(entry, "cpus_per_trial", runner.cpus_per_trial);
    put(entry, "gpus_per_trial", runner.gpus_per_trial);
    entry["pin"] = runner.pin;
  }
  return entry;
}

/// What decides the meaning of a measurement.
Json essence_of(const RunnerSpec& runner, const document::Writing& writing) {
  Json entry = written_runner(runner);
  if (entry.contains("table")) {
    entry["table"] = document::path().write(runner.replay.table, writing);
  }
  if (!runner.cluster.instances.empty() && !writing.cost_is_objective) entry.erase("prices");
  if (runner.type == "sagemaker") {
    if (!writing.cost_is_objective) entry.erase("spot_share");
    // Jobs measure the same wherever their output goes and however they are paid and watched.
    for (const char* key :
         {"role", "output", "checkpoints", "tags", "max_wait", "keep_alive", "poll", "parallel"}) {
      entry.erase(key);
    }
  }
  return entry;
}

constexpr const char* k_definitions = R"json({
  "local_runner": {
    "type": "object",
    "additionalProperties": false,
    "description": "Processes on this machine.",
    "properties": {
      "type": {
        "const": "local"
      },
      "price_per_hour": {
        "type": "number",
        "minimum": 0,
        "description": "USD per machine and hour."
      },
      "instances": {
        "type": "number",
        "minimum": 1,
        "default": 1.0,
        "description": "Machines that the planned run pays for."
      },
      "parallel": {
        "type": "integer",
        "minimum": 1,
        "maximum": 1024,
        "default": 1,
        "description": "Trials at the same time, each with its share of processors."
      },
      "cpus_per_trial": {
        "type": "integer",
        "minimum": 1,
        "description": "An equal share if absent."
      },
      "gpus_per_trial": {
        "type": "integer",
        "minimum": 0,
        "description": "An equal share if absent."
      },
      "pin": {
        "type": "boolean",
        "default": true,
        "description": "Bind each trial to its processors."
      }
    }
  },
  "replay_runner": {
    "type": "object",
    "additionalProperties": false,
    "required": [
      "type"
    ],
    "description": "Recorded or modelled step times under a virtual clock.",
    "properties": {
      "type": {
        "const": "replay"
      },
      "price_per_hour": {
        "type": "number",
        "minimum": 0,
        "description": "USD per machine and hour."
      },
      "instances": {
        "type": "number",
        "minimum": 1,
        "default": 1.0,
        "description": "Machines that the planned run pays for."
      },
      "parallel": {
        "type": "integer",
        "minimum": 1,
        "maximum": 1024,
        "default": 1,
        "description": "Trials at the same time."
      },
      "table": {
        "type": "string",
        "minLength": 1,
        "description": "JSON file of a recorded table, relative to the study file's folder."
      },
      "objective_column": {
        "type": "string",
        "description": "Column of the table with seconds per sample; the table's own objective if absent."
      },
      "seconds_per_sample": {
        "anyOf": [
          {
            "type": "number",
            "exclusiveMinimum": 0
          },
          {
            "$ref": "#/$defs/expression"
          }
        ],
        "description": "Model in place of a table."
      },
      "startup": {
        "$ref": "#/$defs/duration",
        "default": 5.0,
        "description": "Process start to first step."
      },
      "noise": {
        "type": "number",
        "minimum": 0,
        "maximum": 10,
        "default": 0.01,
        "description": "Relative standard deviation of a step."
      },
      "instance_type": {
        "$ref": "#/$defs/instance_type"
      },
      "instance_count": {
        "$ref": "#/$defs/instance_count"
      },
      "instance_groups": {
        "$ref": "#/$defs/instance_groups"
      },
      "prices": {
        "$ref": "#/$defs/prices"
      },
      "price_table": {
        "type": "string",
        "minLength": 1,
        "description": "Price table file, relative to the study file's folder; the one of us-east-1 if absent."
      }
    }
  },
  "instance_type": {
    "type": "string",
    "minLength": 1,
    "description": "Template: ml.g5.xlarge, or {instance} for a parameter's value."
  },
  "instance_count": {
    "anyOf": [
      {
        "type": "integer",
        "minimum": 0,
        "maximum": 1000
      },
      {
        "$ref": "#/$defs/expression"
      }
    ],
    "description": "A number, or an expression over parameters. A group of 0 instances is left out."
  },
  "instance_groups": {
    "type": "array",
    "minItems": 1,
    "maxItems": 5,
    "items": {
      "$ref": "#/$defs/instance_group"
    },
    "description": "Heterogeneous cluster, in place of instance_type."
  },
  "instance_group": {
    "type": "object",
    "additionalProperties": false,
    "required": [
      "name",
      "instance_type"
    ],
    "properties": {
      "name": {
        "type": "string",
        "minLength": 1,
        "maxLength": 64,
        "description": "Name of the group, for channels and the program."
      },
      "instance_type": {
        "$ref": "#/$defs/instance_type"
      },
      "instance_count": {
        "$ref": "#/$defs/instance_count"
      }
    }
  },
  "prices": {
    "type": "object",
    "additionalProperties": {
      "anyOf": [
        {
          "type": "number",
          "exclusiveMinimum": 0
        },
        {
          "$ref": "#/$defs/instance_price"
        }
      ]
    },
    "description": "USD per hour by instance type; these win over the price table."
  },
  "instance_price": {
    "type": "object",
    "additionalProperties": false,
    "required": [
      "usd_per_hour"
    ],
    "properties": {
      "usd_per_hour": {
        "type": "number",
        "exclusiveMinimum": 0,
        "description": "On demand, one instance."
      },
      "vcpus": {
        "type": "integer",
        "minimum": 1,
        "description": "Processors of the instance."
      },
      "memory_gib": {
        "type": "number",
        "exclusiveMinimum": 0,
        "description": "Memory of the instance."
      },
      "gpus": {
        "type": "integer",
        "minimum": 0,
        "description": "GPUs of the instance."
      }
    }
  },
  "s3_uri": {
    "type": "string",
    "pattern": "^(https|s3)://[^/]+",
    "description": "s3://bucket/prefix"
  },
  "input_mode": {
    "enum": [
      "File",
      "FastFile",
      "Pipe"
    ],
    "description": "How data in S3 reaches the instances."
  },
  "channel": {
    "type": "object",
    "additionalProperties": false,
    "description": "Input data of every job.",
    "properties": {
      "s3": {
        "$ref": "#/$defs/s3_uri"
      },
      "input_mode": {
        "$ref": "#/$defs/input_mode"
      },
      "content_type": {
        "type": "string",
        "maxLength": 256,
        "description": "MIME type of the data."
      },
      "instance_groups": {
        "type": "array",
        "maxItems": 16,
        "items": {
          "type": "string"
        },
        "description": "The groups that read this channel; either all channels name some or none does."
      },
      "file_system": {
        "type": "string",
        "pattern": "^fs-[0-9a-f]{8,}$",
        "description": "Id of an EFS or FSx for Lustre file system, in place of s3; needs subnets and security groups."
      },
      "file_system_type": {
        "enum": [
          "EFS",
          "FSxLustre"
        ],
        "description": "Kind of the file system."
      },
      "path": {
        "type": "string",
        "description": "Folder of the file system."
      }
    }
  },
  "sagemaker_runner": {
    "type": "object",
    "additionalProperties": false,
    "required": [
      "type",
      "role",
      "output"
    ],
    "description": "SageMaker training jobs.",
    "properties": {
      "type": {
        "const": "sagemaker"
      },
      "region": {
        "type": "string",
        "pattern": "^[a-z0-9-]{1,40}$",
        "description": "The AWS configuration's if absent."
      },
      "role": {
        "type": "string",
        "description": "ARN of the role that jobs run under."
      },
      "image": {
        "type": "string",
        "maxLength": 255,
        "description": "Container image."
      },
      "algorithm": {
        "type": "string",
        "maxLength": 170,
        "description": "Algorithm resource, in place of an image."
      },
      "input_mode": {
        "$ref": "#/$defs/input_mode",
        "default": "FastFile"
      },
      "channels": {
        "type": "object",
        "maxProperties": 20,
        "additionalProperties": {
          "anyOf": [
            {
              "$ref": "#/$defs/s3_uri"
            },
            {
              "$ref": "#/$defs/channel"
            }
          ]
        },
        "description": "Input data by name of the channel: /opt/ml/input/data/NAME."
      },
      "output": {
        "$ref": "#/$defs/s3_uri"
      },
      "checkpoints": {
        "$ref": "#/$defs/s3_uri"
      },
      "code": {
        "$ref": "#/$defs/s3_uri",
        "description": "Folder with the program; the command runs in a copy of it."
      },
      "subnets": {
        "type": "array",
        "maxItems": 16,
        "items": {
          "type": "string"
        },
        "description": "Of the VPC that jobs run in."
      },
      "security_groups": {
        "type": "array",
        "maxItems": 5,
        "items": {
          "type": "string"
        },
        "description": "Of the VPC that jobs run in."
      },
      "tags": {
        "type": "object",
        "maxProperties": 50,
        "additionalProperties": {
          "type": "string"
        },
        "description": "Tags of every job."
      },
      "volume_gb": {
        "type": "integer",
        "minimum": 1,
        "maximum": 16384,
        "default": 30,
        "description": "Disk of each instance."
      },
      "network_isolation": {
        "type": "boolean",
        "default": false,
        "description": "No network inside the container."
      },
      "encrypt_traffic": {
        "type": "boolean",
        "default": false,
        "description": "Encrypt what instances of a job send to each other."
      },
      "spot": {
        "type": "boolean",
        "default": false,
        "description": "Managed spot: cheaper, may be interrupted, no warm pools."
      },
      "spot_share": {
        "type": "number",
        "minimum": 0.01,
        "maximum": 1,
        "description": "Expected bill of managed spot as a share of on demand; 0.35 if absent."
      },
      "max_wait": {
        "$ref": "#/$defs/duration",
        "description": "Spot: waiting and running together; twice the wall limit if absent."
      },
      "keep_alive": {
        "$ref": "#/$defs/duration",
        "description": "Longest life of an unused warm pool, at most 6 h; 0: no pools."
      },
      "poll": {
        "$ref": "#/$defs/duration",
        "description": "Between looks at jobs and their logs, 0.1 s to 1 min; 5 s if absent."
      },
      "instance_type": {
        "$ref": "#/$defs/instance_type"
      },
      "instance_count": {
        "$ref": "#/$defs/instance_count"
      },
      "instance_groups": {
        "$ref": "#/$defs/instance_groups"
      },
      "parallel": {
        "type": "integer",
        "minimum": 1,
        "maximum": 1024,
        "default": 1,
        "description": "Jobs at the same time."
      },
      "prices": {
        "$ref": "#/$defs/prices"
      },
      "price_table": {
        "type": "string",
        "minLength": 1,
        "description": "Price table file, relative to the study file's folder; the region's shipped one if absent."
      }
    }
  }
})json";

Json runner_schema(Json& definitions) {
  definitions.update(Json::parse(k_definitions));
  return {{"anyOf",
           {{{"$ref", "#/$defs/local_runner"}},
            {{"$ref", "#/$defs/replay_runner"}},
            {{"$ref", "#/$defs/sagemaker_runner"}}}}};
}

}  // namespace

Key<StudySpec> runner_key() {
  return {"runner", [](const Node& node, StudySpec& study) { study.runner = read_runner(node); },
          [](const StudySpec& study, const document::Writing& writing) {
            return std::optional(writing.fingerprint ? essence_of(study.runner, writing)
                                                     : written_runner(study.runner));
          },
          runner_schema};
}

}  // namespace steptune::study
