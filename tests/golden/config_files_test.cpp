// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/output_schema.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_config_study = R"json({
  "name": "ds",
  "command": ["/bin/sh", "train.sh", "{ds}"],
  "config_files": {"ds": {"file": "conf/ds.json", "edits": {"train.micro_batch": "{batch}"}}},
  "parameters": {"batch": {"type": "ordinal", "choices": [1, 4]}},
  "baseline": {"batch": 1},
  "search": {"searcher": "grid", "scheduler": "none"},
  "budget": {"trials": 2},
  "measure": {"max_trial": "60s", "min_window": "1s", "target_half_width": 0.05, "confirm_pairs": 1, "interleave": false},
  "runner": {"type": "local", "pin": false}
})json";

constexpr const char* k_config_text =
    "{\n  // of one GPU\n  \"train\": {\"micro_batch\": 1, \"lr\": 0.1}\n}\n";

/// Trial that reads its batch from the named file; a larger batch is faster.
constexpr const char* k_config_trial = R"(cat "$1" > seen.json
batch=$(sed -n 's/.*"micro_batch": *\([0-9]*\).*/\1/p' "$1")
i=0
while [ $i -lt 150 ]; do
  i=$((i + 1))
  clock=$(printf '%d.%02d' $((i * 20 / 100)) $((i * 20 % 100)))
  echo "[steptune] {\"v\":1,\"step\":$i,\"samples\":$((i * batch)),\"clock\":$clock}"
  sleep 0.02
done
)";

std::string with_batch(const std::string& batch) {
  std::string text = k_config_text;
  const std::string key = "\"micro_batch\": ";
  text.replace(text.find(key) + key.size(), 1, batch);
  return text;
}

/// A study whose parameter is in a file of the program, tuned once for all tests.
class ConfigStudy : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    sandbox_->write("study.json", k_config_study);
    sandbox_->write("conf/ds.json", k_config_text);
    sandbox_->write("train.sh", k_config_trial);
    ended_ = sandbox_->steptune({"run", "study.json", "--quiet"});
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  static std::unique_ptr<Sandbox> sandbox_;
  static Ended ended_;
};
std::unique_ptr<Sandbox> ConfigStudy::sandbox_;
Ended ConfigStudy::ended_;

TEST_F(ConfigStudy, EachTrialReadsACopyOfItsOwn) {
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_THAT(ended_.out, HasSubstr("change  batch  1 -> 4  ds.json  train.micro_batch: 4\n"));
  EXPECT_EQ(sandbox_->read("conf/ds.json"), k_config_text) << "the file itself is left alone";
  EXPECT_EQ(sandbox_->read(".steptune/logs/ds/trial-1.ds.json"), k_config_text);
  EXPECT_EQ(sandbox_->read(".steptune/logs/ds/trial-2.ds.json"), with_batch("4"));
}

TEST_F(ConfigStudy, CheckShowsWhatTheCopiesSay) {
  const Ended ended = sandbox_->steptune({"check", "study.json", "--show", "1"});
  EXPECT_THAT(ended.out, HasSubstr("conf/ds.json: each trial reads a copy with 1 edited value\n"));
  EXPECT_THAT(ended.out, HasSubstr("   ds.json with train.micro_batch=1\n"));
  const Ended json = sandbox_->steptune({"check", "study.json", "--json"});
  EXPECT_TRUE(is_as_defined(*sandbox_, json.out, "check"));
}

TEST_F(ConfigStudy, ExecWritesTheCopyAnewAndRunsTheCommandOnIt) {
  fs::remove(sandbox_->folder() / ".steptune/logs/ds/trial-2.ds.json");
  const Ended shown = sandbox_->steptune({"show", "ds", "2"});
  EXPECT_THAT(shown.out, HasSubstr("steptune exec ds --trial 2")) << shown.err;
  const Ended ended = sandbox_->steptune({"exec", "ds", "--trial", "2", "--quiet"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(sandbox_->read("seen.json"), with_batch("4"));
}

TEST_F(ConfigStudy, ExecLeavesSignalsToTheProgramAsItFoundThem) {
  // Compares only SIGUSR1 and SIGPIPE (bits 0x1200). The tests may run with other signals ignored.
  const auto ignored = [&](const std::string& before) {
    const Ended ended =
        sandbox_->program({"/bin/sh", "-c",
                           before + "exec \"$0\" exec ds --quiet -- /bin/sh -c '" +
                               "set -- $(grep SigIgn /proc/self/status); echo $((0x$2 & 0x1200))'",
                           steptune_program()});
    return ended.out;
  };
  EXPECT_EQ(ignored(""), "0\n");
  EXPECT_EQ(ignored("trap '' PIPE USR1; "), fmt::format("{}\n", 0x1200));
}

TEST_F(ConfigStudy, BestNamesTheFileAndApplyEditsIt) {
  const Ended json = sandbox_->steptune({"best", "--json"});
  EXPECT_TRUE(is_as_defined(*sandbox_, json.out, "best"));
  const auto best = parse_json(json.out, "best");
  ASSERT_TRUE(best) << json.err;
  EXPECT_EQ((*best)["config_files"]["ds"]["values"], Json({{"train.micro_batch", 4}}));
  const Ended args = sandbox_->steptune({"best", "--format", "args"});
  EXPECT_THAT(args.out, HasSubstr("/conf/ds.json"));
  EXPECT_THAT(args.err, HasSubstr("steptune best ds --apply "));
  EXPECT_THAT(sandbox_->steptune({"best"}).out, HasSubstr("edit    steptune best ds --apply "));
  const Ended applied = sandbox_->steptune({"best", "--apply", "conf/ds.json", "--yes"});
  EXPECT_EQ(applied.exit_code, 0) << applied.err;
  EXPECT_EQ(sandbox_->read("conf/ds.json"), with_batch("4"));
  EXPECT_THAT(sandbox_->steptune({"best", "--format", "args"}).err, Not(HasSubstr("--apply")));
  EXPECT_THAT(sandbox_->steptune({"best"}).out, Not(HasSubstr("--apply")));
  // A change of a value that every trial replaces is the same study; other changes are not.
  EXPECT_EQ(sandbox_->steptune({"run", "study.json", "--quiet"}).exit_code, 0);
  std::string other = k_config_text;
  other.replace(other.find("0.1"), 3, "0.2");
  sandbox_->write("conf/ds.json", other);
  const Ended refused = sandbox_->steptune({"run", "study.json", "--quiet"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("its file has changed in \"config_files\""));
  sandbox_->write("conf/ds.json", k_config_text);
}

TEST(ConfigFilesOfInit, OffersTheSettingsInADeepSpeedFile) {
  const Sandbox sandbox;
  sandbox.write("ds.json",
                R"({"train_micro_batch_size_per_gpu": 8, "gradient_accumulation_steps": 2,
                    "zero_optimization": {"stage": 1}})");
  // Fake launcher: starts the script with the remaining words.
  sandbox.write("deepspeed", "#!/bin/sh\nexec /bin/sh \"$@\"\n");
  fs::permissions(sandbox.folder() / "deepspeed", fs::perms::owner_all);
  sandbox.write("train.sh", "echo usage: train.sh; exit 0\n");
  const Ended ended = sandbox.steptune(
      {"init", "--no-run", "--", "./deepspeed", "train.sh", "--deepspeed_config", "ds.json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("varies  zero_stage 0..3, today 1 (ds.json)"));
  const Ended check = sandbox.steptune({"check"});
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr("ds.json with zero_optimization.stage=1"));
  // `run -- COMMAND` finds the same parameters, even if a hook could find others.
  fs::remove(sandbox.folder() / "deepspeed.study.json");
  const Ended run =
      sandbox.steptune({"check", "--", "./deepspeed", "train.sh", "--deepspeed_config", "ds.json"});
  EXPECT_THAT(run.err, HasSubstr("the command names a DeepSpeed configuration"));
}

/// Trial with an override after the file, so the file's value has no effect. Reports only steps.
constexpr const char* k_overridden_trial = R"(i=0
while [ $i -lt 150 ]; do
  i=$((i + 1))
  clock=$(printf '%d.%02d' $((i * 20 / 100)) $((i * 20 % 100)))
  echo "[steptune] {\"v\":1,\"step\":$i,\"clock\":$clock}"
  sleep 0.02
done
)";

TEST(OverriddenFile, ABatchSizeThatTheProgramIgnoresIsNoGain) {
  const Sandbox sandbox;
  sandbox.write("conf/ds.json", k_config_text);
  sandbox.write("train.sh", k_overridden_trial);
  auto study = parse_json(k_config_study, "study");
  ASSERT_TRUE(study);
  (*study)["command"].push_back("train.micro_batch=1");
  (*study)["planned_run"] = {{"batch_size", "batch"}};
  sandbox.write("study.json", study->dump());
  const Ended ended = sandbox.steptune({"run", "study.json", "--quiet"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, Not(HasSubstr("4.00 times")));
  EXPECT_THAT(ended.out, Not(HasSubstr("best   batch=4")));
  EXPECT_THAT(sandbox.steptune({"show", "2"}).out, HasSubstr("batch=4 changed neither step time"));
  EXPECT_THAT(sandbox.steptune({"leaderboard"}).out, HasSubstr("infeasible"));
}

}  // namespace
}  // namespace steptune::golden
