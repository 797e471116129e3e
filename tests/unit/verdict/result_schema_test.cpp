// SPDX-License-Identifier: Apache-2.0
// Tests that the schema of `--json` follows from the declarations of results.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/golden_file.hpp"
#include "tests/support/read_file.hpp"
#include "tuner/verdict/recommendation_record.hpp"
#include "tuner/verdict/speed_up_record.hpp"

namespace steptune {
namespace {

const char* const k_schema_file = STEPTUNE_SOURCE_DIR "/configs/output.schema.json";

/// Replaces the declared fields in a definition. Commands add fields to it that need the study.
void declare(Json& definition, const Json& declared) {
  for (const auto& [name, schema] : declared["properties"].items())
    definition["properties"][name] = schema;
  for (const Json& name : declared["required"]) {
    Json& required = definition["required"];
    if (std::find(required.begin(), required.end(), name) == required.end()) {
      required.push_back(name);
    }
  }
}

Json with_declared_results(Json document) {
  Json& definitions = document["$defs"];
  definitions["speed_up"] = or_null(json_record<SpeedUp>().schema());
  declare(definitions["recommendation"], json_record<Recommendation>().schema());
  return document;
}

TEST(ResultSchema, IsThePublishedFile) {
  const Json published = Json::parse(read_file(k_schema_file));
  const Json declared = with_declared_results(published);
  if (testing::updating_golden_files()) {
    testing::write_text(k_schema_file, dump_json(declared, 2) + "\n");
    ASSERT_EQ(std::system("/usr/bin/python3 -B " STEPTUNE_SOURCE_DIR
                          "/tests/support/format_json.py " STEPTUNE_SOURCE_DIR
                          "/configs/output.schema.json"),
              0);
    GTEST_SKIP() << "written anew";
  }
  EXPECT_EQ(Json::diff(published, declared).dump(2), "[]")
      << "a result has changed: write the file anew with STEPTUNE_UPDATE_GOLDEN=1 verdict_test "
         "--gtest_filter='ResultSchema.*'";
}

}  // namespace
}  // namespace steptune
