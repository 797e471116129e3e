// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gtest/gtest.h>

#include "common/json.hpp"
#include "trial_runner/reports/report_reader.hpp"

namespace steptune {
namespace {

ReportFormat format_of(const Json& reports) {
  ReportFormat format;
  if (reports.contains("preset")) format.preset = reports["preset"].get<std::string>();
  if (!reports.contains("metrics")) return format;
  for (const Json& metric : reports["metrics"]) {
    format.metrics.push_back(
        {metric["name"].get<std::string>(), metric["regex"].get<std::string>()});
  }
  return format;
}

TEST(PresetFiles, ReadTheLinesThatTheyAreFor) {
  const auto folder = std::filesystem::path(STEPTUNE_SOURCE_DIR) / "configs" / "presets";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    ++files;
    const auto document = read_json_file(entry.path());
    ASSERT_TRUE(document) << document.error().text();
    auto reader = ReportReader::create(format_of(document->at("reports")));
    ASSERT_TRUE(reader) << reader.error().text();
    EXPECT_FALSE(reader->read_line("  --batch-size INT:INT in [1 - 65536] [32] ", 0.5))
        << "the help of CLI11 2.4 is no progress";
    ASSERT_FALSE(document->at("lines").empty());
    for (const Json& sample : document->at("lines")) {
      const auto report = reader->read_line(sample.at("line").get<std::string>(), 1.0);
      ASSERT_TRUE(report) << sample["line"];
      for (const auto& [name, value] : sample.at("tells").items()) {
        if (name == "step") {
          EXPECT_EQ(report->step, value.get<double>());
        } else if (name == "samples") {
          EXPECT_EQ(report->samples, value.get<double>());
        } else if (name == "clock") {
          EXPECT_EQ(report->clock_s, value.get<double>());
        } else if (value.is_null()) {
          EXPECT_TRUE(report->not_finite.contains(name)) << name;
        } else {
          ASSERT_TRUE(report->metrics.contains(name)) << name;
          EXPECT_DOUBLE_EQ(report->metrics.at(name), value.get<double>()) << name;
        }
      }
    }
  }
  EXPECT_GE(files, 9);
}

}  // namespace
}  // namespace steptune
