// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "tests/meta/source_tree.hpp"
#include "tests/support/read_file.hpp"

namespace steptune {
namespace {

/// Paths of this repository that stand in a document as code. Patterns (`*`, `{a,b}`) and paths
/// with names that a reader fills in (`NAME`) are none.
const std::regex& path_in_code() {
  static const std::regex k_path(
      "`((?:common|search|trial_runner|tuner|configs|examples|tests|benchmarks|docs|scripts|cmake)/"
      "[A-Za-z0-9_./-]+)`");
  return k_path;
}

class Documents : public ::testing::TestWithParam<const char*> {};

TEST_P(Documents, NamePathsThatExist) {
  const std::filesystem::path root = STEPTUNE_SOURCE_DIR;
  const std::string text = read_file(root / GetParam());
  ASSERT_FALSE(text.empty());
  int seen = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), path_in_code()), end; match != end;
       ++match) {
    const std::string path = (*match)[1];
    if (path.find("NAME") != std::string::npos) continue;
    ++seen;
    EXPECT_TRUE(std::filesystem::exists(root / path)) << GetParam() << " names " << path;
  }
  EXPECT_GT(seen, 0) << "no path is found any more";
}

INSTANTIATE_TEST_SUITE_P(Document, Documents,
                         ::testing::Values("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md",
                                           "docs/history.md"),
                         [](const auto& document) {
                           std::string name = document.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

TEST(Pitfalls, NameTestsThatExist) {
  const std::filesystem::path root = STEPTUNE_SOURCE_DIR;
  std::string tests;
  for (const SourceFile& file : cpp_files_below("tests"))
    tests += file.text;
  const std::string text = read_file(root / "docs/pitfalls.md");
  const std::regex named("`([A-Z][A-Za-z]+)\\.([A-Z][A-Za-z0-9]+)`");
  int seen = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), named), end; match != end; ++match) {
    ++seen;
    EXPECT_NE(tests.find("(" + (*match)[1].str() + ", " + (*match)[2].str() + ")"),
              std::string::npos)
        << match->str();
  }
  EXPECT_GE(seen, 20) << "one each";
}

}  // namespace
}  // namespace steptune
