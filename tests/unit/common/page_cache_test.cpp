// SPDX-License-Identifier: Apache-2.0
#include "common/machine/page_cache.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// While an object exists, root cannot read files that an ordinary user cannot read.
class WithoutRoot {
 public:
  WithoutRoot() {
    if (user_ == 0) {
      EXPECT_EQ(::seteuid(65'534), 0);
    }
  }
  ~WithoutRoot() { EXPECT_EQ(::seteuid(user_), 0); }
  WithoutRoot(const WithoutRoot&) = delete;
  WithoutRoot& operator=(const WithoutRoot&) = delete;

 private:
  uid_t user_ = ::geteuid();
};

TEST(PageCache, FilesAndFoldersAreCountedWithAllThatIsInThem) {
  const TemporaryFolder folder("page-cache");
  folder.write("train/a.bin", std::string(1000, 'x'));
  folder.write("train/deep/b.bin", std::string(500, 'x'));
  folder.write("labels.csv", "1,2\n");
  const DataFiles found = find_data_files({folder.path() / "train", folder.path() / "labels.csv"});
  EXPECT_EQ(found.files, 3U);
  EXPECT_EQ(found.bytes, 1504.0);
  EXPECT_THAT(found.fault, IsEmpty());
}

TEST(PageCache, ADataSetMayBeMadeOfLinks) {
  const TemporaryFolder folder("page-cache");
  folder.write("store/a.bin", std::string(1000, 'x'));
  std::filesystem::create_directory(folder.path() / "train");
  std::filesystem::create_symlink("../store/a.bin", folder.path() / "train/a.bin");
  std::filesystem::create_symlink("nowhere", folder.path() / "train/dangling");
  const DataFiles found = find_data_files({folder.path() / "train"});
  EXPECT_EQ(found.files, 1U);
  EXPECT_EQ(found.bytes, 1000.0);
  EXPECT_THAT(found.fault, IsEmpty());
  std::filesystem::create_directory_symlink("../store", folder.path() / "train/more");
  const DataFiles partly = drop_cached_pages({folder.path() / "train"});
  EXPECT_EQ(partly.files, 1U);
  EXPECT_THAT(partly.fault, HasSubstr("train/more: a link to a folder, which is not followed"));
}

TEST(PageCache, AnUnreadableFolderIsNamedAndTheRestVisited) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder("page-cache");
  fs::permissions(folder.path(), fs::perms(0755));
  folder.write("train/a.bin", "12345");
  folder.write("train/closed/b.bin", "123");
  folder.write("train/more/c.bin", "12");
  fs::create_symlink("closed/b.bin", folder.path() / "train/link");
  fs::permissions(folder.path() / "train/closed", fs::perms::none);
  DataFiles within, itself;
  {
    const WithoutRoot without_root;
    within = find_data_files({folder.path() / "train"});
    itself = find_data_files({folder.path() / "train/closed"});
  }
  fs::permissions(folder.path() / "train/closed", fs::perms::owner_all);
  EXPECT_EQ(within.files, 2U);
  EXPECT_EQ(within.bytes, 7.0);
  EXPECT_THAT(within.fault, AnyOf(HasSubstr("train/closed: Permission denied"),
                                  HasSubstr("train/link: Permission denied")));
  EXPECT_EQ(itself.files, 0U);
  EXPECT_THAT(itself.fault, HasSubstr("train/closed: Permission denied"));
}

TEST(PageCache, AMissingFileIsReportedAndTheRestDropped) {
  const TemporaryFolder folder("page-cache");
  folder.write("a.bin", "12345");
  const DataFiles dropped = drop_cached_pages({folder.path() / "missing", folder.path() / "a.bin"});
  EXPECT_EQ(dropped.files, 1U);
  EXPECT_EQ(dropped.bytes, 5.0);
  EXPECT_THAT(dropped.fault, HasSubstr("missing: No such file"));
}

}  // namespace
}  // namespace steptune
