// SPDX-License-Identifier: Apache-2.0
// The schema for editors must say what the validator does: same keys, same names, same defaults.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/scheduler.hpp"
#include "search/searcher.hpp"
#include "tests/unit/study/study_fixture.hpp"
#include "trial_runner/reports/preset.hpp"
#include "tuner/study/study_keys.hpp"

namespace steptune {
namespace {

using Names = std::span<const std::string_view>;
using ::testing::UnorderedElementsAreArray;

Json schema() {
  auto json = read_json_file(STEPTUNE_SOURCE_DIR "/configs/study.schema.json");
  if (!json) throw std::runtime_error(json.error().text());
  return *json;
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items())
    keys.push_back(key);
  return keys;
}

std::vector<std::string> strings(Names names) {
  return {names.begin(), names.end()};
}

/// Every object of the format: where the schema describes it, and the validator's keys.
const std::map<std::string, Names>& objects() {
  namespace keys = study::keys;
  static const std::map<std::string, Names> k_objects = {
      {"", keys::k_study},
      {"/$defs/facts", keys::k_facts},
      {"/$defs/command_part", keys::k_command_part},
      {"/$defs/range_parameter", keys::k_range_parameter},
      {"/$defs/bool_parameter", keys::k_bool_parameter},
      {"/$defs/categorical_parameter", keys::k_categorical_parameter},
      {"/$defs/ordinal_parameter", keys::k_ordinal_parameter},
      {"/$defs/planned_run", keys::k_planned_run},
      {"/$defs/objective", keys::k_objective},
      {"/$defs/guard", keys::k_guard},
      {"/$defs/search", keys::k_search},
      {"/$defs/budget", keys::k_budget},
      {"/$defs/measure", keys::k_measure},
      {"/$defs/reports", keys::k_reports},
      {"/$defs/metric_definition", keys::k_metric_definition},
      {"/$defs/local_runner", keys::k_local_runner},
      {"/$defs/replay_runner", keys::k_replay_runner},
      {"/$defs/sagemaker_runner", keys::k_sagemaker_runner},
      {"/$defs/channel", keys::k_channel},
      {"/$defs/instance_group", keys::k_instance_group},
      {"/$defs/instance_price", keys::k_instance_price},
      {"/$defs/limits", keys::k_limits}};
  return k_objects;
}

Json at(const Json& json, const std::string& pointer) {
  return json.at(Json::json_pointer(pointer));
}

TEST(StudySchema, HasTheKeysThatTheValidatorKnowsAndNoOthers) {
  const Json json = schema();
  for (const auto& [pointer, keys] : objects()) {
    const Json object = at(json, pointer);
    EXPECT_THAT(keys_of(object["properties"]), UnorderedElementsAreArray(strings(keys))) << pointer;
    EXPECT_EQ(object["additionalProperties"], false) << pointer;
  }
}

TEST(StudySchema, DescribesNoObjectThatTheValidatorDoesNotKnow) {
  for (const auto& [name, definition] : schema()["$defs"].items()) {
    if (!definition.contains("properties")) continue;
    EXPECT_TRUE(objects().contains("/$defs/" + name)) << name;
  }
}

TEST(StudySchema, ExplainsEveryKey) {
  const Json json = schema();
  for (const auto& [pointer, keys] : objects()) {
    for (const auto& [key, property] : at(json, pointer)["properties"].items()) {
      EXPECT_TRUE(property.contains("description") || property.contains("$ref") ||
                  property.contains("const"))
          << pointer << "/" << key;
    }
  }
}

TEST(StudySchema, HasTheNamesThatTheValidatorKnows) {
  namespace names = study::names;
  const Json json = schema();
  const auto enumerated = [&](const std::string& pointer) {
    return at(json, pointer + "/enum").get<std::vector<std::string>>();
  };
  EXPECT_EQ(enumerated("/$defs/range_parameter/properties/scale"), strings(names::k_scales));
  EXPECT_EQ(enumerated("/$defs/memory"), strings(names::k_memory_effects));
  EXPECT_EQ(enumerated("/$defs/objective/properties/direction"), strings(names::k_directions));
  EXPECT_EQ(enumerated("/$defs/search/properties/searcher"), strings(names::k_searchers));
  EXPECT_EQ(enumerated("/$defs/search/properties/scheduler"), strings(names::k_schedulers));
  EXPECT_EQ(enumerated("/$defs/preset"), strings(names::k_presets));
  EXPECT_EQ(at(json, "/$defs/budget/properties/stop/const"), names::k_stops[0]);
  EXPECT_EQ(at(json, "/$defs/local_runner/properties/type/const"), names::k_runners[0]);
  EXPECT_EQ(at(json, "/$defs/replay_runner/properties/type/const"), names::k_runners[1]);
  EXPECT_EQ(at(json, "/$defs/sagemaker_runner/properties/type/const"), names::k_runners[2]);
  EXPECT_EQ(enumerated("/$defs/input_mode"), strings(names::k_input_modes));
  EXPECT_EQ(enumerated("/$defs/channel/properties/file_system_type"),
            strings(names::k_file_systems));
  std::vector<std::string> types = enumerated("/$defs/range_parameter/properties/type");
  for (const char* type : {"bool", "categorical", "ordinal"}) {
    types.push_back(at(json, fmt::format("/$defs/{}_parameter/properties/type/const", type))
                        .get<std::string>());
  }
  EXPECT_EQ(types, strings(names::k_parameter_types));
}

TEST(StudyNames, AreThoseOfTheComponentsBehindThem) {
  EXPECT_THAT(searcher_names(), UnorderedElementsAreArray(strings(study::names::k_searchers)));
  EXPECT_THAT(scheduler_names(), UnorderedElementsAreArray(strings(study::names::k_schedulers)));
  const auto presets = preset_names();
  EXPECT_THAT((std::vector<std::string>(presets.begin(), presets.end())),
              UnorderedElementsAreArray(strings(study::names::k_presets)));
}

TEST(StudySchema, StatesTheDefaultsThatTheValidatorFillsIn) {
  Json document = testing::study_document();
  for (const char* key : {"guards", "search", "budget", "constraints"})
    document.erase(key);
  document["objectives"] = {"time"};
  document["runner"] = {{"type", "local"}};
  const StudySpec local = testing::sound(document);
  document["runner"] = {{"type", "replay"}, {"seconds_per_sample", 0.001}};
  const StudySpec replay = testing::sound(document);

  document["facts"] = {{"cpus", 8}};
  document["runner"] = {{"type", "sagemaker"},
                        {"role", "arn:aws:iam::123456789012:role/training"},
                        {"image", "train:1"},
                        {"output", "s3://bucket/out"},
                        {"instance_type", "ml.g5.xlarge"}};
  const StudySpec sagemaker = testing::sound(document);

  const Json json = schema();
  const auto expect_defaults = [&](const std::string& definition, const Json& filled_in) {
    for (const auto& [key, property] : at(json, definition)["properties"].items()) {
      if (!property.contains("default")) continue;
      EXPECT_EQ(property["default"], filled_in[key]) << definition << "/" << key;
    }
  };
  for (const char* section : {"search", "budget", "measure", "limits"}) {
    expect_defaults(std::string("/$defs/") + section, local.document[section]);
  }
  expect_defaults("/$defs/local_runner", local.document["runner"]);
  expect_defaults("/$defs/replay_runner", replay.document["runner"]);
  expect_defaults("/$defs/sagemaker_runner", sagemaker.document["runner"]);
  EXPECT_EQ(local.document["try"], at(json, "/properties/try/default"));
  EXPECT_EQ(local.document["budget"]["trials"], 40);
}

}  // namespace
}  // namespace steptune
