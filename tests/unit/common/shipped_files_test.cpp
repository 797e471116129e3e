// SPDX-License-Identifier: Apache-2.0
#include "common/shipped_files.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;

TEST(ShippedFiles, ThePrefixFollowsFromTheProgramsPath) {
  const fs::path build = STEPTUNE_BINARY_DIR;
  EXPECT_EQ(shipped_directories(ShippedKind::helper).front(), build / "bin");
  EXPECT_THAT(shipped_directories(ShippedKind::helper), Contains(build / "libexec/steptune"));
  EXPECT_THAT(shipped_directories(ShippedKind::config), Contains(build / "share/steptune/configs"));
  EXPECT_THAT(shipped_directories(ShippedKind::hook), Contains(build / "share/steptune/hooks"));
  EXPECT_NE(find_file(shipped_directories(ShippedKind::hook), "python/sitecustomize.py"),
            std::nullopt);
}

TEST(ShippedFiles, AMissingHelperIsReportedWithItsPlace) {
  const auto missing = find_helper("steptune-nothing", "which does nothing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "the program steptune-nothing is missing, which does nothing");
  EXPECT_NE(missing.error().hint.find("libexec/steptune"), std::string::npos)
      << missing.error().hint;
}

TEST(ShippedFiles, FindsTheFirstRegularFile) {
  const fs::path root = fs::path(::testing::TempDir()) / "shipped-files";
  fs::remove_all(root);
  fs::create_directories(root / "a/prices/x.json");
  fs::create_directories(root / "b/prices");
  fs::create_directories(root / "c/prices");
  std::ofstream(root / "b/prices/x.json") << "{}";
  std::ofstream(root / "c/prices/x.json") << "{}";
  const std::vector<fs::path> directories{root / "none", root / "a", root / "b", root / "c"};
  EXPECT_EQ(find_file(directories, "prices/x.json"), root / "b/prices/x.json");
  EXPECT_EQ(find_file(directories, "prices/y.json"), std::nullopt);
  fs::remove_all(root);
}

TEST(ShippedFiles, DirectoriesAreListedForPeople) {
  EXPECT_EQ(directories_text({"/a", "/b"}), "/a, /b");
  EXPECT_EQ(directories_text({}), "no directory");
}

}  // namespace
}  // namespace steptune
