// SPDX-License-Identifier: Apache-2.0
// Checks that the rest of the program names no kind of runner. A new kind needs only a folder and a
// line in the registry.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/meta/source_tree.hpp"
#include "tests/support/read_file.hpp"

namespace steptune {
namespace {

using testing::Contains;

constexpr const char* k_registry = "trial_runner/runner_kinds.cpp";

/// Returns the folders with a file `<folder>_kind.hpp`.
std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const SourceFile& file : cpp_files_below("trial_runner")) {
    const std::string folder = file.path.parent_path().filename().string();
    if (file.path.filename() == folder + "_kind.hpp") names.push_back(folder);
  }
  return names;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Returns the texts that would name the kind: its folder, its name as a string, and the bare name
/// unless it is an English word.
std::vector<std::string> mentions_of(const std::string& kind) {
  static const std::set<std::string> k_words = {"local", "replay"};
  std::vector<std::string> mentions = {"trial_runner/" + kind + "/", "\"" + kind + "\""};
  if (!k_words.contains(kind)) mentions.push_back(kind);
  return mentions;
}

/// True for a file in the folder of a kind, and for the registry.
bool may_name_kinds(const std::filesystem::path& path, const std::vector<std::string>& kinds) {
  return path == k_registry || std::ranges::any_of(kinds, [&](const std::string& kind) {
           return path.string().starts_with("trial_runner/" + kind + "/");
         });
}

/// Removes comments, which may say where a format or a term comes from.
std::string without_comments(const std::string& text) {
  static const std::regex k_comment("//[^\n]*");
  return std::regex_replace(text, k_comment, "");
}

TEST(RunnerKinds, AreNamedInTheirFoldersAndTheRegistryOnly) {
  const std::vector<std::string> kinds = kind_names();
  ASSERT_THAT(kinds, Contains("sagemaker"));
  ASSERT_GE(kinds.size(), 3U);
  for (const char* folder : {"common", "search", "trial_runner", "tuner"}) {
    for (const SourceFile& file : cpp_files_below(folder)) {
      if (may_name_kinds(file.path, kinds)) continue;
      const std::string text = lower_case(without_comments(file.text));
      for (const std::string& kind : kinds) {
        for (const std::string& mention : mentions_of(kind)) {
          EXPECT_EQ(text.find(mention), std::string::npos) << file.path << " names " << mention;
        }
      }
    }
  }
}

TEST(RunnerKinds, AreAllRegistered) {
  const std::string registry = read_file(std::filesystem::path(STEPTUNE_SOURCE_DIR) / k_registry);
  for (const std::string& kind : kind_names()) {
    EXPECT_NE(registry.find("&" + kind + "_kind()"), std::string::npos) << kind;
  }
}

TEST(RunnerKinds, KnowNothingOfEachOther) {
  const std::vector<std::string> kinds = kind_names();
  for (const std::string& kind : kinds) {
    for (const SourceFile& file : cpp_files_below("trial_runner/" + kind)) {
      for (const std::string& include : quoted_includes(file)) {
        for (const std::string& other : kinds) {
          EXPECT_TRUE(other == kind || !include.starts_with("trial_runner/" + other + "/"))
              << file.path << " includes \"" << include << "\"";
        }
      }
    }
  }
}

}  // namespace
}  // namespace steptune
