// SPDX-License-Identifier: Apache-2.0
#include "tuner/config_edit/config_edit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace steptune {
namespace {

using testing::HasSubstr;

Configuration configuration_of(const std::map<std::string, Value>& values) {
  Configuration configuration;
  for (const auto& [name, value] : values)
    configuration.set(name, value);
  return configuration;
}

const Configuration& usual() {
  static const Configuration configuration = configuration_of({{"batch_size", std::int64_t{256}},
                                                               {"precision", std::string("bf16")},
                                                               {"rate", 1e-5},
                                                               {"compile", true}});
  return configuration;
}

std::string edited(ConfigFormat format, const std::string& text,
                   const Configuration& configuration = usual(), const ConfigKeys& keys = {}) {
  const auto changes = must(config_changes(format, text, configuration, keys, "f"));
  return edited_text(text, edits_of(changes));
}

std::string refused(ConfigFormat format, const std::string& text,
                    const Configuration& configuration = usual(), const ConfigKeys& keys = {}) {
  const auto changes = config_changes(format, text, configuration, keys, "conf");
  EXPECT_FALSE(changes);
  if (changes) return "";
  EXPECT_EQ(changes.error().kind, ErrorKind::usage);
  return changes.error().text();
}

TEST(ConfigEdit, YamlKeepsCommentsOrderAndStyle) {
  EXPECT_EQ(edited(ConfigFormat::yaml, R"(# how we train: größer ist besser
train:
    batch_size:   32      # per GPU
    precision: 'fp32'  # or bf16
    optimizer: {rate: 0.01, name: "adamw"}
compile: no # yes
list:
- batch: 1
)"),
            R"(# how we train: größer ist besser
train:
    batch_size:   256      # per GPU
    precision: 'bf16'  # or bf16
    optimizer: {rate: 1.0e-05, name: "adamw"}
compile: true # yes
list:
- batch: 1
)");
}

TEST(ConfigEdit, AnAmbiguousKeyIsRefused) {
  const auto scalars = must(
      scan_config(ConfigFormat::yaml, "a:\n  batch: 2\n  text: |\n    x\na.batch: 3\nb: 1\n", "f"));
  EXPECT_EQ(must(config_place(scalars, "b"))->line, 6);
  const auto why = [&](const std::string& key) {
    const auto place = config_place(scalars, key);
    return place ? "" : place.error().message;
  };
  EXPECT_THAT(why("a.batch"), HasSubstr("ambiguous: a.batch (line 2), a.batch (line 5)"));
  EXPECT_THAT(why("a.text"), HasSubstr("a.text (line 3) cannot be changed, it is a block of text"));
  EXPECT_THAT(why("a"), HasSubstr("a contains other keys"));
  EXPECT_THAT(why("c"), HasSubstr("no key c"));
}

TEST(ConfigEdit, TextChoicesTakeTheTypeInTheFile) {
  const Configuration choices =
      configuration_of({{"amp", std::string("false")}, {"precision", std::string("16")}});
  EXPECT_EQ(edited(ConfigFormat::yaml, "amp: true\nprecision: 32\n", choices),
            "amp: false\nprecision: 16\n");
  EXPECT_EQ(edited(ConfigFormat::json, R"({"amp": true, "precision": "32"})", choices),
            R"({"amp": false, "precision": "16"})");
  EXPECT_EQ(edited(ConfigFormat::toml, "amp = \"true\"\nprecision = 32\n", choices),
            "amp = \"false\"\nprecision = 16\n");
}

TEST(ConfigEdit, ATruthValueOrNumberInQuotesStaysAText) {
  const Configuration wanted =
      configuration_of({{"fp16", false}, {"amp", true}, {"batch", std::int64_t{16}}});
  EXPECT_EQ(edited(ConfigFormat::json, R"({"fp16": "true", "amp": "False", "batch": "8"})", wanted),
            R"({"fp16": "false", "amp": "True", "batch": "16"})");
  EXPECT_EQ(edited(ConfigFormat::yaml, "fp16: 'yes'\namp: no\nbatch: 8\n", wanted),
            "fp16: 'no'\namp: true\nbatch: 16\n")
      << "YAML 1.1 reads no as a truth value";
}

TEST(ConfigEdit, JsonKeepsCommentsAndLayout) {
  EXPECT_EQ(edited(ConfigFormat::json, R"({
  // "batch_size": 1,
  "batch_size" : 32, /* , : */ "precision":"fp32",
	"rate": 1E-3,"compile":false, "a": [1, -2.5, {"b": "ü"}] }
)"),
            R"({
  // "batch_size": 1,
  "batch_size" : 256, /* , : */ "precision":"bf16",
	"rate": 1.0e-05,"compile":true, "a": [1, -2.5, {"b": "ü"}] }
)");
}

TEST(ConfigEdit, TomlKeepsCommentsAndTables) {
  EXPECT_EQ(edited(ConfigFormat::toml, R"(# größer
title = "ä ö" # text
[train]
batch_size = 0x20 # per GPU
precision = 'fp32'
optimizer = { name = "ü", rate = 1_000.5 }
when = 2026-01-01
[[run]]
compile = false
)"),
            R"(# größer
title = "ä ö" # text
[train]
batch_size = 256 # per GPU
precision = 'bf16'
optimizer = { name = "ü", rate = 1.0e-05 }
when = 2026-01-01
[[run]]
compile = true
)");
}

TEST(ConfigEdit, LineEndsAndByteOrderMarksStay) {
  const auto batch = configuration_of({{"batch", std::int64_t{8}}});
  EXPECT_EQ(edited(ConfigFormat::yaml, "a: 1\r\nbatch: 2\r\nc: 3", batch),
            "a: 1\r\nbatch: 8\r\nc: 3");
  EXPECT_EQ(edited(ConfigFormat::toml, "a = 1\r\nbatch = 2\r\n", batch), "a = 1\r\nbatch = 8\r\n");
  EXPECT_EQ(edited(ConfigFormat::yaml,
                   "\xEF\xBB\xBF"
                   "batch: 2\n",
                   batch),
            "\xEF\xBB\xBF"
            "batch: 8\n");
  EXPECT_EQ(edited(ConfigFormat::toml,
                   "\xEF\xBB\xBF"
                   "batch = 2\n",
                   batch),
            "\xEF\xBB\xBF"
            "batch = 8\n");
  EXPECT_EQ(edited(ConfigFormat::json, "\xEF\xBB\xBF{\"batch\": 2}", batch),
            "\xEF\xBB\xBF{\"batch\": 8}");
}

TEST(ConfigEdit, AnEmptyTextHasNoValuesAndIsNoJson) {
  for (const ConfigFormat format : {ConfigFormat::yaml, ConfigFormat::toml, ConfigFormat::ini}) {
    const auto scalars = scan_config(format, std::string_view(), "empty");
    ASSERT_TRUE(scalars) << scalars.error().text();
    EXPECT_TRUE(scalars->empty());
  }
  EXPECT_FALSE(scan_config(ConfigFormat::json, std::string_view(), "empty"));
}

TEST(ConfigEdit, AYamlDocumentThatIsOneValueHasNoName) {
  const auto scalars = scan_config(ConfigFormat::yaml, "---\nworkers: 4\n---\n8\n", "two.yaml");
  ASSERT_TRUE(scalars) << scalars.error().text();
  ASSERT_EQ(scalars->size(), 2U);
  EXPECT_EQ((*scalars)[0].key(), "workers");
  EXPECT_EQ((*scalars)[1].key(), "");
  const auto place = config_place(*scalars, "workers");
  ASSERT_TRUE(place) << place.error().text();
  EXPECT_EQ((*place)->value, 4);
}

TEST(ConfigEdit, AYamlListMayBeAKey) {
  EXPECT_EQ(edited(ConfigFormat::yaml, "? [a, b]\n: 5\nrate: 1\n",
                   configuration_of({{"rate", std::int64_t{4}}})),
            "? [a, b]\n: 5\nrate: 4\n");
}

TEST(ConfigEdit, HostileTextsAreReadBackUnchanged) {
  for (const std::string text :
       {"it's \"so\"", "a\nb\tc",     "$HOME `id`", "yes", "null",    "12",       "1e3",
        "#no",         "a: b",        "- x",        "",    " blank ", "\x1b[31m", "\x7f",
        "ü€😀",         "back\\slash", "{x}",        "*x",  "&x",      "!x",       "~"}) {
    const auto wanted = configuration_of({{"label", text}});
    for (const auto& [format, file] :
         {std::pair(ConfigFormat::yaml, "label: x\nn: 1\n"),
          std::pair(ConfigFormat::yaml, "label: 'x'\nn: 1\n"),
          std::pair(ConfigFormat::yaml, "{label: \"x\", n: 1}\n"),
          std::pair(ConfigFormat::yaml, "label:\nn: 1\n"),
          std::pair(ConfigFormat::json, "{\"label\": \"x\", \"n\": 1}"),
          std::pair(ConfigFormat::toml, "label = 'x'\nn = 1\n"),
          std::pair(ConfigFormat::toml, "label = \"\"\"x\"\"\"\nn = 1\n")}) {
      const std::string result = edited(format, file, wanted);
      const auto scalars = must(scan_config(format, result, "f"));
      ASSERT_EQ(scalars.size(), 2U) << result;
      EXPECT_EQ(scalars[0].value, Json(text)) << result;
      EXPECT_EQ(scalars[1].value, Json(1)) << result;
    }
  }
}

TEST(ConfigEdit, EqualValuesAreNotRewritten) {
  const std::string same = "batch_size: 256\nprecision: \"bf16\"\nrate: 0.00001\ncompile: True\n";
  EXPECT_EQ(edited(ConfigFormat::yaml, same), same);
  const auto spelt = configuration_of({{"amp", std::string("false")}, {"tf32", true}});
  EXPECT_TRUE(
      must(config_changes(ConfigFormat::json, R"({"amp": false, "tf32": true})", spelt, {}, "f"))
          .empty());
}

TEST(ConfigEdit, KeysMayBeMappedOrLeftOut) {
  const std::string text = "train: {bs: 1, workers: 2}\neval: {bs: 3}\nlist: [{lr: 4}]\n";
  const auto wanted =
      configuration_of({{"batch", std::int64_t{8}}, {"workers", std::int64_t{9}}, {"rate", 0.5}});
  EXPECT_EQ(edited(ConfigFormat::yaml, text, wanted,
                   {{"batch", "train.bs"}, {"workers", ""}, {"rate", "list.0.lr"}}),
            "train: {bs: 8, workers: 2}\neval: {bs: 3}\nlist: [{lr: 0.5}]\n");
  EXPECT_EQ(edited(ConfigFormat::yaml, "Train:\n  Batch-Size: 1\n",
                   configuration_of({{"batch_size", std::int64_t{2}}})),
            "Train:\n  Batch-Size: 2\n")
      << "another spelling of the key";
}

TEST(ConfigEdit, AllAmbiguousKeysAreReportedAtOnce) {
  const std::string error_text =
      refused(ConfigFormat::yaml,
              "train: {batch_size: 1, num_rate: 3}\neval:\n  batch_size: 2\nprecision:\n  x: 1\n"
              "b: &c true\ncompile: *c\n");
  EXPECT_THAT(error_text, HasSubstr("conf: has no clear place for 4 of the parameters:"));
  EXPECT_THAT(error_text, HasSubstr("batch_size: ambiguous: train.batch_size (line 1), "
                                    "eval.batch_size (line 3)"));
  EXPECT_THAT(error_text, HasSubstr("precision: precision contains other keys, not a value"));
  EXPECT_THAT(error_text, HasSubstr("rate: no key rate; did you mean train.num_rate (line 1)?"));
  EXPECT_THAT(error_text, HasSubstr("compile: compile (line 7) cannot be changed, it is an alias"));
  EXPECT_THAT(error_text, HasSubstr("--map "));
}

TEST(ConfigEdit, WrongMapsAndFilesAreErrors) {
  const std::string text = "batch_size: 1\nprecision: x\nrate: 1\ncompile: 1\n";
  EXPECT_THAT(refused(ConfigFormat::yaml, text, usual(), {{"batchsize", "b"}}),
              HasSubstr("no parameter \"batchsize\"; did you mean \"batch_size\"?"));
  EXPECT_THAT(refused(ConfigFormat::yaml, text, usual(), {{"rate", "raten"}}),
              HasSubstr("rate: no key raten; did you mean rate (line 3)?"));
  EXPECT_THAT(refused(ConfigFormat::yaml, text, usual(), {{"rate", "batch_size"}}),
              HasSubstr("batch_size and rate would both go to batch_size"));
  EXPECT_THAT(refused(ConfigFormat::yaml, "batch_size: 256\nprecision: x\ncompile: 1\n", usual(),
                      {{"rate", "batch_size"}}),
              HasSubstr("batch_size and rate would both go to batch_size"))
      << "also if the file has one of the two values already";
  EXPECT_THAT(refused(ConfigFormat::yaml, "a: [1\nb: 2\n"), HasSubstr("conf:2:"));
  EXPECT_THAT(refused(ConfigFormat::toml, "a = \n"), HasSubstr("conf:1:"));
  EXPECT_THAT(refused(ConfigFormat::json, "{\"a\": }"), HasSubstr("conf"));
  EXPECT_THAT(config_format_of("train.txt").error().text(), HasSubstr(".toml"));
  EXPECT_EQ(must(config_format_of("train.cfg")), ConfigFormat::ini);
}

TEST(ConfigEdit, KeepsTheRestOfAnIniFile) {
  // Like files of XGBoost, darknet and Python's configparser.
  const char* const text = R"(# how we train
booster = gbtree   # a tree
nthread=2
data = "train.txt"
[net]
batch=64
subdivisions = 8 ; micro-batches
; off for now
[loader]
  workers : 1
  workers = 4
)";
  Configuration wanted;
  wanted.set("booster", std::string("dart"));
  wanted.set("nthread", std::int64_t{4});
  wanted.set("data", std::string("other.txt"));
  wanted.set("subdivisions", std::int64_t{16});
  wanted.set("workers", std::int64_t{0});
  EXPECT_EQ(edited(ConfigFormat::ini, text, wanted), R"(# how we train
booster = dart   # a tree
nthread=4
data = "other.txt"
[net]
batch=64
subdivisions = 16 ; micro-batches
; off for now
[loader]
  workers : 1
  workers = 0
)");
}

TEST(ConfigEdit, IniKeepsTextsThatLookLikeNumbers) {
  const auto set = [](const char* precision) {
    return configuration_of({{"precision", std::string(precision)}});
  };
  EXPECT_EQ(edited(ConfigFormat::ini, "precision = fp32 ; or 16\n", set("16")),
            "precision = 16 ; or 16\n");
  EXPECT_EQ(edited(ConfigFormat::ini, "precision = fp32\n", set("007")), "precision = 007\n");
  EXPECT_EQ(edited(ConfigFormat::ini, "precision = 'fp32'\n", set("16")), "precision = '16'\n");
  EXPECT_TRUE(
      must(config_changes(ConfigFormat::ini, "precision = 007\n", set("007"), {}, "f")).empty());
  for (const char* wrong : {"'16'", "\"16\"", " 16", "16 ", "16 # x"}) {
    EXPECT_FALSE(config_changes(ConfigFormat::ini, "precision = fp32\n", set(wrong), {}, "f"))
        << wrong << " would be read as something else";
  }
}

TEST(ConfigEdit, KeepsTheLineEndsOfIni) {
  Configuration wanted;
  wanted.set("workers", std::int64_t{4});
  wanted.set("precision", std::string("bf16"));
  EXPECT_EQ(edited(ConfigFormat::ini, "workers =\r\nprecision = fp32 \r\nseed=1\r\n", wanted),
            "workers = 4\r\nprecision = bf16 \r\nseed=1\r\n");
}

TEST(ConfigEdit, RefusesValuesThatIniCannotExpress) {
  const auto scalars = must(scan_config(ConfigFormat::ini,
                                        "[convolutional]\nfilters=16\n[convolutional]\n"
                                        "filters=32\nsteps = 1,\n  2\nname =\n",
                                        "f"));
  ASSERT_EQ(scalars.size(), 4U);
  EXPECT_EQ(scalars[0].key(), "convolutional.filters");
  EXPECT_EQ(scalars[1].value, 32);
  EXPECT_EQ(scalars[2].why_fixed, "it continues in the next line");
  EXPECT_TRUE(scalars[3].value.is_null());
  EXPECT_THAT(refused(ConfigFormat::ini, "[net\nbatch = 1\n"), HasSubstr("conf:1"));
  EXPECT_THAT(refused(ConfigFormat::ini, "batch = 1\n= 2\n"), HasSubstr("conf:2"));
  // INI cannot escape the character that starts a comment.
  Configuration hash;
  hash.set("label", std::string("a # b"));
  EXPECT_FALSE(config_changes(ConfigFormat::ini, "label = x\n", hash, {}, "conf"));
}

}  // namespace
}  // namespace steptune
