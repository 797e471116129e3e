// SPDX-License-Identifier: Apache-2.0
// Tests that the schema of `--json` follows from the declarations of results.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/golden_file.hpp"
#include "tests/support/read_file.hpp"
#include "tuner/follow/follow_text.hpp"
#include "tuner/report/audit.hpp"
#include "tuner/report/bisection.hpp"
#include "tuner/report/bottleneck_report.hpp"
#include "tuner/report/campaign_ladder.hpp"
#include "tuner/report/fail_conditions.hpp"
#include "tuner/report/importance_report.hpp"
#include "tuner/report/judged_commands.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/scaling_report.hpp"
#include "tuner/report/setting_changes.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/retune/machine_changes.hpp"
#include "tuner/verdict/recommendation_record.hpp"
#include "tuner/verdict/speed_up_record.hpp"

namespace steptune {
namespace {

struct Declared {
  std::string place;  ///< in the file
  Json schema;
};

template <typename T>
Declared declared(std::string place) {
  return {std::move(place), json_record<T>().schema()};
}

const std::vector<Declared>& declared_results() {
  static const std::vector<Declared> results{
      declared<StudyRecord>("/$defs/study"),
      declared<StudyRecord>("/$defs/studies/properties/studies/items"),
      declared<TrialRecord>("/$defs/trial"),
      declared<LeaderboardRow>("/$defs/leaderboard/properties/rows/items"),
      declared<AttemptRecord>("/$defs/show/properties/details/properties/attempts/items"),
      declared<Estimate>("/$defs/estimate"),
      declared<Interval95>("/$defs/interval"),
      declared<SpeedUp>("/$defs/speed_up"),
      declared<Recommendation>("/$defs/recommendation"),
      declared<SettingChange>("/$defs/recommendation/properties/changes/items"),
      declared<AuditResult>("/$defs/best/properties/audit/items"),
      declared<JudgedCommands>("/$defs/judge/properties/judge"),
      declared<FailResult>("/$defs/judge/properties/judge/properties/fail_if/items"),
      {"/$defs/judge/properties/campaign", last_edit_record().schema()},
      declared<CampaignVersion>("/$defs/campaign_version"),
      declared<CampaignEdit>("/$defs/campaign_edit"),
      declared<CampaignLadder>("/$defs/campaign_ladder"),
      declared<Bisection>("/$defs/bisect/properties/bisect"),
      declared<Bottleneck>("/$defs/bottleneck/properties/bottleneck"),
      declared<ScalingCount>("/$defs/scaling/properties/scaling/properties/counts/items"),
      declared<ScalingPrediction>("/$defs/scaling/properties/scaling/properties/predictions/items"),
      declared<ScalingKnee>("/$defs/scaling/properties/scaling/properties/knee/anyOf/0"),
      declared<ScalingChoice>("/$defs/scaling/properties/scaling/properties/cheapest/anyOf/0"),
      declared<MachineChange>("/$defs/retune/anyOf/0/properties/machine_changes/items"),
      declared<FollowedPhase>("/$defs/followed_phase"),
      declared<Promise>("/$defs/promise"),
      declared<FollowState>("/$defs/follow"),
      declared<FollowState>("/$defs/follow_line"),
  };
  return results;
}

const std::vector<Declared>& exported_results() {
  static const std::vector<Declared> results{
      declared<StudyRecord>("/properties/study"),
      declared<TrialRecord>("/$defs/trial"),
  };
  return results;
}

/// Replaces the declared fields in a definition. Commands add fields to some results.
void declare(Json& definition, const Json& declared) {
  for (const auto& [name, part] : declared.items()) {
    if (!definition.contains(name)) definition[name] = part;
  }
  for (const auto& [name, schema] : declared["properties"].items())
    definition["properties"][name] = schema;
  for (const Json& name : declared["required"]) {
    Json& required = definition["required"];
    if (std::find(required.begin(), required.end(), name) == required.end()) {
      required.push_back(name);
    }
  }
}

/// Exports of earlier versions lack later fields, so declarations add no required fields to the
/// schema of exports.
void declare_exported(Json& definition, const Json& declared) {
  for (const auto& [name, part] : declared.items()) {
    if (name == "required" && part.is_array()) continue;
    if (part.is_object()) {
      declare_exported(definition[name], part);
    } else {
      definition[name] = part;
    }
  }
}

/// Compares the file with the declarations, or writes it anew.
void expect_declared(const std::string& name, const std::vector<Declared>& results,
                     void (*add)(Json& definition, const Json& declared)) {
  const std::string file = STEPTUNE_SOURCE_DIR "/configs/" + name;
  const Json published = Json::parse(read_file(file));
  Json complete = published;
  for (const Declared& result : results)
    add(complete[Json::json_pointer(result.place)], result.schema);
  if (testing::updating_golden_files()) {
    testing::write_text(file, dump_json(complete, 2) + "\n");
    const std::string format =
        "/usr/bin/python3 -B " STEPTUNE_SOURCE_DIR "/tests/support/format_json.py " + file;
    ASSERT_EQ(std::system(format.c_str()), 0);
    GTEST_SKIP() << "written anew";
  }
  EXPECT_EQ(Json::diff(published, complete).dump(2), "[]")
      << "a result has changed: write the file anew with STEPTUNE_UPDATE_GOLDEN=1 cli_test "
         "--gtest_filter='ResultSchema.*'";
}

TEST(ResultSchema, IsThePublishedFile) {
  expect_declared("output.schema.json", declared_results(), declare);
}

TEST(ResultSchema, IsThePublishedFileOfExports) {
  expect_declared("export.schema.json", exported_results(), declare_exported);
}

}  // namespace
}  // namespace steptune
