// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/whole_file.hpp"

#include <filesystem>

#include <gtest/gtest.h>

namespace steptune {
namespace {

namespace fs = std::filesystem;

TEST(WholeFile, NewOnesTakeNobodysPlace) {
  const fs::path folder = fs::path(testing::TempDir()) / "whole_file";
  fs::remove_all(folder);
  ASSERT_TRUE(write_new_file(folder / "study.json", "first"));
  const auto again = write_new_file(folder / "study.json", "second");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::usage);
  EXPECT_EQ(again.error().message, "already exists");
  EXPECT_EQ(*read_whole_file(folder / "study.json"), "first");
  // A link that leads nowhere is somebody's, too.
  fs::create_symlink(folder / "nowhere", folder / "link");
  EXPECT_FALSE(write_new_file(folder / "link", "third"));
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
  ASSERT_TRUE(write_whole_file(folder / "study.json", "fourth"));
  EXPECT_EQ(*read_whole_file(folder / "study.json"), "fourth");
  // Nothing is left beside them.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
}

}  // namespace
}  // namespace steptune
