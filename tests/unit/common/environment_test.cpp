// SPDX-License-Identifier: Apache-2.0
#include "common/environment.hpp"

#include <cstdlib>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/merged_variable.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Environment, AListOfSettingsKeepsItsOtherSettings) {
  EXPECT_EQ(merged_variable("OMP_NUM_THREADS", "8", "2"), "2");
  EXPECT_EQ(merged_variable("GLIBC_TUNABLES", "", "glibc.malloc.hugetlb=1"),
            "glibc.malloc.hugetlb=1");
  EXPECT_EQ(merged_variable("GLIBC_TUNABLES",
                            "glibc.rtld.nns=8::glibc.malloc.hugetlb=0:glibc.cpu.hwcaps=-AVX2",
                            "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=9"),
            "glibc.rtld.nns=8:glibc.cpu.hwcaps=-AVX2:glibc.malloc.hugetlb=1:glibc.malloc.top_pad="
            "9");
  EXPECT_EQ(merged_variable("MALLOC_CONF", "narenas:2,thp:never", "thp:always"),
            "narenas:2,thp:always");
}

TEST(Environment, EmptyVariablesCountAsAbsent) {
  const Environment environment = process_environment();
  ASSERT_EQ(setenv("STEPTUNE_TEST_VARIABLE", "value", 1), 0);
  EXPECT_EQ(environment("STEPTUNE_TEST_VARIABLE"), "value");
  ASSERT_EQ(setenv("STEPTUNE_TEST_VARIABLE", "", 1), 0);
  EXPECT_EQ(environment("STEPTUNE_TEST_VARIABLE"), std::nullopt);
  ASSERT_EQ(unsetenv("STEPTUNE_TEST_VARIABLE"), 0);
  EXPECT_EQ(environment("STEPTUNE_TEST_VARIABLE"), std::nullopt);
}

TEST(Environment, ListsOfDirectoriesLeaveOutEmptyOnes) {
  EXPECT_THAT(directory_list(environment_of({{"P", ":/a::b/c:"}}), "P"), ElementsAre("/a", "b/c"));
  EXPECT_THAT(directory_list(environment_of({}), "P"), IsEmpty());
}

TEST(Environment, AHomeIsAnAbsolutePath) {
  EXPECT_EQ(home_directory(environment_of({{"HOME", "/home/me"}})), "/home/me");
  EXPECT_EQ(home_directory(environment_of({{"HOME", "me"}})), std::nullopt);
  EXPECT_EQ(home_directory(environment_of({})), std::nullopt);
}

}  // namespace
}  // namespace steptune
