// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/roots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::mcp {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RootsTest : public ::testing::Test {
 protected:
  RootsTest() {
    for (const char* folder : {"a/inner", "a-neighbour", "b"})
      fs::create_directories(top_.path() / folder);
    top_.write("a/study.json", "{}");
    top_.write("a-neighbour/study.json", "{}");
    fs::create_directory_symlink(top_.path() / "a-neighbour", top_.path() / "a/out");
    fs::create_directory_symlink(top_.path() / "a/inner", top_.path() / "a/within");
  }

  TemporaryFolder top_{"roots"};
  const fs::path a_ = fs::canonical(top_.path()) / "a";
  const fs::path b_ = fs::canonical(top_.path()) / "b";
};

TEST_F(RootsTest, FoldersInsideAreResolved) {
  const Roots roots = must(Roots::create({top_.path() / "a", top_.path() / "b"}));
  EXPECT_EQ(must(roots.folder("")), a_);
  EXPECT_EQ(must(roots.folder("inner")), a_ / "inner");
  EXPECT_EQ(must(roots.folder("within")), a_ / "inner");
  EXPECT_EQ(must(roots.folder("inner/../inner/.")), a_ / "inner");
  EXPECT_EQ(must(roots.folder(b_.string())), b_);
  EXPECT_EQ(must(roots.file("study.json", a_)), a_ / "study.json");
  EXPECT_EQ(must(roots.file("../study.json", a_ / "inner")), a_ / "study.json");
}

TEST_F(RootsTest, FoldersOutsideAreRefused) {
  const Roots roots = must(Roots::create({a_}));
  for (const std::string& asked :
       {std::string("/"), std::string(".."), std::string("out"), std::string("out/."),
        std::string("inner/../.."), b_.string(), a_.string() + "-neighbour"}) {
    const auto folder = roots.folder(asked);
    ASSERT_FALSE(folder) << asked;
    EXPECT_THAT(folder.error().message, HasSubstr("outside")) << asked;
    EXPECT_THAT(folder.error().hint, HasSubstr(a_.string())) << asked;
  }
  const auto file = roots.file("out/study.json", a_);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("outside"));
}

TEST_F(RootsTest, AbsentAndWrongKindsAreRefused) {
  const Roots roots = must(Roots::create({a_}));
  EXPECT_THAT(roots.folder("absent").error().message, HasSubstr("No such file"));
  EXPECT_THAT(roots.folder("study.json").error().message, HasSubstr("is not a folder"));
  EXPECT_THAT(roots.file("inner", a_).error().message, HasSubstr("is not a file"));
  EXPECT_THAT(roots.file("absent.json", a_).error().message, HasSubstr("No such file"));
  EXPECT_FALSE(Roots::create({}));
  EXPECT_FALSE(Roots::create({a_ / "absent"}));
  EXPECT_FALSE(Roots::create({a_ / "study.json"}));
}

TEST_F(RootsTest, TheRootOfTheFileSystemContainsEverything) {
  EXPECT_EQ(must(must(Roots::create({"/"})).folder(b_.string())), b_);
}

}  // namespace
}  // namespace steptune::mcp
