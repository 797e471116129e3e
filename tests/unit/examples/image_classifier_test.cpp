// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "program.hpp"
#include "tests/support/read_file.hpp"

namespace steptune::test {

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const std::string k_image_classifier = STEPTUNE_BINARY_DIR "/bin/image_classifier";

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[fs::relative(entry.path(), folder).string()] = read_file(entry.path());
    }
  }
  return files;
}

class ImageClassifier : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              ("steptune-images-" + std::to_string(getpid()) + "-" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path generate(const std::string& name, int images = 48) const {
    const fs::path data = folder_ / name;
    const Ended ended = run(generate_command(data, images));
    EXPECT_EQ(ended.exit_status, 0) << ended.err;
    return data;
  }
  static std::vector<std::string> generate_command(const fs::path& data, int images = 48) {
    return {k_image_classifier, "--generate", data.string(), "--images", std::to_string(images),
            "--classes",        "3",          "--size",      "72"};
  }
  static std::vector<std::string> train_command(const fs::path& data,
                                                const std::vector<std::string>& options) {
    std::vector<std::string> argv = {k_image_classifier, "--data", data.string(), "--crop", "32"};
    argv.insert(argv.end(), options.begin(), options.end());
    return argv;
  }
  static Report last_report(const fs::path& data, const std::vector<std::string>& options) {
    const Ended ended = run(train_command(data, options), true);
    EXPECT_EQ(ended.exit_status, 0) << ended.err;
    const std::vector<Report> reports = reports_in(ended.out);
    EXPECT_FALSE(reports.empty());
    return reports.empty() ? Report() : reports.back();
  }

  fs::path folder_;
};

TEST_F(ImageClassifier, TheSameSetIsGeneratedTwiceAndLeftAloneAfterwards) {
  const fs::path first = generate("first");
  EXPECT_EQ(contents(first), contents(generate("second")));
  EXPECT_EQ(contents(first).size(), 48U + 1U);

  const auto written = fs::last_write_time(first / "checks" / "000000.jpg");
  const Ended again = run(generate_command(first));
  EXPECT_EQ(again.exit_status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("already"));
  EXPECT_EQ(fs::last_write_time(first / "checks" / "000000.jpg"), written);
}

TEST_F(ImageClassifier, AnInterruptedGenerationIsCompleted) {
  const fs::path data = generate("data");
  const auto complete = contents(data);
  std::string manifest = read_file(data / "generated.json");
  manifest.replace(manifest.find("true"), 4, "false");
  std::ofstream(data / "generated.json") << manifest;
  fs::remove(data / "checks" / "000003.jpg");
  EXPECT_EQ(run(generate_command(data)).exit_status, 0);
  EXPECT_EQ(contents(data), complete);
}

TEST_F(ImageClassifier, AFolderWithOtherFilesIsNotOverwritten) {
  const fs::path data = generate("data");
  const auto before = contents(data);
  const Ended other = run(generate_command(data, 50));
  EXPECT_EQ(other.exit_status, 2);
  EXPECT_THAT(other.err, HasSubstr("another set"));
  EXPECT_EQ(contents(data), before);
  const Ended foreign = run(generate_command(folder_));
  EXPECT_EQ(foreign.exit_status, 2);
  EXPECT_THAT(foreign.err, HasSubstr("something else"));
}

TEST_F(ImageClassifier, LearnsToTellThePicturesApart) {
  const fs::path data = generate("data", 240);
  const Ended ended = run(train_command(data, {"--steps", "150", "--batch-size", "24", "--workers",
                                               "2", "--learning-rate", "0.02"}),
                          true);
  ASSERT_EQ(ended.exit_status, 0) << ended.err;
  const std::vector<Report> reports = reports_in(ended.out);
  ASSERT_GE(reports.size(), 2U);
  EXPECT_EQ(*reports.front().step, 1.0);
  // Guessing among three classes gives ln 3 = 1.10.
  EXPECT_GT(reports.front().metrics.at("loss"), 0.8);
  EXPECT_LT(reports.back().metrics.at("loss"), 0.85);
  EXPECT_GT(reports.back().parts.at("compute"), 0.0);
  EXPECT_GT(reports.back().parts.at("data"), 0.0);
}

TEST_F(ImageClassifier, LoaderSettingsDoNotChangeTheLosses) {
  const fs::path data = generate("data");
  const std::vector<std::string> common = {"--steps", "8", "--batch-size", "10"};
  const auto loss_with = [&](std::vector<std::string> options) {
    options.insert(options.end(), common.begin(), common.end());
    return last_report(data, options).metrics.at("loss");
  };
  const double in_line = loss_with({});
  EXPECT_EQ(loss_with({"--workers", "2", "--prefetch", "3"}), in_line);
  EXPECT_NEAR(loss_with({"--channels-last"}), in_line, 1e-3);
  EXPECT_NE(loss_with({"--seed", "2"}), in_line);
}

TEST_F(ImageClassifier, CountsTheSamplesOfAccumulatedBatches) {
  const Report report =
      last_report(generate("data"), {"--steps", "3", "--batch-size", "8", "--accumulate", "2",
                                     "--precision", "bf16", "--channels-last", "--threads", "2"});
  EXPECT_EQ(*report.step, 3.0);
  EXPECT_EQ(*report.samples, 48.0);
}

TEST_F(ImageClassifier, EpochsAreTranslatedToSteps) {
  EXPECT_EQ(*last_report(generate("data"), {"--epochs", "1.5", "--batch-size", "16"}).step, 5.0);
}

TEST_F(ImageClassifier, PrintsNoReportsOutsideATuner) {
  const Ended ended = run(train_command(generate("data"), {"--steps", "2"}));
  EXPECT_EQ(ended.exit_status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("images/s"));
  EXPECT_THAT(ended.out, Not(HasSubstr("[steptune]")));
}

TEST_F(ImageClassifier, APictureThatCannotBeDecodedIsNamed) {
  const fs::path data = generate("data");
  const fs::path bad = data / "checks" / "000003.jpg";
  const std::string whole = read_file(bad);
  for (const std::string& broken : {whole.substr(0, whole.size() / 2), std::string("no JPEG")}) {
    std::ofstream(bad, std::ios::trunc | std::ios::binary) << broken;
    for (const char* const workers : {"0", "2"}) {
      const Ended ended = run(train_command(data, {"--epochs", "3", "--workers", workers}));
      EXPECT_EQ(ended.exit_status, 2);
      EXPECT_THAT(ended.err, HasSubstr(bad.string()));
    }
  }
}

TEST_F(ImageClassifier, WrongDataFoldersAreRefused) {
  const auto fault = [](const fs::path& data) {
    const Ended ended = run({k_image_classifier, "--data", data.string()});
    EXPECT_EQ(ended.exit_status, 2);
    return ended.err;
  };
  EXPECT_THAT(fault(folder_ / "missing"), HasSubstr("No such file"));
  EXPECT_THAT(fault(folder_), HasSubstr("fewer than two class folders"));
  fs::create_directories(folder_ / "cats");
  EXPECT_THAT(fault(folder_), HasSubstr("holds no .jpg file"));
}

TEST_F(ImageClassifier, WrongOptionsAreRefused) {
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"--batch-size", "0"},
                                             {"--precision", "fp8"},
                                             {"--threads", "many"},
                                             {"--width", "24"},
                                             {"--worker", "2"},
                                             {"--steps", "1", "--epochs", "1"},
                                             {"--images", "9"},
                                             {}}) {
    std::vector<std::string> argv = {k_image_classifier};
    argv.insert(argv.end(), options.begin(), options.end());
    const Ended ended = run(argv);
    EXPECT_EQ(ended.exit_status, 2) << testing::PrintToString(options);
    EXPECT_THAT(ended.err, HasSubstr(options.empty() ? "--data" : options[0]));
  }
}

TEST_F(ImageClassifier, EndsOnSigtermWithWorkersBusy) {
  Program program(train_command(generate("data"), {"--epochs", "100000", "--workers", "2"}), false);
  program.read_until("images/s");
  program.send(SIGTERM);
  EXPECT_EQ(program.wait().signal, SIGTERM);
}

}  // namespace

}  // namespace steptune::test
