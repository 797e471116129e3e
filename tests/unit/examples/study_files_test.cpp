// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/rng.hpp"
#include "program.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::test {

namespace {

namespace fs = std::filesystem;

struct Example {
  std::string name;                    ///< folder
  std::string program;                 ///< used instead of the study file's program
  std::vector<std::string> short_run;  ///< options that make a run of about a second
};

/// Returns a configuration in which every conditional parameter is active.
Configuration full_configuration(const SearchSpace& space) {
  Rng rng(1, "study files");
  for (;;) {
    const auto configuration = space.sample(rng);
    if (!configuration) {
      ADD_FAILURE() << "the space is empty";
      return {};
    }
    if (configuration->values().size() == space.parameters().size()) return *configuration;
  }
}

/// Returns the study's command with its environment, in the syntax of `env`.
std::vector<std::string> short_command(const StudySpec& study, const Configuration& configuration,
                                       const Example& example) {
  const RenderedCommand rendered = render_command(study, configuration);
  std::vector<std::string> argv = {"/usr/bin/env", "-C", study.working_directory.string()};
  for (const auto& [variable, value] : rendered.environment) {
    argv.push_back(variable + "=" + value);
  }
  argv.insert(argv.end(), rendered.argv.begin(), rendered.argv.end());
  const auto program = argv.begin() + 3 + static_cast<int>(rendered.environment.size());
  if (!example.program.empty()) *program = example.program;
  argv.insert(argv.end(), example.short_run.begin(), example.short_run.end());
  return argv;
}

void check_example(const Example& example) {
  const fs::path file = fs::path(STEPTUNE_SOURCE_DIR "/examples") / example.name / "study.json";
  const auto study = read_study(file, {{"cpus", 4.0}, {"gpus", 0.0}, {"memory_gb", 8.0}});
  ASSERT_TRUE(study) << study.error().text();
  for (const Configuration& configuration : {study->baseline, full_configuration(study->space)}) {
    const Ended ended = run(short_command(*study, configuration, example), true);
    EXPECT_EQ(ended.exit_status, 0) << configuration.text() << '\n' << ended.err;
    EXPECT_THAT(ended.out, testing::HasSubstr("loss"));
  }
}

TEST(StudyFiles, ImageClassifierUnderstandsItsStudy) {
  const fs::path data =
      fs::path(testing::TempDir()) / ("steptune-study-" + std::to_string(getpid()));
  const std::string program = STEPTUNE_BINARY_DIR "/bin/image_classifier";
  const Ended generated =
      run({program, "--generate", data.string(), "--images", "40", "--size", "64"});
  ASSERT_EQ(generated.exit_status, 0) << generated.err;
  check_example({"image_classifier", program, {"--data", data.string(), "--epochs", "1"}});
  fs::remove_all(data);
}

TEST(StudyFiles, CharGptUnderstandsItsStudy) {
  check_example({"char_gpt",
                 STEPTUNE_BINARY_DIR "/bin/char_gpt",
                 {"--steps", "1", "--sequence-length", "16", "--width", "32"}});
}

TEST(StudyFiles, PytorchResnetUnderstandsItsStudy) {
  check_example({"pytorch_resnet",
                 "",
                 {"--images", "128", "--size", "48", "--epochs", "1", "--log-every", "1"}});
}

}  // namespace

}  // namespace steptune::test
