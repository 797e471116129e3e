// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/study/study_fixture.hpp"
#include "trial_runner/replay/replay_kind.hpp"
#include "trial_runner/reports/steptune_line.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Property;
using testing::read;
using testing::sound;
using testing::study_document;

Json patched(const std::string& patch) {
  Json document = study_document();
  document.merge_patch(*parse_json(patch, "patch"));
  return document;
}

TEST(StudyReader, ReadsEverySection) {
  const StudySpec study = sound(study_document());
  EXPECT_EQ(study.name, "resnet-nightly");
  EXPECT_EQ(study.file, "/studies/study.json");
  EXPECT_EQ(study.working_directory, "/studies");
  ASSERT_EQ(study.command.size(), 9U);
  EXPECT_EQ(study.command[6].when->text(), "workers > 0");
  EXPECT_THAT(study.command[6].args,
              ElementsAre(Property(&document::StringTemplate::text, "--prefetch"),
                          Property(&document::StringTemplate::text, "{prefetch}")));
  ASSERT_EQ(study.space.parameters().size(), 5U);
  EXPECT_EQ(study.space.find("batch_size")->scale, Scale::log2);
  EXPECT_EQ(study.space.find("batch_size")->memory, MemoryEffect::increases);
  EXPECT_EQ(study.space.find("workers")->high, 8.0);
  EXPECT_EQ(*study.baseline.find("batch_size"), Value(std::int64_t{64}));
  EXPECT_EQ(study.planned_run.samples, 1.3e9);
  ASSERT_EQ(study.objectives.size(), 2U);
  EXPECT_TRUE(study.objectives[0].is_time());
  EXPECT_TRUE(study.objectives[1].is_cost());
  ASSERT_EQ(study.guards.size(), 1U);
  EXPECT_EQ(study.guards[0].max_ratio_to_baseline, 1.02);
  EXPECT_EQ(study.budget.time_s, 1800.0);
  EXPECT_EQ(study.budget.trials, 40);
  EXPECT_TRUE(study.budget.stop_at_payback);
  EXPECT_EQ(usd_per_hour(study, study.baseline), 1.212);
}

TEST(StudyReader, ReadsDurationsAndSizesInWordsOrNumbers) {
  const StudySpec study = sound(patched(
      R"({"measure": {"max_trial": "1m30s", "min_window": 2, "min_window_steps": 50}, "budget": {"time": 90},
          "limits": {"wall": "1.5h", "idle": "45s", "grace": 0, "memory": "2 GiB"}})"));
  EXPECT_EQ(study.measure.max_trial_s, 90.0);
  EXPECT_EQ(study.measure.min_window_s, 2.0);
  EXPECT_EQ(study.measure.min_window_steps, 50);
  EXPECT_EQ(study.budget.time_s, 90.0);
  EXPECT_EQ(study.limits.wall_s, 5400.0);
  EXPECT_EQ(study.limits.idle_s, 45.0);
  EXPECT_EQ(study.limits.grace_s, 0.0);
  EXPECT_EQ(study.limits.memory_bytes, 0x1p31);
}

TEST(StudyReader, ReadsAllKindsOfParameters) {
  const StudySpec study = sound(*parse_json(R"({
    "name": "kinds", "command": ["t", "{i}{f}{b}{c}{o}{l}"],
    "parameters": {
      "i": {"type": "int", "low": 2, "high": "2 * cpus", "step": 2},
      "f": {"type": "float", "low": 0, "high": 1, "step": 0.25},
      "b": {"type": "bool"},
      "c": {"type": "categorical", "choices": ["a", 1, 2.5, true]},
      "o": {"type": "ordinal", "choices": [128, 256, 1024]},
      "l": {"type": "float", "low": 1e-5, "high": "1 / 10", "scale": "log"}},
    "baseline": {"i": 4.0, "f": 1, "b": false, "c": 1, "o": 256, "l": 1e-3}})",
                                            "kinds"));
  EXPECT_EQ(study.space.find("i")->level_count(), 8U);
  EXPECT_EQ(study.space.find("l")->high, 0.1);
  EXPECT_THAT(study.space.find("c")->choices,
              ElementsAre(Value("a"), Value(std::int64_t{1}), Value(2.5), Value(true)));
  // Values get their parameter's type, however they are written.
  EXPECT_EQ(*study.baseline.find("i"), Value(std::int64_t{4}));
  EXPECT_EQ(*study.baseline.find("f"), Value(1.0));
  EXPECT_EQ(*study.baseline.find("b"), Value(false));
  EXPECT_EQ(*study.baseline.find("c"), Value(std::int64_t{1}));
}

TEST(StudyReader, RoundsBoundsOfExpressionsIntoTheRange) {
  const StudySpec study = sound(patched(
      R"({"facts": {"cpus": 7}, "parameters": {"threads": {"low": "cpus / 7", "high": "cpus / 2"},
                                                       "workers": {"low": 0, "high": 3}}})"));
  EXPECT_EQ(study.space.find("threads")->low, 1.0);
  EXPECT_EQ(study.space.find("threads")->high, 3.0);
}

TEST(StudyReader, ReadsTheRolesOfParameters) {
  const StudySpec plain = sound(patched("{}"));
  EXPECT_TRUE(plain.parameter_roles.empty()) << "their names show the roles";
  const StudySpec study = sound(patched(
      R"({"parameters": {"batch_size": {"role": "batch"}, "precision": {"role": "none"}}})"));
  const KnobRoles expected = {{"batch_size", KnobRole::batch}, {"precision", std::nullopt}};
  EXPECT_EQ(study.parameter_roles, expected);
  EXPECT_EQ(study.document["parameters"]["batch_size"]["role"], "batch");
  EXPECT_EQ(study.document["parameters"]["precision"]["role"], "none");
  EXPECT_EQ(study.fingerprint, plain.fingerprint) << "a hint to the search";
}

TEST(StudyReader, TakesLabelsOfChoicesAsValues) {
  const StudySpec study = sound(patched(
      R"({"parameters": {"precision": {"choices": {"fp32": "", "bf16": "--autocast=bfloat16"}}}})"));
  EXPECT_THAT(study.space.find("precision")->choices, ElementsAre(Value("fp32"), Value("bf16")));
  EXPECT_EQ(study.choice_strings.at("precision").at("bf16"), "--autocast=bfloat16");
}

TEST(StudyReader, ReadsReplayRunnersWithoutCommand) {
  const StudySpec table = sound(patched(
      R"({"command": null, "env": null,
          "runner": {"type": "replay", "table": "tables/t.json", "objective_column": "time",
                     "startup": "2m", "noise": 0}})"));
  EXPECT_TRUE(table.command.empty());
  const ReplaySection& replay = dynamic_cast<const ReplaySettings&>(*table.runner).section();
  EXPECT_EQ(replay.table, "/studies/tables/t.json");
  EXPECT_EQ(replay.objective_column, "time");
  EXPECT_EQ(replay.startup_s, 120.0);
  const StudySpec model = sound(patched(
      R"x({"command": null, "env": null, "runner": {"type": "replay", "seconds_per_sample":
          "0.01 / (1 + workers) + 1 / batch_size + threads * prefetch * 1e-9 + (precision == 'fp32')"}})x"));
  EXPECT_EQ(model.runner->kind().name(), "replay");
}

TEST(StudyReader, ReadsReportsAsPresetOrObject) {
  EXPECT_EQ(sound(patched(R"({"reports": "key=value"})")).report_format.preset, "key=value");
  const StudySpec study = sound(patched(
      R"x({"reports": {"preset": "tqdm", "metrics": [{"name": "loss", "regex": "loss ([0-9.]+)"}]}})x"));
  EXPECT_EQ(study.report_format.preset, "tqdm");
  ASSERT_EQ(study.report_format.metrics.size(), 1U);
  EXPECT_EQ(study.report_format.metrics[0].regex, "loss ([0-9.]+)");
}

TEST(StudyReader, TakesAsManyMetricsAsAReportHas) {
  Json document = study_document();
  document["reports"] = {{"preset", "tqdm"}, {"metrics", Json::array()}};
  Json& metrics = document["reports"]["metrics"];
  for (std::size_t i = 0; i < k_max_metrics; ++i) {
    const std::string name = i == 0 ? "loss" : "metric_" + std::to_string(i);
    metrics.push_back({{"name", name}, {"regex", name + " ([0-9.]+)"}});
  }
  EXPECT_TRUE(read(document));
  metrics.push_back({{"name", "one_more"}, {"regex", "more ([0-9.]+)"}});
  EXPECT_FALSE(read(document));
}

TEST(StudyReader, CountsAParameterThatOnlySwitchesAnotherAsUsed) {
  EXPECT_TRUE(read(patched(
      R"({"parameters": {"loader": {"type": "categorical", "choices": ["dali", "torch"]}},
          "baseline": {"loader": "torch"}, "command": ["t", "{batch_size}{workers}{precision}",
          "--prefetch={prefetch}", {"when": "loader == 'dali'", "args": ["--dali"]}]})")));
}

TEST(StudyReader, AllowsPreloadedAllocators) {
  const StudySpec study = sound(patched(
      R"({"parameters": {"malloc": {"type": "categorical",
                                    "choices": {"system": "", "tcmalloc": "/usr/lib/libtcmalloc.so.4"}}},
          "baseline": {"malloc": "system"},
          "env": {"LD_PRELOAD": "{malloc}", "TOKENIZERS_PARALLELISM": "false"}})"));
  EXPECT_EQ(study.environment.at("LD_PRELOAD").text(), "{malloc}");
}

TEST(StudyDocument, GivesTheSameStudyAgainOnAnyMachine) {
  for (
      const char* patch :
      {"{}", R"({"try": [{"batch_size": 32, "workers": 0, "precision": "fp32", "threads": 2}]})",
       R"({"parameters": {"precision": {"choices": {"fp32": "", "bf16": "x"}}}})",
       R"({"command": ["t", "{batch_size}{workers}{precision}", "--prefetch={prefetch}"]})",
       R"({"runner": {"type": "replay", "table": "t.json"}, "command": null, "env": null})",
       R"x({"reports": {"preset": "tqdm", "metrics": [{"name": "loss", "regex": "loss ([0-9.]+)"}]}})x",
       R"({"limits": {"memory": "2GiB"}, "working_directory": "sub/folder/",
            "search": {"seed": 9007199254740992, "initial_points": 4}})"}) {
    const StudySpec study = sound(patched(patch));
    const auto stored = parse_json(dump_json(study.document), "stored");
    const auto again = study_from_json(*stored, study.file, {{"cpus", 2}, {"gpus", 1}});
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(dump_json(again->document, 1), dump_json(study.document, 1));
    EXPECT_EQ(again->fingerprint, study.fingerprint) << patch;
    EXPECT_EQ(again->facts, study.facts);
  }
}

TEST(StudyFingerprint, ChangesWithTheMeaningOfMeasurements) {
  const std::string fingerprint = sound(study_document()).fingerprint;
  EXPECT_EQ(fingerprint.size(), 64U);
  for (const char* patch :
       {R"({"env": {"X": "1"}})", R"({"working_directory": ".."})", R"({"facts": {"cpus": 7}})",
        R"({"parameters": {"workers": {"high": 4}}})", R"({"constraints": []})",
        R"({"baseline": {"threads": 2}})", R"({"planned_run": {"samples": 1e9}})",
        R"({"planned_run": {"phases": {"evaluation": {"every_steps": 200}}}})",
        R"({"objectives": ["cost", "time"]})", R"({"guards": []})",
        R"({"measure": {"max_trial": 60}})", R"({"reports": "tqdm"})",
        R"({"runner": {"price_per_hour": 2}})", R"({"runner": {"pin": false}})"}) {
    EXPECT_NE(sound(patched(patch)).fingerprint, fingerprint) << patch;
  }
}

TEST(StudyFingerprint, StaysWithBudgetsSearchSettingsAndSpelling) {
  const std::string fingerprint = sound(study_document()).fingerprint;
  for (const char* patch :
       {R"({"name": "other"})", R"({"budget": {"trials": 7}})",
        R"({"search": {"searcher": "grid"}})", R"({"search": {"seed": 3}})",
        R"({"search": {"first_guesses": true}})", R"({"planned_run": {"deadline": "12h"}})",
        R"({"planned_run": {"max_cost": 40}})", R"({"planned_run": {"phases": {}}})",
        R"({"measure": {"confirm_pairs": 0}})",
        R"({"try": [{"batch_size": 32, "workers": 0, "precision": "fp32", "threads": 2}]})",
        R"({"limits": {"wall": "2h"}})", R"({"limits": {"memory": "2GiB", "memory_share": 0.5}})",
        R"({"measure": {"max_trial": "2m"}})", R"({"working_directory": "./"})",
        R"({"parameters": {"workers": {"high": 8.0}}})",
        R"({"parameters": {"batch_size": {"memory": null}}})", R"({"facts": {"memory_gb": 64}})",
        R"({"$schema": "elsewhere"})"}) {
    EXPECT_EQ(sound(patched(patch)).fingerprint, fingerprint) << patch;
  }
}

TEST(StudyFingerprint, StaysWhenTheFolderMoves) {
  const Json document = patched(R"({"runner": {"type": "replay", "table": "t.json"},
                                    "working_directory": "sub"})");
  const auto here = study_from_json(document, "/a/study.json", testing::k_facts);
  const auto there = study_from_json(document, "/b/c/study.json", testing::k_facts);
  EXPECT_EQ(here->fingerprint, there->fingerprint);
}

/// Files in a temporary folder.
class StudyFiles : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) { return folder_.write("study.json", text); }
  Result<StudySpec> read_text(const std::string& text) {
    return read_study(write(text), testing::k_facts);
  }

  TemporaryFolder folder_{"study"};
};

TEST_F(StudyFiles, AreReadWithComments) {
  const auto study = read_text(testing::k_study_text);
  ASSERT_TRUE(study) << study.error().text();
  EXPECT_EQ(study->file, folder_.path() / "study.json");
  EXPECT_EQ(study->working_directory, folder_.path());
}

TEST_F(StudyFiles, NameTheLineOfAFault) {
  std::string text = testing::k_study_text;
  text.replace(text.find("\"high\": 512"), 11, "\"hihg\": 512");
  const auto study = read_text(text);
  ASSERT_FALSE(study);
  const std::string place = (folder_.path() / "study.json").string() + "#/parameters/batch_size";
  EXPECT_THAT(study.error().message, HasSubstr(place + "/hihg (line 10): unknown key \"hihg\""));
  EXPECT_THAT(study.error().message, HasSubstr(place + " (line 10): the key \"high\" is missing"));
}

TEST_F(StudyFiles, NameTheLineOfListElementsAndMissingKeys) {
  const auto study = read_text("{\n\"name\": \"x\",\n\"command\": [\n\"t\",\n12\n,\n13]}");
  ASSERT_FALSE(study);
  EXPECT_THAT(study.error().message, HasSubstr("#/command/1 (line 5): "));
  EXPECT_THAT(study.error().message, HasSubstr("#/command/2 (line 7): "));
  EXPECT_THAT(study.error().message, HasSubstr("study.json# (line 1): the key \"parameters\""));
}

TEST_F(StudyFiles, NameEveryRepeatedKey) {
  const auto study = read_text(
      "{\"name\": \"x\",\n\"name\": \"y\", \"parameters\": {\"a\": {}, \n\n\"a\": {}, \"a\": {}}}");
  ASSERT_FALSE(study);
  EXPECT_EQ(study.error().kind, ErrorKind::usage);
  EXPECT_THAT(study.error().message, HasSubstr("#/name (line 2): the key appears twice"));
  EXPECT_THAT(study.error().message, HasSubstr("#/parameters/a (line 4): the key appears twice"));
}

TEST_F(StudyFiles, RefuseWhatIsNoJson) {
  // Valid JSON would also be refused here, because keys are missing. So check the reason.
  for (const char* text : {"{\"name\": }", "", "\xff\xfe{}", "{\"name\": NaN}", "{\"name\": 1e999}",
                           "{\"name\": \"x\"} trailing"}) {
    const auto study = read_text(text);
    ASSERT_FALSE(study) << text;
    EXPECT_THAT(study.error().text(), HasSubstr("study.json: not valid JSON")) << text;
  }
  const std::string deep(100'000, '[');
  for (const std::string& text : {deep, deep + std::string(100'000, ']')}) {
    const auto study = read_text(text);
    ASSERT_FALSE(study);
    EXPECT_THAT(study.error().text(), HasSubstr("study.json: nested deeper than 64 levels"));
  }
}

TEST_F(StudyFiles, MayBeginWithAByteOrderMark) {
  EXPECT_TRUE(read_text(std::string("\xEF\xBB\xBF") + testing::k_study_text));
}

TEST_F(StudyFiles, MustExist) {
  EXPECT_EQ(read_study(folder_.path() / "none.json", {}).error().kind, ErrorKind::not_found);
  EXPECT_EQ(read_study(folder_.path(), {}).error().kind, ErrorKind::not_found);
}

TEST(StudyStreams, AreReadAndBelongToTheFingerprint) {
  const StudySpec usual = sound(study_document());
  EXPECT_FALSE(usual.terminal);
  EXPECT_TRUE(usual.standard_input.empty());
  const StudySpec study = sound(patched(R"({"terminal": true, "stdin": "answers.txt"})"));
  EXPECT_TRUE(study.terminal);
  EXPECT_EQ(study.standard_input, "/studies/answers.txt");
  EXPECT_NE(study.fingerprint, usual.fingerprint);
}

TEST(StudyStreams, AreRefusedIfTheRunnerHasNone) {
  for (const char* key : {R"("terminal": true)", R"("stdin": "answers.txt")"}) {
    const auto study =
        read(patched(std::string("{") + key +
                     R"(, "runner": {"type": "replay", "seconds_per_sample": "0.1"}})"));
    ASSERT_FALSE(study) << key;
    EXPECT_THAT(study.error().message, HasSubstr("the runner replay cannot give its trials"));
  }
}

TEST_F(StudyFiles, MustNameExistingPaths) {
  const auto write_patched = [&](const std::string& patch) {
    return read_text(dump_json(patched(patch)));
  };
  const auto folder = write_patched(R"({"working_directory": "nowhere"})");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().where, HasSubstr("study.json#/working_directory (line 1)"));
  EXPECT_THAT(folder.error().message, HasSubstr("nowhere does not exist"));
  const auto input = write_patched(R"({"stdin": "nowhere.txt"})");
  ASSERT_FALSE(input);
  EXPECT_THAT(input.error().where, HasSubstr("#/stdin (line 1)"));
  EXPECT_THAT(input.error().message, HasSubstr("nowhere.txt cannot be read: No such file"));
  const auto no_file = write_patched(R"({"stdin": "."})");
  ASSERT_FALSE(no_file);
  EXPECT_THAT(no_file.error().message, HasSubstr("is a folder: name a file"));
  const auto table = write_patched(R"({"runner": {"type": "replay", "table": "none.json"}})");
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().message, HasSubstr("none.json does not exist"));
}

}  // namespace
}  // namespace steptune
