// SPDX-License-Identifier: Apache-2.0
// Tests the schema for editors and the reference's tables, which follow from the declarations of
// the keys.
#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden_file.hpp"
#include "tests/support/read_file.hpp"
#include "tests/unit/study/study_fixture.hpp"
#include "trial_runner/runner_kinds.hpp"
#include "tuner/study/parameter_keys.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/study/study_format.hpp"

namespace steptune {
namespace {

const char* const k_schema_file = STEPTUNE_SOURCE_DIR "/configs/study.schema.json";
const char* const k_reference_files[] = {STEPTUNE_SOURCE_DIR "/docs/study-file.md",
                                         STEPTUNE_SOURCE_DIR "/docs/internals/study-file.md"};

Json at(const Json& json, const std::string& pointer) {
  return json.at(Json::json_pointer(pointer));
}

/// Returns the keys of all kinds of parameters, each once.
document::KeyTable parameter_table() {
  document::KeyTable table{"parameter", {}};
  for (const document::Section<study::DeclaredParameter>* section : study::parameter_sections()) {
    for (document::KeyRow& row : section->table().rows) {
      if (std::ranges::find(table.rows, row.key, &document::KeyRow::key) == table.rows.end()) {
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

/// Returns the keys of every object of the format, for the reference. `name` is the definition's
/// name in the schema, or `study` for the file itself.
std::vector<document::KeyTable> key_tables() {
  std::vector<document::KeyTable> tables = {
      study::study_format().table(),        study::config_file_section().table(),
      study::launch_section().table(),      study::hooks_section().table(),
      study::facts_section().table(),       parameter_table(),
      study::planned_run_section().table(), study::planned_phase_section().table(),
      study::guard_section().table(),       study::search_section().table(),
      study::budget_section().table(),      study::measure_section().table(),
      study::campaign_section().table(),    study::reports_section().table(),
      study::limits_section().table()};
  for (const RunnerKind* kind : runner_kinds()) {
    for (document::KeyTable& table : kind->tables())
      tables.push_back(std::move(table));
  }
  return tables;
}

/// Returns `text` with the table of NAME between each `<!-- keys of NAME -->` and `<!-- end of keys
/// -->`. Throws std::invalid_argument for a name without a table, and for a table without its end.
std::string with_key_tables(const std::string& text) {
  constexpr std::string_view k_begin = "<!-- keys of ";
  constexpr std::string_view k_name_end = " -->\n";
  constexpr std::string_view k_end = "<!-- end of keys -->";
  const std::vector<document::KeyTable> tables = key_tables();
  std::string result;
  std::size_t place = 0;
  for (auto begin = text.find(k_begin); begin != std::string::npos;
       begin = text.find(k_begin, place)) {
    const auto name_at = begin + k_begin.size();
    const auto name_end = text.find(k_name_end, name_at);
    const auto end = text.find(k_end, name_at);
    const std::string name = text.substr(name_at, std::min(name_end, end) - name_at);
    const auto table = std::ranges::find(tables, name, &document::KeyTable::name);
    if (table == tables.end() || name_end == std::string::npos || end == std::string::npos) {
      throw std::invalid_argument("no table, or no end of one: " + name);
    }
    result += text.substr(place, name_end + k_name_end.size() - place) + table->markdown();
    place = end;
  }
  return result + text.substr(place);
}

TEST(StudySchema, IsThePublishedFile) {
  const std::string schema = dump_json(study::study_schema(), 2) + "\n";
  if (testing::updating_golden_files()) {
    testing::write_text(k_schema_file, schema);
    GTEST_SKIP() << "written anew";
  }
  EXPECT_EQ(read_file(k_schema_file), schema)
      << "a key has changed: write the files anew with STEPTUNE_UPDATE_GOLDEN=1 study_test "
         "--gtest_filter='StudySchema.*:StudyReference.*'";
}

TEST(StudyReference, ListsTheKeysThatUsersWrite) {
  for (const char* file : k_reference_files) {
    const std::string page = read_file(file);
    const std::string now = with_key_tables(page);
    if (testing::updating_golden_files()) {
      testing::write_text(file, now);
    } else {
      EXPECT_EQ(page, now)
          << "a key has changed: write the files anew with STEPTUNE_UPDATE_GOLDEN=1 study_test "
             "--gtest_filter='StudySchema.*:StudyReference.*'";
    }
  }
  if (testing::updating_golden_files()) GTEST_SKIP() << "written anew";
}

TEST(StudyReference, HasEveryTable) {
  std::string pages;
  for (const char* file : k_reference_files)
    pages += read_file(file);
  for (const document::KeyTable& table : key_tables())
    EXPECT_THAT(pages, ::testing::HasSubstr("<!-- keys of " + table.name + " -->")) << table.name;
}

TEST(StudySchema, ClosesAndExplainsEveryObject) {
  const Json schema = study::study_schema();
  std::vector<Json> objects = {schema};
  for (const auto& definition : schema["$defs"]) {
    if (definition.contains("properties")) objects.push_back(definition);
  }
  EXPECT_GT(objects.size(), 10U);
  for (const Json& object : objects) {
    EXPECT_EQ(object["additionalProperties"], false) << object.dump();
    for (const auto& [key, property] : object["properties"].items()) {
      EXPECT_TRUE(property.contains("description") || property.contains("$ref") ||
                  property.contains("const"))
          << key;
    }
  }
}

TEST(StudySchema, RefersOnlyToWhatItDefines) {
  const Json schema = study::study_schema();
  const Json flat = schema.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    if (!pointer.ends_with("/$ref")) continue;
    EXPECT_TRUE(schema.contains(Json::json_pointer(value.get<std::string>().substr(1)))) << value;
  }
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

  const Json json = study::study_schema();
  const auto expect_defaults = [&](const std::string& definition, const Json& filled_in) {
    const Json properties = at(json, definition)["properties"];
    for (const auto& [key, property] : properties.items()) {
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
