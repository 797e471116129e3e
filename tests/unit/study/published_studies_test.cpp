// SPDX-License-Identifier: Apache-2.0
// Tests that the project accepts the studies that it publishes.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"
#include "trial_runner/replay/replay_kind.hpp"

namespace steptune {
namespace {

std::string reference() {
  std::ifstream file(STEPTUNE_SOURCE_DIR "/docs/study-file.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PublishedStudies, ExampleOfTheReferenceIsSound) {
  const std::string text = reference();
  const auto from = text.find("```jsonc") + 8;
  const auto document = parse_json(text.substr(from, text.find("```", from) - from), "docs");
  ASSERT_TRUE(document) << document.error().text();
  const auto study = testing::read(*document);
  EXPECT_TRUE(study) << study.error().text();
}

TEST(PublishedStudies, ExampleProgramsHaveSoundStudies) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STEPTUNE_SOURCE_DIR "/examples")) {
    const auto path = entry.path() / "study.json";
    if (!std::filesystem::exists(path)) continue;
    ++found;
    for (const double cpus : {1.0, 2.0, 8.0, 128.0}) {
      const auto document = read_json_file(path);
      ASSERT_TRUE(document) << document.error().text();
      const auto study =
          study_from_json(*document, path, {{"cpus", cpus}, {"gpus", 0}, {"memory_gb", 16}});
      EXPECT_TRUE(study) << cpus << " processors: " << study.error().text();
    }
  }
  EXPECT_GT(found, 0);
}

TEST(PublishedStudies, StudiesOfDistributedProgramsAreValid) {
  int found = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(STEPTUNE_SOURCE_DIR "/examples/distributed")) {
    if (entry.path().extension() != ".json") continue;
    ++found;
    const auto study = read_study(entry.path(), {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 16}});
    EXPECT_TRUE(study) << study.error().text();
  }
  EXPECT_EQ(found, 5);
}

TEST(PublishedStudies, HeterogeneousClustersHavePublishedPrices) {
  struct Published {
    const char* file;
    std::int64_t helpers;
    double usd_per_hour;
    double usd_per_step;
  };
  for (const Published& published : {Published{"p4d_with_helpers.json", 0, 37.688, 0.00201},
                                     Published{"p4d_with_helpers.json", 2, 45.032, 0.00108},
                                     Published{"p3_with_helpers.json", 0, 3.825, 0.00127},
                                     Published{"p3_with_helpers.json", 1, 5.661, 0.00029}}) {
    const auto study = read_study(
        fmt::format("{}/examples/heterogeneous/{}", STEPTUNE_SOURCE_DIR, published.file), {});
    ASSERT_TRUE(study) << study.error().text();
    Configuration configuration;
    configuration.set("helpers", published.helpers);
    const double price = usd_per_hour(*study, configuration);
    EXPECT_NEAR(price, published.usd_per_hour, 1e-9);
    const auto& replay = dynamic_cast<const ReplaySettings&>(*study->runner).section();
    const double step_s = replay.seconds_per_sample->evaluate(configuration);
    EXPECT_NEAR(step_s * price / 3600.0, published.usd_per_step, 5e-6);
  }
}

}  // namespace
}  // namespace steptune
