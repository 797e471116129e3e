// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/allocation_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune::slurm {
namespace {

using ::testing::ElementsAre;

TEST(AllocationSpec, IsWrittenAsMachinesAndReadBack) {
  for (const AllocationSpec& requested :
       {AllocationSpec{1, {}}, AllocationSpec{2, {"partition=gpu"}},
        AllocationSpec{16, {"partition=gpu", "mem=64G"}}}) {
    const auto read = allocation_spec_of(to_resources(requested));
    ASSERT_TRUE(read) << words_of(requested);
    EXPECT_EQ(*read, requested);
  }
  const Resources resources = to_resources({2, {"partition=gpu"}});
  EXPECT_EQ(resources.instance_count, 2);
  EXPECT_EQ(resources.instance_type, "node partition=gpu");
}

TEST(AllocationSpec, IsNotReadFromMachinesOfOtherKinds) {
  EXPECT_FALSE(allocation_spec_of({.instance_type = "ml.g5.xlarge", .instance_count = 1}));
  EXPECT_FALSE(allocation_spec_of({.instance_type = "nodes", .instance_count = 1}));
  EXPECT_FALSE(allocation_spec_of({.instance_type = "", .instance_count = 1}));
  EXPECT_FALSE(allocation_spec_of({.instance_type = "node", .instance_count = 0}));
}

TEST(AllocationSpec, IsDescribedInWords) {
  EXPECT_EQ(words_of({1, {}}), "1 node");
  EXPECT_EQ(words_of({2, {"partition=gpu", "qos=long"}}), "2 nodes partition=gpu qos=long");
}

TEST(AllocationSpec, KnowsTheValuesOfItsOptions) {
  const AllocationSpec requested{1, {"partition=gpu", "mem=64G", "mem-per-cpu=", "exclusive"}};
  EXPECT_EQ(requested.value_of("partition"), "gpu");
  EXPECT_EQ(requested.value_of("mem"), "64G");
  EXPECT_EQ(requested.value_of("mem-per-cpu"), "");
  for (const char* option : {"exclusive", "part", "gpu", "qos", ""})
    EXPECT_FALSE(requested.value_of(option)) << option;
}

TEST(OptionValue, IsOneWordOfSbatch) {
  for (const char* value : {"gpu", "a100:2", "node[1-4]", "64G", "a&b|c", "user@site", "1-12:00"})
    EXPECT_TRUE(is_option_value(value)) << value;
  for (const char* value : {"", "-gpu", "a b", "a\nb", "'gpu'", "\"x\"", "$HOME", "`id`", "a;b",
                            "a\\b", "gr\xC3\xBCn", "a>b", "#", "{"})
    EXPECT_FALSE(is_option_value(value)) << value;
}

TEST(TimeLimit, IsReadAsSbatchDoes) {
  constexpr double k_hour_s = 3600.0;
  EXPECT_EQ(time_limit_s("90"), 90 * 60.0);
  EXPECT_EQ(time_limit_s("90:30"), 90 * 60.0 + 30.0);
  EXPECT_EQ(time_limit_s("1:30:05"), 1.5 * k_hour_s + 5.0);
  EXPECT_EQ(time_limit_s("2-12"), 60 * k_hour_s);
  EXPECT_EQ(time_limit_s("2-12:30"), 60.5 * k_hour_s);
  EXPECT_EQ(time_limit_s("2-12:30:05"), 60.5 * k_hour_s + 5.0);
  EXPECT_EQ(time_limit_s("0"), 0.0);
  for (const char* text : {"", "UNLIMITED", "1h", "-5", "2-", "-", "1:2:3:4", "1-2:3:4:5",
                           "1:", ":30", "1-2-3", "1:2-3", "99999999999", "1.5", " 5"})
    EXPECT_FALSE(time_limit_s(text)) << text;
}

}  // namespace
}  // namespace steptune::slurm
