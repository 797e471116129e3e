// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/meta/source_tree.hpp"

namespace steptune {
namespace {

std::string top_folder(const std::filesystem::path& path) {
  return path.begin()->string();
}

/// Returns the arrows of ARCHITECTURE.md: the folders whose files each folder may include.
const std::map<std::string, std::set<std::string>>& allowed_arrows() {
  static const std::map<std::string, std::set<std::string>> arrows{
      {"common", {"common"}},
      {"search", {"common", "search"}},
      {"trial_runner", {"common", "trial_runner"}},
      {"tuner", {"common", "search", "trial_runner", "tuner"}},
  };
  return arrows;
}

TEST(Arrows, EveryIncludeFollowsTheArchitecture) {
  int seen = 0;
  for (const auto& [folder, allowed] : allowed_arrows()) {
    for (const SourceFile& file : cpp_files_below(folder)) {
      for (const std::string& include : quoted_includes(file)) {
        ++seen;
        EXPECT_TRUE(allowed.contains(top_folder(include)))
            << file.path.string() << " includes \"" << include << "\"";
      }
    }
  }
  EXPECT_GT(seen, 100) << "the include pattern no longer matches anything";
}

/// Returns the folders of the tuner that each folder in it may include. Only folders that run
/// studies include `loop`; the command line may include any.
const std::map<std::string, std::set<std::string>>& allowed_rooms() {
  static const std::map<std::string, std::set<std::string>> rooms{
      {"knobs", {}},
      {"config_edit", {}},
      {"notify", {}},
      {"mcp", {"study"}},
      {"history", {}},
      {"study", {"config_edit", "knobs"}},
      {"analysis", {"history", "study"}},
      {"verdict", {"history", "knobs", "study"}},
      {"loop", {"history", "knobs", "study", "verdict"}},
      {"report", {"analysis", "history", "knobs", "study", "verdict"}},
      {"exports", {"history", "report", "study"}},
      {"follow", {"history", "report", "study", "verdict"}},
      {"serve", {"history", "report"}},
      {"factory", {"knobs", "study"}},
      {"rehearsal", {"factory", "history", "loop", "study"}},
      {"retune", {"factory", "history", "loop", "report", "study", "verdict"}},
      {"survey", {"knobs", "study"}},
      {"init", {"config_edit", "knobs", "study", "survey"}},
  };
  return rooms;
}

TEST(Arrows, NoFolderIncludesHigherFolders) {
  int seen = 0;
  for (const SourceFile& file : cpp_files_below("tuner")) {
    const std::string room = (++file.path.begin())->string();
    if (room == "cli") continue;
    ASSERT_TRUE(allowed_rooms().contains(room)) << room << " is in no list of this test";
    for (const std::string& include : quoted_includes(file)) {
      const std::filesystem::path included(include);
      if (top_folder(included) != "tuner") continue;
      ++seen;
      const std::string other = (++included.begin())->string();
      EXPECT_TRUE(other == room || allowed_rooms().at(room).contains(other))
          << file.path.string() << " includes \"" << include << "\"";
    }
  }
  EXPECT_GT(seen, 100) << "the include pattern no longer matches anything";
}

TEST(Arrows, TrainingProgramsIncludeOnlyTheReportingHeader) {
  int reporting = 0;
  for (const SourceFile& file : cpp_files_below("examples")) {
    for (const std::string& include : quoted_includes(file)) {
      if (include == "trial_runner/reporters/steptune_report.hpp") {
        ++reporting;
        continue;
      }
      for (const char* folder : {"search/", "trial_runner/", "tuner/"}) {
        EXPECT_FALSE(include.starts_with(folder))
            << file.path.string() << " includes \"" << include << "\"";
      }
    }
  }
  EXPECT_GT(reporting, 0) << "the include pattern no longer matches anything";
}

TEST(Arrows, LibTorchStaysInTheExamples) {
  for (const auto& [folder, allowed] : allowed_arrows()) {
    for (const SourceFile& file : cpp_files_below(folder)) {
      EXPECT_EQ(file.text.find("#include <torch/"), std::string::npos) << file.path;
      EXPECT_EQ(file.text.find("#include <ATen/"), std::string::npos) << file.path;
    }
  }
}

TEST(Arrows, EigenStaysInOneFile) {
  for (const auto& [folder, allowed] : allowed_arrows()) {
    for (const SourceFile& file : cpp_files_below(folder)) {
      if (file.path == "search/searchers/bayes/linear_algebra_eigen.cpp") continue;
      EXPECT_EQ(file.text.find("#include <Eigen/"), std::string::npos) << file.path;
    }
  }
}

TEST(Arrows, TheReportingHeaderIncludesNoOther) {
  int headers = 0;
  for (const SourceFile& file : cpp_files_below("trial_runner/reporters")) {
    if (file.path.extension() != ".hpp") continue;
    ++headers;
    EXPECT_TRUE(quoted_includes(file).empty())
        << file.path << " is copied into training programs and may include nothing of ours";
  }
  EXPECT_GT(headers, 0);
}

}  // namespace
}  // namespace steptune
