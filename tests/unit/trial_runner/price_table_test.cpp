// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/cost/price_table.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

PriceTable shipped() {
  auto table = read_price_table(STEPTUNE_SOURCE_DIR "/configs/prices/sagemaker-us-east-1.json");
  EXPECT_TRUE(table) << (table ? "" : table.error().text());
  return table ? *table : PriceTable{};
}

TEST(PriceTable, TheShippedTableHasEveryTypeWithItsShape) {
  const PriceTable table = shipped();
  EXPECT_EQ(table.region, "us-east-1");
  EXPECT_EQ(table.instances.size(), 44U);
  for (const auto& [name, type] : table.instances) {
    EXPECT_GT(type.vcpus, 0) << name;
    EXPECT_GT(type.memory_gib, 0.0) << name;
  }
  EXPECT_EQ(table.instances.at("ml.g5.12xlarge").gpus, 4);
}

TEST(PriceTable, AddsUpGroupsAndCounts) {
  const PriceTable table = shipped();
  EXPECT_DOUBLE_EQ(*table.usd_per_hour({"ml.m5.xlarge", 3}), 3 * 0.23);
  EXPECT_DOUBLE_EQ(
      *table.usd_per_hour({"", 1, {{"a", "ml.p3.2xlarge", 1}, {"b", "ml.c5.9xlarge", 2}}}),
      3.825 + 2 * 1.836);
}

TEST(PriceTable, AnUnknownTypeIsAnErrorNotFree) {
  const auto price = shipped().usd_per_hour({"ml.g5.2xlarg", 1});
  ASSERT_FALSE(price);
  EXPECT_NE(price.error().text().find("ml.g5.2xlarge"), std::string::npos);
  EXPECT_NE(price.error().text().find("\"prices\""), std::string::npos);
}

TEST(PriceTable, RefusesPricesThatAreNone) {
  const auto table = price_table_from_json(
      Json::parse(R"({"region": "r", "instances": {"ml.x": {"usd_per_hour": 0}}})"), "t.json");
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().text().find("t.json#/instances/ml.x/usd_per_hour"), std::string::npos);
}

TEST(PriceTable, ShapesThatAreNoCountsAreNotKnown) {
  const auto table = price_table_from_json(
      Json::parse(R"({"region": "r", "instances": {"ml.x": {"usd_per_hour": 1, "vcpus": 1e300,
                     "memory_gib": -4, "gpus": -1}}})"),
      "t.json");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->instances.at("ml.x").vcpus, 0);
  EXPECT_EQ(table->instances.at("ml.x").memory_gib, 0.0);
  EXPECT_EQ(table->instances.at("ml.x").gpus, 0);
}

}  // namespace
}  // namespace steptune
