// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/lock_file.hpp"

#include <chrono>
#include <future>
#include <optional>

#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

TEST(LockFile, AWaitingOwnerFollowsTheFirst) {
  const TemporaryFolder folder("lock");
  const auto path = folder.path() / "lock";
  std::optional<LockFile> first = must(LockFile::acquire(path));
  EXPECT_EQ(LockFile::acquire(path).error().kind, ErrorKind::conflict);
  auto second = std::async(std::launch::async, [&] { return LockFile::wait_for(path); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  first.reset();
  EXPECT_TRUE(second.get());
}

TEST(LockFile, AMissingFolderIsAnError) {
  EXPECT_EQ(LockFile::wait_for("/no/such/folder/lock").error().kind, ErrorKind::store);
}

}  // namespace
}  // namespace steptune
