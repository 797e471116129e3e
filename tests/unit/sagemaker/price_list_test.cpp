// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/price_list.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/clock.hpp"
#include "common/rng.hpp"
#include "trial_runner/sagemaker/job_price.hpp"

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

TEST(TrainingPrice, IsReadWithCommasBetweenThousands) {
  const auto price = read(product({{"memory", "1,152 GiB"}}));
  ASSERT_TRUE(price);
  EXPECT_DOUBLE_EQ(price->second.memory_gib, 1152.0);
}

TEST(TrainingPrice, IsTheHighestOfItsTerms) {
  Json json = product(Json::object(), "1.0");
  json["terms"]["OnDemand"]["C.D"] = product(Json::object(), "1.5")["terms"]["OnDemand"]["A.B"];
  json["terms"]["OnDemand"]["broken"] = 3;
  json["terms"]["OnDemand"]["A.B"]["priceDimensions"]["broken"] = "no object";
  EXPECT_DOUBLE_EQ(read(json)->second.usd_per_hour, 1.5);
}

TEST(TrainingPrice, LeavesUnreportedValuesUnknown) {
  const auto price = read(product({{"vCpu", "N/A"}, {"memory", ""}, {"physicalGpu", nullptr}}));
  ASSERT_TRUE(price);
  EXPECT_EQ(price->second.vcpus, 0);
  EXPECT_EQ(price->second.memory_gib, 0.0);
  EXPECT_EQ(price->second.gpus, 0);
}

TEST(TrainingPrice, InvalidCountsAreIgnored) {
  const auto price =
      read(product({{"vCpu", "1e300"}, {"memory", "-16 GiB"}, {"physicalGpu", "-1"}}));
  ASSERT_TRUE(price);
  EXPECT_EQ(price->second.vcpus, 0);
  EXPECT_EQ(price->second.memory_gib, 0.0);
  EXPECT_EQ(price->second.gpus, 0);
}

TEST(TrainingPrice, OtherProductsHaveNoTrainingPrice) {
  EXPECT_FALSE(read(product({{"component", "Hosting"}})));
  EXPECT_FALSE(read(product({{"platoinstancetype", "SpotTraining"}})));
  EXPECT_FALSE(read(product({{"regionCode", "eu-west-1"}})));
  EXPECT_FALSE(read(product({{"instanceName", "g5.xlarge"}})));
  EXPECT_FALSE(read(product(Json::object(), "0.0000000000"))) << "a price of 0 is no price";
  EXPECT_FALSE(read(product(Json::object(), "nan")));
  EXPECT_FALSE(read(product(Json::object(), "1.4", "GB-Mo")));
  EXPECT_FALSE(training_price_of("{\"product\": 3, \"terms\": []}", "us-east-1"));
  EXPECT_FALSE(training_price_of("not JSON", "us-east-1"));
}

/// Answers GetProducts page by page.
class Pages final : public aws::HttpTransport {
 public:
  Result<aws::HttpResponse> send(const aws::HttpRequest& request,
                                 const aws::HttpTimeouts&) override {
    requests.push_back(Json::parse(request.body));
    const std::size_t page = std::min(requests.size(), pages.size()) - 1;
    Json answer = {{"PriceList", pages[page]}};
    if (page + 1 < pages.size()) answer["NextToken"] = fmt::format("page {}", page + 1);
    return aws::HttpResponse{200, {}, answer.dump()};
  }
  std::vector<Json> pages;
  std::vector<Json> requests;
};

class ListedTrainingPrices : public testing::Test {
 protected:
  Result<ListedPrices> list() {
    aws::JsonClient client{{transport_, clock_, limiter_, rng_,
                            [](bool) -> Result<aws::Credentials> {
                              return aws::Credentials{"AKID", Secret("s"), Secret(""), {}, "test"};
                            },
                            [this](double time_s) { clock_.advance_to(time_s); }, "us-east-1"}};
    return list_training_prices(
        client,
        {"pricing", "AWSPriceListService", "application/x-amz-json-1.1", "https", "pricing.test"},
        "us-east-1");
  }
  static Json entry(const std::string& type, const std::string& usd) {
    return product({{"instanceName", type}}, usd).dump();
  }

  Pages transport_;
  VirtualClock clock_{1'795'000'000.0};
  aws::RateLimiter limiter_ = aws::sagemaker_rate_limiter();
  Rng rng_{1, "price_list"};
};

TEST_F(ListedTrainingPrices, AreReadFromAllPages) {
  // Some versions of the service send the object itself instead of text.
  transport_.pages = {Json::array({entry("ml.a", "1.0"), entry("other", "9.0")}),
                      Json::array({product({{"instanceName", "ml.b"}}, "2.0")}), Json(nullptr)};
  const auto listed = list();
  ASSERT_TRUE(listed) << listed.error().text();
  EXPECT_EQ(listed->instances.size(), 2U);
  EXPECT_DOUBLE_EQ(listed->instances.at("ml.b").usd_per_hour, 2.0);
  EXPECT_TRUE(listed->ambiguous.empty());
  ASSERT_EQ(transport_.requests.size(), 3U);
  EXPECT_FALSE(transport_.requests[0].contains("NextToken"));
  EXPECT_EQ(transport_.requests[2]["NextToken"], "page 2");
}

TEST_F(ListedTrainingPrices, AnAmbiguousTypeHasItsHighestPrice) {
  transport_.pages = {Json::array({entry("ml.a", "1.0"), entry("ml.a", "1.5"), entry("ml.a", "1.2"),
                                   entry("ml.b", "2.0"), entry("ml.b", "2.0")})};
  const auto listed = list();
  ASSERT_TRUE(listed) << listed.error().text();
  EXPECT_DOUBLE_EQ(listed->instances.at("ml.a").usd_per_hour, 1.5);
  EXPECT_EQ(listed->ambiguous, std::vector<std::string>{"ml.a"}) << "once, and not ml.b";
}

TEST_F(ListedTrainingPrices, ARegionWithoutPricesIsAnErrorThatNamesIt) {
  transport_.pages = {Json::array()};
  const auto listed = list();
  ASSERT_FALSE(listed);
  EXPECT_NE(listed.error().text().find("\"us-east-1\""), std::string::npos);
}

TEST(JobPrice, IsReadBackFromTheJobsVariable) {
  for (const auto& spot_share : {std::optional<double>(), std::optional(0.4), std::optional(1.0)}) {
    const JobPrice price{{3.0, 0.5, 0.1}, spot_share};
    EXPECT_EQ(job_price_of({{k_price_variable, to_text(price)}}), price);
  }
  const JobPrice all_off{{3.0, 3.0, 0.0}, {}};
  EXPECT_EQ(job_price_of({{k_price_variable, to_text(all_off)}}), all_off);
  const JobPrice longest{{1e9 / 3.0, 1e-9 / 3.0, 1e-9 / 7.0}, 1.0 / 3.0};
  EXPECT_EQ(job_price_of({{k_price_variable, to_text(longest)}}), longest);
  EXPECT_LE(to_text(longest).size(), 512U) << "SageMaker's limit for a variable";
}

TEST(JobPrice, AnotherProgramsVariableIsNoPrice) {
  for (const char* text :
       {"", "3.5", "not JSON", "[]", "{}", "{", R"({"list":"3","discount":0,"volume":0})",
        R"({"list":3,"volume":0})", R"({"discount":0,"volume":0})", R"({"list":3,"discount":0})",
        R"({"list":-1,"discount":0,"volume":0})", R"({"list":3,"discount":4,"volume":0})",
        R"({"list":3,"discount":-1,"volume":0})", R"({"list":3,"discount":0,"volume":-1})",
        R"({"list":1e10,"discount":0,"volume":0})", R"({"list":3,"discount":0,"volume":1e10})",
        R"({"list":3,"discount":0,"volume":0,"spot_share":0})",
        R"({"list":3,"discount":0,"volume":0,"spot_share":1.1})"}) {
    EXPECT_FALSE(job_price_of({{k_price_variable, text}})) << text;
  }
  EXPECT_FALSE(job_price_of({{k_price_variable, 1.4}}));
  EXPECT_FALSE(job_price_of(Json::object()));
}

TEST(JobPrice, CountsAllMachinesOfTheConfiguration) {
  const std::map<std::string, PriceParts> by_type{{"ml.a", {1.0, 0.1, 0.01}},
                                                  {"ml.b", {2.0, 0.0, 0.0}}};
  Resources one_type;
  one_type.instance_type = "ml.a";
  one_type.instance_count = 3;
  const auto of_one = price_parts_of(by_type, one_type);
  ASSERT_TRUE(of_one);
  EXPECT_DOUBLE_EQ(of_one->usd(), 3 * (1.0 - 0.1 + 0.01));
  Resources groups;
  groups.groups = {{"trainer", "ml.a", 1}, {"helpers", "ml.b", 2}};
  EXPECT_DOUBLE_EQ(price_parts_of(by_type, groups)->list_usd, 5.0);
  groups.groups.push_back({"others", "ml.c", 1});
  EXPECT_FALSE(price_parts_of(by_type, groups)) << "without all parts there is no sum";
}

}  // namespace
}  // namespace steptune
