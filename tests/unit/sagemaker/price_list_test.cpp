// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/price_list.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

Json product(const Json& attributes, const std::string& usd = "1.4080000000",
             const std::string& unit = "Hrs") {
  Json all = {{"instanceName", "ml.g5.xlarge"},
              {"regionCode", "us-east-1"},
              {"component", "Training"},
              {"platoinstancetype", "Training"},
              {"vCpu", "4"},
              {"memory", "16 GiB"},
              {"physicalGpu", "1"}};
  all.update(attributes);
  return {{"product", {{"attributes", all}}},
          {"terms",
           {{"OnDemand",
             {{"A.B",
               {{"priceDimensions",
                 {{"A.B.C", {{"unit", unit}, {"pricePerUnit", {{"USD", usd}}}}}}}}}}}}}};
}

std::optional<std::pair<std::string, InstanceType>> read(const Json& json) {
  return training_price_of(json.dump(), "us-east-1");
}

TEST(TrainingPrice, IsReadWithTheMachine) {
  const auto price = read(product(Json::object()));
  ASSERT_TRUE(price);
  EXPECT_EQ(price->first, "ml.g5.xlarge");
  EXPECT_DOUBLE_EQ(price->second.usd_per_hour, 1.408);
  EXPECT_EQ(price->second.vcpus, 4);
  EXPECT_DOUBLE_EQ(price->second.memory_gib, 16.0);
  EXPECT_EQ(price->second.gpus, 1);
}

TEST(TrainingPrice, LeavesUnknownWhatIsNotTold) {
  const auto price = read(product({{"vCpu", "N/A"}, {"memory", ""}, {"physicalGpu", nullptr}}));
  ASSERT_TRUE(price);
  EXPECT_EQ(price->second.vcpus, 0);
  EXPECT_EQ(price->second.memory_gib, 0.0);
  EXPECT_EQ(price->second.gpus, 0);
}

TEST(TrainingPrice, NumbersThatAreNoCountsAreNotTold) {
  const auto price =
      read(product({{"vCpu", "1e300"}, {"memory", "-16 GiB"}, {"physicalGpu", "-1"}}));
  ASSERT_TRUE(price);
  EXPECT_EQ(price->second.vcpus, 0);
  EXPECT_EQ(price->second.memory_gib, 0.0);
  EXPECT_EQ(price->second.gpus, 0);
}

TEST(TrainingPrice, OtherProductsAreNone) {
  EXPECT_FALSE(read(product({{"component", "Hosting"}})));
  EXPECT_FALSE(read(product({{"platoinstancetype", "SpotTraining"}})));
  EXPECT_FALSE(read(product({{"regionCode", "eu-west-1"}})));
  EXPECT_FALSE(read(product({{"instanceName", "g5.xlarge"}})));
  EXPECT_FALSE(read(product(Json::object(), "0.0000000000"))) << "never free";
  EXPECT_FALSE(read(product(Json::object(), "nan")));
  EXPECT_FALSE(read(product(Json::object(), "1.4", "GB-Mo")));
  EXPECT_FALSE(training_price_of("{\"product\": 3, \"terms\": []}", "us-east-1"));
  EXPECT_FALSE(training_price_of("not JSON", "us-east-1"));
}

}  // namespace
}  // namespace steptune
