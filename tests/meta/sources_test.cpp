// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "tests/meta/source_tree.hpp"
#include "tests/support/read_file.hpp"

namespace steptune {
namespace {

constexpr const char* k_folders[] = {"common", "search", "trial_runner", "tuner"};

TEST(Sources, EveryTestFileIsCompiledIntoAProgram) {
  const std::filesystem::path root = STEPTUNE_SOURCE_DIR;
  for (const SourceFile& file : cpp_files_below("tests")) {
    const std::string name = file.path.filename().string();
    if (!name.ends_with("_test.cpp")) continue;
    const std::string list = read_file(root / file.path.parent_path() / "CMakeLists.txt");
    // A name may be the end of another one, as in run_test.cpp and tuned_run_test.cpp.
    EXPECT_TRUE(list.find(" " + name) != std::string::npos ||
                list.find("\n" + name) != std::string::npos)
        << file.path << " is not in its folder's CMakeLists.txt: it never runs";
  }
}

TEST(Sources, EveryFileNamesItsLicence) {
  for (const char* folder :
       {"common", "search", "trial_runner", "tuner", "tests", "benchmarks", "examples"}) {
    for (const SourceFile& file : cpp_files_below(folder)) {
      EXPECT_TRUE(file.text.starts_with("// SPDX-License-Identifier: Apache-2.0\n")) << file.path;
    }
  }
}

TEST(Sources, TimeAndSleepComeThroughTheClockOnly) {
  const std::regex forbidden(
      R"(system_clock::now|steady_clock::now|sleep_for|sleep_until|\b(u|nano)?sleep\(|::pause\()"
      R"(|\bpoll\((nullptr|NULL|0),)");
  for (const char* folder : k_folders) {
    for (const SourceFile& file : cpp_files_below(folder)) {
      // Training programs copy these files, and have no Clock.
      if (file.path.string().starts_with("trial_runner/reporters/")) continue;
      if (file.path == "common/pause.cpp") continue;
      EXPECT_FALSE(std::regex_search(file.text, forbidden)) << file.path;
    }
  }
}

TEST(Sources, TheEnvironmentIsReadAtTheSeamsOnly) {
  const std::regex forbidden(R"(\b(secure_)?getenv\()");
  for (const char* folder : k_folders) {
    for (const SourceFile& file : cpp_files_below(folder)) {
      // All other files are given an `Environment`, which files that training programs copy cannot
      // be.
      if (file.path == "common/environment.cpp") continue;
      if (file.path.string().starts_with("trial_runner/reporters/")) continue;
      EXPECT_FALSE(std::regex_search(file.text, forbidden)) << file.path;
    }
  }
}

/// Keeps headers self-contained, together with scripts/lint, which compiles each source alone, and
/// each header without a source. In a unity build a source also sees the includes of others.
TEST(Sources, EachIncludesItsOwnHeaderFirst) {
  const std::filesystem::path root = STEPTUNE_SOURCE_DIR;
  int seen = 0;
  for (const char* folder : k_folders) {
    for (const SourceFile& file : cpp_files_below(folder)) {
      std::filesystem::path header = file.path;
      header.replace_extension(".hpp");
      if (file.path.extension() != ".cpp" || !std::filesystem::exists(root / header)) continue;
      ++seen;
      const auto include = file.text.find("#include");
      EXPECT_EQ(file.text.find("#include \"" + header.string() + "\""), include) << file.path;
    }
  }
  EXPECT_GT(seen, 100) << "sources are no longer found";
}

TEST(Sources, NumbersAreReadWithoutRegardToTheLocale) {
  const std::regex forbidden(R"(\b(std::)?(stod|stof|strtod|atof|atoi|sscanf)\()");
  for (const char* folder : k_folders) {
    for (const SourceFile& file : cpp_files_below(folder)) {
      EXPECT_FALSE(std::regex_search(file.text, forbidden)) << file.path;
    }
  }
}

TEST(Sources, OneFunctionMakesTextOfSystemErrors) {
  const std::regex forbidden(R"(\bstrerror(_r)?\(|_category\(\)\.message\()");
  for (const char* folder : k_folders) {
    for (const SourceFile& file : cpp_files_below(folder)) {
      if (file.path == "common/system_reason.hpp") continue;
      EXPECT_FALSE(std::regex_search(file.text, forbidden)) << file.path;
    }
  }
}

}  // namespace
}  // namespace steptune
