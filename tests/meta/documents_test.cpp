// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/meta/source_tree.hpp"
#include "tests/support/read_file.hpp"

namespace steptune {
namespace {

/// Matches paths of this repository that a document shows as code. Excludes patterns (`*`, `{a,b}`)
/// and paths with names for the reader to fill in (`NAME`).
const std::regex& path_in_code() {
  static const std::regex k_path(
      "`((?:common|search|trial_runner|tuner|configs|examples|tests|benchmarks|docs|scripts|cmake)/"
      "[A-Za-z0-9_./-]+)`");
  return k_path;
}

std::vector<std::filesystem::path> documents() {
  const std::filesystem::path root = STEPTUNE_SOURCE_DIR;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  for (const char* folder : {"docs", "examples", "benchmarks"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".md") found.push_back(entry.path());
    }
  }
  return found;
}

/// True if the path exists. `tuner/verdict/confirm` means its header and source.
bool names_something(const std::filesystem::path& path) {
  return std::filesystem::exists(path) || std::filesystem::exists(path.string() + ".hpp") ||
         std::filesystem::exists(path.string() + ".cpp");
}

TEST(Documents, NamePathsThatExist) {
  const std::filesystem::path root = STEPTUNE_SOURCE_DIR;
  int seen = 0;
  for (const std::filesystem::path& document : documents()) {
    if (document.filename() == "CHANGELOG.md") continue;  // it describes the past
    const std::string text = read_file(document);
    for (std::sregex_iterator match(text.begin(), text.end(), path_in_code()), end; match != end;
         ++match) {
      const std::string path = (*match)[1];
      if (path.find("NAME") != std::string::npos) continue;
      ++seen;
      EXPECT_TRUE(names_something(root / path)) << document << " names " << path;
    }
  }
  EXPECT_GT(seen, 100) << "paths are no longer found";
}

/// Returns the anchor of a heading: lower case, dashes for blanks, no punctuation.
std::string anchor_of(std::string heading) {
  static const std::regex k_link(R"(\[([^\]]*)\]\([^)]*\))");
  heading = std::regex_replace(heading, k_link, "$1");
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80)
      anchor += static_cast<char>(std::tolower(byte));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

std::set<std::string> anchors_of(const std::string& text) {
  std::set<std::string> anchors;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto title = line.find_first_not_of('#');
    if (title == 0 || title == std::string::npos || line[title] != ' ') continue;
    anchors.insert(anchor_of(line.substr(title + 1)));
  }
  return anchors;
}

TEST(Links, LeadToFilesAndHeadingsThatExist) {
  const std::regex link(R"(\]\(([^)#\s:]*)(?:#([^)\s]*))?\))");
  int seen = 0;
  for (const std::filesystem::path& document : documents()) {
    const std::string text = read_file(document);
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
      ++seen;
      const std::string path = (*match)[1];
      const std::filesystem::path target = path.empty() ? document : document.parent_path() / path;
      EXPECT_TRUE(std::filesystem::exists(target)) << document << " links to " << match->str();
      if (!(*match)[2].matched || target.extension() != ".md") continue;
      EXPECT_TRUE(anchors_of(read_file(target)).contains((*match)[2]))
          << document << " links to " << match->str();
    }
  }
  EXPECT_GT(seen, 100) << "links are no longer found";
}

TEST(Pitfalls, NameTestsThatExist) {
  const std::filesystem::path root = STEPTUNE_SOURCE_DIR;
  std::string tests;
  for (const SourceFile& file : cpp_files_below("tests"))
    tests += file.text;
  const std::string text = read_file(root / "docs/internals/pitfalls.md");
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
