// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/cost/price_table.hpp"

#include <gtest/gtest.h>

#include "trial_runner/cost/fixed_price.hpp"

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

TEST(PriceTable, InvalidShapesAreUnknown) {
  const auto table = price_table_from_json(
      Json::parse(R"({"region": "r", "instances": {"ml.x": {"usd_per_hour": 1, "vcpus": 1e300,
                     "memory_gib": -4, "gpus": -1}}})"),
      "t.json");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->instances.at("ml.x").vcpus, 0);
  EXPECT_EQ(table->instances.at("ml.x").memory_gib, 0.0);
  EXPECT_EQ(table->instances.at("ml.x").gpus, 0);
}

std::string error_of(const char* text) {
  const auto table = price_table_from_json(Json::parse(text), "t.json");
  return table ? "" : table.error().text();
}

TEST(PriceTable, ReportsWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of("[]"), "t.json: expected an object");
  EXPECT_EQ(error_of("{}"), "t.json#/region: expected a name");
  EXPECT_EQ(error_of(R"({"region": "r"})"), "t.json#/instances: expected an object");
  EXPECT_EQ(error_of(R"({"region": "r", "instances": []})"),
            "t.json#/instances: expected an object");
  EXPECT_EQ(error_of(R"({"region": "r", "instances": {"ml.x": 1}})"),
            "t.json#/instances/ml.x: expected an object");
  for (const char* price :
       {"{}", R"({"usd_per_hour": "1"})", R"({"usd_per_hour": -1})", R"({"usd_per_hour": 0})"}) {
    EXPECT_EQ(
        error_of((R"({"region": "r", "instances": {"ml.x": )" + std::string(price) + "}}").c_str()),
        "t.json#/instances/ml.x/usd_per_hour: expected a positive number")
        << price;
  }
}

TEST(PriceTable, ReadsPricesAndShapesOfMachines) {
  const auto table =
      price_table_from_json(Json::parse(R"({"region": "r", "date": "2026-01-02", "instances": {
                     "ml.x": {"usd_per_hour": 1.5, "vcpus": 8, "memory_gib": 32.5, "gpus": 2},
                     "ml.y": {"usd_per_hour": 2}}})"),
                            "t.json");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->date, "2026-01-02");
  const InstanceType& known = table->instances.at("ml.x");
  EXPECT_EQ(known.usd_per_hour, 1.5);
  EXPECT_EQ(known.vcpus, 8);
  EXPECT_EQ(known.memory_gib, 32.5);
  EXPECT_EQ(known.gpus, 2);
  EXPECT_EQ(table->instances.at("ml.y").vcpus, 0);
  const auto price = table->usd_per_hour({"ml.z", 1});
  ASSERT_FALSE(price);
  EXPECT_EQ(price.error().message,
            "no price for the instance type \"ml.z\"; did you mean \"ml.x\"? "
            "(prices of r, 2026-01-02)");
}

TEST(PriceTable, AnUnknownTypeInAGroupIsAnError) {
  EXPECT_FALSE(shipped().usd_per_hour({"", 1, {{"a", "ml.p3.2xlarge", 1}, {"b", "ml.none", 2}}}));
}

TEST(PriceTable, AMissingFileIsNotFound) {
  const auto missing = read_price_table("/no/such/table.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_EQ(price_table_name("sagemaker", "eu-west-1"), "sagemaker-eu-west-1.json");
}

TEST(FixedPrice, ATrialPaysAShareAndThePlannedRunAllMachines) {
  FixedPrice price;
  EXPECT_FALSE(price.of_share(1));
  EXPECT_EQ(text_of(price), "");
  price.usd_per_hour = 1.21;
  EXPECT_EQ(text_of(price), ", $1.21 per hour");
  EXPECT_DOUBLE_EQ(price.of_share(1)->on_demand_usd, 1.21);
  price.machines = 4.0;
  EXPECT_EQ(text_of(price), ", $1.21 per hour x 4 instances");
  EXPECT_DOUBLE_EQ(price.of_share(1)->expected_usd, 4.84);
  EXPECT_DOUBLE_EQ(price.of_share(1)->on_demand_usd, 1.21);
  EXPECT_DOUBLE_EQ(price.of_share(2)->expected_usd, 4.84);
  EXPECT_DOUBLE_EQ(price.of_share(2)->on_demand_usd, 0.605);
}

}  // namespace
}  // namespace steptune
