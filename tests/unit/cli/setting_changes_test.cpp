// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/setting_changes.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

StudySpec study_of(const std::string& text) {
  auto study = study_from_json(Json::parse(text), "/train/study.json", {});
  if (!study) throw std::runtime_error(study.error().text());
  return *std::move(study);
}

Value word(const char* text) {
  return Value(std::string(text));
}

TEST(SettingChanges, NameTheWordsOfTheCommandTheFileAndTheVariable) {
  const StudySpec study = study_of(R"({
    "name": "demo",
    "command": ["train", "--batch-size={batch}", "--workers", "{workers}", "--amp", "{precision}",
                {"when": "compile", "args": ["--compile"]}, {"when": "fast", "args": ["--fast"]}],
    "env": {"OMP_NUM_THREADS": "{threads}"},
    "parameters": {
      "batch": {"type": "int", "low": 16, "high": 256},
      "workers": {"type": "int", "low": 0, "high": 8},
      "precision": {"type": "categorical", "choices": ["fp32", "bf16"]},
      "compile": {"type": "bool"},
      "fast": {"type": "bool"},
      "threads": {"type": "int", "low": 1, "high": 8}
    },
    "baseline": {"batch": 32, "workers": 0, "precision": "fp32", "compile": false, "fast": true, "threads": 8},
    "runner": {"type": "local"}
  })");
  Configuration advised = study.baseline;
  advised.set("batch", std::int64_t{128});
  advised.set("workers", std::int64_t{4});
  advised.set("compile", true);
  advised.set("fast", false);
  advised.set("threads", std::int64_t{2});
  EXPECT_EQ(change_lines(setting_changes(study, advised, {}), 0),
            "change  batch    32 -> 128                   --batch-size=128\n"
            "        workers  0 -> 4                      --workers 4\n"
            "        compile  false -> true               --compile\n"
            "        fast     true -> false               without --fast\n"
            "        threads  8 -> 2         environment  OMP_NUM_THREADS=2\n");
  EXPECT_TRUE(setting_changes(study, study.baseline, {}).empty());
}

TEST(SettingChanges, NameRangesThatCouldBeExtended) {
  auto study = study_from_json(Json::parse(R"({
    "name": "demo",
    "command": ["train", "{batch}", "{workers}", "{threads}", "{lanes}", "{amp}", "{rate}"],
    "parameters": {
      "batch": {"type": "int", "low": 16, "high": 256},
      "workers": {"type": "int", "low": 0, "high": 8},
      "threads": {"type": "int", "low": 1, "high": 8},
      "lanes": {"type": "ordinal", "choices": [2, 4, 8]},
      "amp": {"type": "bool"},
      "rate": {"type": "float", "low": 0.125, "high": 0.5}
    },
    "baseline": {"batch": 32, "workers": 2, "threads": 4, "lanes": 4, "amp": false, "rate": 0.25},
    "runner": {"type": "local"}
  })"),
                               "/train/study.json", {{"cpus", 8}});
  ASSERT_TRUE(study) << study.error().text();
  const auto line = [&](const std::string& name, const Value& value) {
    Configuration advised = study->baseline;
    advised.set(name, value);
    return range_line(setting_changes(*study, advised, {}));
  };
  const auto whole = [](std::int64_t value) { return Value(value); };
  EXPECT_EQ(line("batch", whole(256)),
            "range   batch 256 is the end of its range: nothing beyond was tried\n");
  EXPECT_NE(line("batch", whole(16)), "");
  EXPECT_EQ(line("batch", whole(128)), "");
  EXPECT_NE(line("workers", whole(8)), "");
  EXPECT_EQ(line("workers", whole(0)), "") << "there are no fewer";
  EXPECT_EQ(line("threads", whole(1)), "") << "there are no fewer";
  EXPECT_EQ(line("threads", whole(8)), "") << "as many threads as CPUs is the default";
  EXPECT_NE(line("lanes", whole(8)), "");
  EXPECT_NE(line("lanes", whole(2)), "");
  EXPECT_NE(line("rate", Value(0.125)), "");
  EXPECT_EQ(line("amp", Value(true)), "");
  study->facts["cpus"] = 16;
  EXPECT_NE(line("threads", whole(8)), "");
  Configuration both = study->baseline;
  both.set("batch", std::int64_t{256});
  both.set("workers", std::int64_t{8});
  EXPECT_EQ(
      range_line(setting_changes(*study, both, {})),
      "range   batch 256, workers 8 are the ends of their ranges: nothing beyond was tried\n");
}

TEST(SettingChanges, NameTheLineOfTheProgramThatTheHookSaw) {
  const StudySpec study = study_of(R"({
    "name": "train", "command": ["python3", "train.py"],
    "hooks": {"python": {"num_workers": "{num_workers}", "prefetch_factor": "{prefetch}",
                          "num_threads": "{threads}", "omp_wait_policy": "{wait}"}},
    "parameters": {
      "num_workers": {"type": "int", "low": 0, "high": 8},
      "prefetch": {"type": "int", "low": 1, "high": 16, "when": "num_workers > 0"},
      "threads": {"type": "int", "low": 1, "high": 8},
      "wait": {"type": "categorical", "choices": ["default", "active", "passive"]}
    },
    "baseline": {"num_workers": 0, "threads": 8, "wait": "default"},
    "runner": {"type": "local"}
  })");
  HookLog seen;
  seen.add(R"({"event":"knob","knob":"num_workers","may":true,"today":0,
               "where":["train.py:114 DataLoader"]})");
  seen.add(R"({"event":"knob","knob":"prefetch_factor","may":true,"today":2,
               "where":["train.py:114 DataLoader"]})");
  const Configuration advised({{"num_workers", Value{std::int64_t{6}}},
                               {"prefetch", Value{std::int64_t{2}}},
                               {"threads", Value{std::int64_t{1}}},
                               {"wait", word("passive")}});
  EXPECT_EQ(
      change_lines(setting_changes(study, advised, seen), 0),
      "change  num_workers  0 -> 6              train.py:114  DataLoader(..., num_workers=6)\n"
      "        threads      8 -> 1                            torch.set_num_threads(1)\n"
      "        wait         default -> passive  environment   OMP_WAIT_POLICY=passive\n")
      << "two batches ahead are what the loader does anyway";
}

TEST(SettingChanges, AreCutToTheTerminalAndPrintable) {
  std::vector<SettingChange> changes{
      {"a", std::nullopt, word("\x1b[1m"), "train.py:114", "torch.set_num_threads(1)"}};
  const std::string text = change_lines(changes, 40);
  EXPECT_LE(text.size(), 41U) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(change_lines(changes, 0).find("change  a  not set -> "), 0U);
  EXPECT_TRUE(json_of(changes)[0]["today"].is_null());
  EXPECT_EQ(json_of(changes)[0]["place"], "train.py:114");
}

}  // namespace
}  // namespace steptune
