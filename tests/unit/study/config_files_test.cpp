// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/config_files.hpp"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::k_facts;
using ::testing::Pair;
namespace fs = std::filesystem;

const char* const k_config = R"({
  // of one GPU
  "train_micro_batch_size_per_gpu": 8,
  "bf16": {"enabled": false},
  "zero_optimization": {"stage": 0, "sub_group_size": 1e9},
  "optimizer": {"type": "AdamW"}
}
)";

const char* const k_study = R"({
  "name": "ds",
  "command": ["deepspeed", "train.py", "--deepspeed_config={ds}"],
  "env": {"DS": "{ds}"},
  "config_files": {"ds": {"file": "conf/ds.json", "edits": {
    "train_micro_batch_size_per_gpu": "{batch}",
    "bf16.enabled": "{precision}",
    "zero_optimization.stage": "{stage}",
    "optimizer.type": "{precision}Adam"}}},
  "parameters": {
    "batch": {"type": "int", "low": 1, "high": 64, "scale": "log2"},
    "precision": {"type": "categorical", "choices": {"half": "true", "full": "false"}},
    "stage": {"type": "int", "low": 0, "high": 3, "when": "precision == 'half'"}
  },
  "baseline": {"batch": 8, "precision": "full"}
})";

class ConfigFiles : public ::testing::Test {
 protected:
  ConfigFiles() { folder_.write("conf/ds.json", k_config); }

  [[nodiscard]] Result<StudySpec> read(const std::string& patch = "{}") const {
    Json document = *parse_json(k_study, "study.json");
    document.merge_patch(*parse_json(patch, "patch"));
    return study_from_json(document, folder_.path() / "study.json", k_facts);
  }
  [[nodiscard]] StudySpec study(const std::string& patch = "{}") const { return must(read(patch)); }
  [[nodiscard]] std::string refused(const std::string& patch) const {
    const auto study = read(patch);
    return study ? "" : study.error().text();
  }
  [[nodiscard]] fs::path config() const { return folder_.path() / "conf/ds.json"; }

  TemporaryFolder folder_{"config-files"};
};

Configuration half() {
  return Configuration({{"batch", std::int64_t{16}},
                        {"precision", std::string("half")},
                        {"stage", std::int64_t{2}}});
}

TEST_F(ConfigFiles, ACopyDiffersInTunedValuesOnly) {
  const StudySpec of = study();
  EXPECT_EQ(must(config_text(of.config_files.at("ds"), half())), R"({
  // of one GPU
  "train_micro_batch_size_per_gpu": 16,
  "bf16": {"enabled": true},
  "zero_optimization": {"stage": 2, "sub_group_size": 1e9},
  "optimizer": {"type": "trueAdam"}
}
)");
  // An inactive parameter keeps the file's own value.
  EXPECT_THAT(must(config_text(of.config_files.at("ds"), of.baseline)),
              HasSubstr(R"("stage": 0, "sub_group_size": 1e9)"));
}

TEST_F(ConfigFiles, TheCommandNamesTheFileAndATrialItsCopy) {
  const StudySpec of = study();
  const RenderedCommand plain = render_command(of, of.baseline);
  EXPECT_THAT(plain.argv,
              ElementsAre("deepspeed", "train.py", "--deepspeed_config=" + config().string()));
  EXPECT_EQ(plain.environment.at("DS"), config().string());
  const auto copies = config_copies(of, "/logs/trial-7.2.log");
  EXPECT_EQ(copies.at("ds"), "/logs/trial-7.2.ds.json");
  EXPECT_EQ(render_command(of, of.baseline, copies).argv.back(),
            "--deepspeed_config=/logs/trial-7.2.ds.json");
  EXPECT_THAT(config_copies(of, {}), IsEmpty());
}

TEST_F(ConfigFiles, CopiesAreWrittenBesideTheLog) {
  const StudySpec of = study();
  const fs::path log = folder_.path() / "trial-1.log";
  ASSERT_TRUE(write_config_copies(of, half(), log));
  std::ifstream stream(folder_.path() / "trial-1.ds.json");
  const std::string written{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(written, must(config_text(of.config_files.at("ds"), half())));
  EXPECT_EQ(must(read_config_file(config())), k_config) << "the file itself is unchanged";
  const auto nowhere = write_config_copies(of, half(), folder_.path() / "no/trial-1.log");
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().text(), HasSubstr("no/trial-1.ds.json"));
}

TEST_F(ConfigFiles, AStoredStudyContinuesWithoutTheFile) {
  const StudySpec of = study();
  fs::remove(config());
  const StudySpec again = must(study_from_json(of.document, "/stored/ds", k_facts));
  EXPECT_EQ(again.document, of.document);
  EXPECT_EQ(again.config_files.at("ds").content, k_config);
}

TEST_F(ConfigFiles, UntunedPartsOfTheFileAreInTheFingerprint) {
  const std::string before = study().fingerprint;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = k_config;
    text.replace(text.find(from), from.size(), to);
    folder_.write("conf/ds.json", text);
    return study().fingerprint;
  };
  // `best --apply` writes the values that every trial replaces.
  EXPECT_EQ(with(": 8,", ": 32,"), before);
  EXPECT_NE(with("1e9", "1e8"), before);
  EXPECT_NE(with("\"stage\": 0", "\"stage\": 1"), before) << "the file of the baseline has changed";
  folder_.write("conf/ds.json", k_config);
  EXPECT_NE(study(R"({"config_files": {"ds": {"edits": {"bf16.enabled": "false"}}}})").fingerprint,
            before);
}

TEST_F(ConfigFiles, FaultsNameTheirPlace) {
  const auto faulty = [&](const std::string& file) {
    return refused(R"({"config_files": {"ds": )" + file + "}}");
  };
  EXPECT_THAT(faulty(R"({"file": "none.json"})"),
              AllOf(HasSubstr("#/config_files/ds/file"), HasSubstr("there is no file"),
                    HasSubstr("none.json")));
  EXPECT_THAT(faulty(R"({"file": "conf"})"), HasSubstr("must end in .json"));
  EXPECT_THAT(faulty(R"({"edits": {"zero_optimization.stge": "1"}})"),
              AllOf(HasSubstr("#/config_files/ds/edits/zero_optimization.stge"),
                    HasSubstr("in ds.json: no key zero_optimization.stge"),
                    HasSubstr("did you mean zero_optimization.stage (line 5)?")));
  EXPECT_THAT(faulty(R"({"edits": {"bf16": "true"}})"),
              HasSubstr("bf16 contains other keys, not a value"));
  EXPECT_THAT(faulty(R"({"edits": {"bf16.enabled": "{prec}"}})"),
              AllOf(HasSubstr("#/config_files/ds/edits/bf16.enabled"),
                    HasSubstr("{prec} has no parameter")));
  EXPECT_THAT(faulty(R"({"edits": {"bf16.enabled": "{ds}"}})"), HasSubstr("{ds} has no parameter"));
  EXPECT_THAT(faulty(R"({"edits": null})"), HasSubstr("the key \"edits\" is missing"));
  EXPECT_THAT(faulty(R"({"content": "{"})"), HasSubstr("#/config_files/ds/file"));
  folder_.write("conf/ds.json", "\"\xff\"");
  EXPECT_THAT(refused("{}"), HasSubstr("is not UTF-8"));
}

TEST_F(ConfigFiles, NamesMustBeUniqueAndUsed) {
  EXPECT_THAT(refused(R"({"config_files": {"batch": {"file": "x.json", "edits": {}}}})"),
              HasSubstr("a parameter is called batch, too"));
  EXPECT_THAT(refused(R"({"config_files": {"cpus": {"file": "x.json", "edits": {}}}})"),
              HasSubstr("cpus is a fact about the machine"));
  EXPECT_THAT(refused(R"({"config_files": {"a-b": {"file": "x.json", "edits": {}}}})"),
              HasSubstr("is not a placeholder's name"));
  EXPECT_THAT(refused(R"({"command": ["train"], "env": null})"),
              AllOf(HasSubstr("#/config_files/ds"), HasSubstr("nothing reads this file")));
  EXPECT_THAT(refused(R"({"command": ["train", "{dss}"]})"), HasSubstr("did you mean \"ds\"?"));
}

TEST_F(ConfigFiles, EveryChoiceMustBeWritable) {
  folder_.write("conf/run.ini", "[train]\nmode = fast\n");
  const auto study = study_from_json(*parse_json(R"({"name": "x", "command": ["train", "{x}"],
      "config_files": {"x": {"file": "conf/run.ini", "edits": {"train.mode": "{mode}"}}},
      "parameters": {"mode": {"type": "categorical", "choices": {"fast": "fast", "none": ""}}},
      "baseline": {"mode": "fast"}})",
                                                 "study"),
                                     folder_.path() / "study.json", k_facts);
  ASSERT_FALSE(study) << "the trial with mode=none would end the run";
  EXPECT_THAT(study.error().text(),
              AllOf(HasSubstr("#/config_files/x/edits"), HasSubstr("run.ini: cannot be changed"),
                    HasSubstr("(for mode=none)")));
}

TEST_F(ConfigFiles, AreSentToRemoteMachines) {
  const char* const cloud = R"({"runner": {"type": "sagemaker", "region": "us-east-1",
      "role": "arn:aws:iam::123456789012:role/training", "instance_type": "ml.g5.xlarge",
      "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1",
      "output": "s3://bucket/out"}})";
  const StudySpec of = study(cloud);
  EXPECT_EQ(trial_config_paths(of, "/logs/trial-1.log").at("ds"), "/tmp/steptune/ds.json");
  EXPECT_THAT(carried_config_files(of, half()),
              ElementsAre(Pair("/tmp/steptune/ds.json",
                               must(config_text(of.config_files.at("ds"), half())))));
  EXPECT_EQ(trial_config_paths(study(), "/logs/trial-1.log").at("ds"), "/logs/trial-1.ds.json");
  // A request's capacity for files.
  folder_.write("conf/ds.json", k_config + std::string(30'000, ' '));
  EXPECT_THAT(refused(cloud),
              AllOf(HasSubstr("#/config_files"), HasSubstr("SageMaker would refuse the job")));
}

TEST_F(ConfigFiles, CopiesKeepRelativePathsValid) {
  folder_.write("base.yaml", "lr: 1\n");
  folder_.write("conf/words.txt", "a b\n");
  folder_.write("data.txt", "x\n");
  folder_.write("conf/data.txt", "x\n");
  folder_.write("conf/x.yaml",
                "_BASE_: \"../base.yaml\"  # first\nbatch: 8\nwords: words.txt\ndata: data.txt\n"
                "name: conf\n");
  fs::create_directories(folder_.path() / "logs");
  const StudySpec of =
      must(study_from_json(*parse_json(R"({"name": "x", "command": ["train", "{x}"],
                      "config_files": {"x": {"file": "conf/x.yaml", "edits": {"batch": "{batch}"}}},
                      "parameters": {"batch": {"type": "int", "low": 1, "high": 64}},
                      "baseline": {"batch": 16}})",
                                       "study"),
                           folder_.path() / "study.json", k_facts));
  must(write_config_copies(of, of.baseline, folder_.path() / "logs/trial-1.log"));
  std::ifstream copy(folder_.path() / "logs/trial-1.x.yaml");
  const std::string text{std::istreambuf_iterator<char>(copy), {}};
  const std::string folder = folder_.path().string();
  EXPECT_EQ(text, "_BASE_: \"" + folder + "/base.yaml\"  # first\nbatch: 16\nwords: \"" + folder +
                      "/conf/words.txt\"\ndata: data.txt\nname: conf\n")
      << "a program that runs in the study's folder finds data.txt there";
}

TEST_F(ConfigFiles, ALauncherMayReadAConfigFile) {
  const StudySpec of = study(R"({"command": ["python3", "train.py"], "env": null,
      "launch": {"processes_per_node": 1, "options": ["--config={ds}"]}})");
  EXPECT_THAT(launch_of(of, of.baseline)->options, ElementsAre("--config=" + config().string()));
}

}  // namespace
}  // namespace steptune
