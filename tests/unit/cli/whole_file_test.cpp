// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/whole_file.hpp"

#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/unique_fd.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

TEST(WholeFile, NewFilesReplaceNoExistingFile) {
  const fs::path folder = fs::path(::testing::TempDir()) / "whole_file";
  fs::remove_all(folder);
  ASSERT_TRUE(write_new_file(folder / "study.json", "first"));
  const auto again = write_new_file(folder / "study.json", "second");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::usage);
  EXPECT_EQ(again.error().message, "already exists");
  EXPECT_EQ(*read_whole_file(folder / "study.json"), "first");
  // A dangling link belongs to somebody, too, and must not be overwritten.
  fs::create_symlink(folder / "nowhere", folder / "link");
  EXPECT_FALSE(write_new_file(folder / "link", "third"));
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
  ASSERT_TRUE(write_whole_file(folder / "study.json", "fourth"));
  EXPECT_EQ(*read_whole_file(folder / "study.json"), "fourth");
  // No temporary file is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
}

TEST(WholeFile, PermissionsAreKeptAndRespectTheUsersMask) {
  const fs::path folder = fs::path(::testing::TempDir()) / "whole_file_permissions";
  fs::remove_all(folder);
  const mode_t mask = ::umask(077);
  EXPECT_TRUE(write_whole_file(folder / "page.html", "first"));
  EXPECT_TRUE(write_new_file(folder / "study.json", "first"));
  ::umask(mask);
  EXPECT_TRUE(write_whole_file(folder / "page.html", "second"));
  constexpr fs::perms k_private = fs::perms::owner_read | fs::perms::owner_write;
  EXPECT_EQ(fs::status(folder / "page.html").permissions(), k_private);
  EXPECT_EQ(fs::status(folder / "study.json").permissions(), k_private);
}

TEST(WholeFile, APipeIsWrittenToAndALinkStaysALink) {
  const fs::path folder = fs::path(::testing::TempDir()) / "whole_file_streams";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const UniqueFd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader);
  ASSERT_TRUE(write_whole_file(pipe, "page"));
  EXPECT_TRUE(fs::is_fifo(pipe)) << "the pipe was not replaced by a file";
  std::string read(16, '\0');
  const ssize_t bytes = ::read(reader.get(), read.data(), read.size());
  ASSERT_EQ(bytes, 4);
  EXPECT_EQ(read.substr(0, 4), "page");

  ASSERT_TRUE(write_whole_file(folder / "page.html", "old"));
  fs::create_symlink("page.html", folder / "latest.html");
  ASSERT_TRUE(write_whole_file(folder / "latest.html", "new"));
  EXPECT_TRUE(fs::is_symlink(folder / "latest.html"));
  EXPECT_EQ(*read_whole_file(folder / "page.html"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 3);

  const fs::path before = fs::current_path();
  fs::current_path(folder);
  EXPECT_TRUE(write_whole_file("new.html", "a name without a folder"));
  fs::current_path(before);
  EXPECT_EQ(*read_whole_file(folder / "new.html"), "a name without a folder");
}

}  // namespace
}  // namespace steptune
