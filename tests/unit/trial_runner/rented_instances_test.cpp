// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/instances/rented_instances.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

InstanceType at_usd(double usd_per_hour) {
  InstanceType type;
  type.usd_per_hour = usd_per_hour;
  return type;
}

/// Returns `nodes` instances of a configuration's type.
RentedGroup nodes_of(const std::string& type) {
  RentedGroup group;
  group.type = document::StringTemplate::parse(type).value();
  group.count = document::Formula("nodes", [](const Configuration& configuration) {
    return to_number(*configuration.find("nodes"));
  });
  return group;
}

RentedInstances cluster() {
  RentedInstances instances;
  instances.groups = {nodes_of("{instance}")};
  instances.prices = {{"ml.g4dn.xlarge", at_usd(0.7)}, {"ml.c5.xlarge", at_usd(0.2)}};
  return instances;
}

Configuration of(const std::string& instance, Value nodes) {
  Configuration configuration;
  configuration.set("instance", instance);
  configuration.set("nodes", nodes);
  return configuration;
}

TEST(RentedInstances, CostThePriceTimesTheirCount) {
  EXPECT_DOUBLE_EQ(cluster().usd_per_hour(of("ml.c5.xlarge", std::int64_t{3})), 0.6);
  EXPECT_DOUBLE_EQ(cluster().usd_per_hour(of("ml.g4dn.xlarge", std::int64_t{2})), 1.4);
}

TEST(RentedInstances, TheExactNameOrElseTheLongestPatternSetsTheDiscount) {
  RentedInstances instances = cluster();
  const auto discount = [&](std::map<std::string, double> discounts) {
    instances.discounts = std::move(discounts);
    return instances.price_parts().at("ml.g4dn.xlarge").discount_usd / 0.7;
  };
  EXPECT_DOUBLE_EQ(discount({{"ml.*", 0.1}, {"ml.g4dn.*", 0.3}}), 0.3);
  EXPECT_DOUBLE_EQ(discount({{"*.xlarge", 0.2}, {"ml.*", 0.1}}), 0.2);
  EXPECT_DOUBLE_EQ(discount({{"ml.g4dn.xlarg?*", 0.4}, {"ml.g4dn.xlarge", 0.5}}), 0.5) << "exact";
  EXPECT_DOUBLE_EQ(discount({{"ml.p5.*", 0.1}}), 0.0);
}

TEST(RentedInstances, AreBilledWithDiscountAndVolume) {
  RentedInstances instances = cluster();
  instances.discounts = {{"ml.*", 0.5}};
  instances.storage_usd_per_hour = 0.01;
  EXPECT_DOUBLE_EQ(instances.usd_per_hour(of("ml.c5.xlarge", std::int64_t{1})), 0.11);
  EXPECT_DOUBLE_EQ(instances.usd_per_hour(of("ml.g4dn.xlarge", std::int64_t{1})), 0.35);
  instances.discounts.clear();
  EXPECT_DOUBLE_EQ(instances.usd_per_hour(of("ml.c5.xlarge", std::int64_t{1})), 0.21);
}

TEST(RentedInstances, ATypeWithoutAPriceThrows) {
  EXPECT_THROW(static_cast<void>(cluster().usd_per_hour(of("ml.p5.xlarge", std::int64_t{1}))),
               std::logic_error);
}

TEST(RentedInstances, TypesWithDisksAreKnownByName) {
  for (const char* type : {"ml.g4dn.xlarge", "ml.p4d.24xlarge", "ml.g5.xlarge", "ml.p5.48xlarge",
                           "ml.trn1.2xlarge", "g5.xlarge", "ml.p4de.24xlarge", "ml.m5d.large",
                           "ml.p3dn.24xlarge", "ml.p6-b200.48xlarge"}) {
    EXPECT_TRUE(has_own_disk(type)) << type;
  }
  for (const char* type : {"ml.c5.xlarge", "ml.c5n.xlarge", "ml.m5.xlarge", "ml.p3.2xlarge",
                           "ml.dl.xlarge", "ml.", ""})
    EXPECT_FALSE(has_own_disk(type)) << type;
}

TEST(RentedInstances, AnInvalidCountIsNoInstance) {
  for (const double count : {-1.0, 1.5, 1001.0}) {
    const Resources resources = cluster().resources_of(of("ml.c5.xlarge", count));
    EXPECT_EQ(resources.instance_count, 0) << count;
  }
  EXPECT_EQ(cluster().resources_of(of("ml.c5.xlarge", 1000.0)).instance_count, 1000);
}

TEST(RentedInstances, EmptyGroupsAreDropped) {
  RentedInstances instances = cluster();
  RentedGroup trainer;
  trainer.name = "trainer";
  trainer.type = document::StringTemplate::parse("ml.g4dn.xlarge").value();
  instances.groups.front().name = "helpers";
  instances.groups.insert(instances.groups.begin(), trainer);
  const Resources both = instances.resources_of(of("ml.c5.xlarge", std::int64_t{2}));
  ASSERT_EQ(both.groups.size(), 2U);
  EXPECT_EQ(both.groups[1].instance_count, 2);
  const Resources one = instances.resources_of(of("ml.c5.xlarge", std::int64_t{0}));
  EXPECT_TRUE(one.groups.empty());
  EXPECT_EQ(one.instance_type, "ml.g4dn.xlarge");
  EXPECT_EQ(one.instance_count, 1);
  EXPECT_EQ(instances.text(), "trainer: ml.g4dn.xlarge, helpers: {instance} x nodes");
  EXPECT_EQ(cluster().text(), "{instance} x nodes");
}

TEST(PricesLine, ListsThePartsOfEachPrice) {
  RentedInstances instances = cluster();
  EXPECT_EQ(prices_line(instances, 0.7, " (note)").text,
            "ml.c5.xlarge $0.20, ml.g4dn.xlarge $0.70 per hour; the baseline $0.70 (note)");
  instances.discounts = {{"ml.c5.*", 0.25}, {"ml.g4dn.xlarge", 0.5}, {"ml.p5.*", 0.1}};
  instances.storage_usd_per_hour = 0.05;
  EXPECT_EQ(prices_line(instances, 0.2, "").text,
            "ml.c5.xlarge $0.20 (list $0.20 less 25 %, storage $0.05), ml.g4dn.xlarge $0.35 (list "
            "$0.70 less 50 %) per hour; the baseline $0.20; the discount for ml.p5.* matches no "
            "instance type of this study");
  instances.prices.clear();
  instances.discounts = {{"ml.p5.*", 0.1}};
  EXPECT_EQ(prices_line(instances, 0.2, "").text,
            "the discount for ml.p5.* matches no instance type of this study");
}

TEST(StoredPrices, AreKeptExceptThoseInTheStudyFile) {
  const Json document = {{"prices", {{"a", 1.0}, {"b", 2.0}}}};
  const Json stored = {{"prices", {{"a", 1.1}, {"b", 2.2}, {"c", 3.3}}}};
  const Json written = {{"prices", {{"b", 2.0}}}};
  EXPECT_EQ(with_stored_prices(document, stored, written),
            (Json{{"prices", {{"a", 1.1}, {"b", 2.0}}}}));
  EXPECT_EQ(with_stored_prices(document, stored, Json::object()),
            (Json{{"prices", {{"a", 1.1}, {"b", 2.2}}}}));
  EXPECT_EQ(with_stored_prices(document, Json::object(), written), document);
  EXPECT_EQ(with_stored_prices(Json::object(), stored, written), Json::object());
}

}  // namespace
}  // namespace steptune
