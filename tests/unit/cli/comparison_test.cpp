// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/comparison.hpp"

#include <cmath>
#include <numeric>
#include <sstream>

#include <gmock/gmock.h>

#include "tests/unit/cli/trial_fixtures.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TrialRecord measured(std::int64_t number, double time_s, double standard_error) {
  return make_trial(number, time_s, standard_error, 64);
}

TEST(RatioBetween, HasTheErrorsOfBothTrials) {
  // k_z_95 of relative errors 3 % and 4 %: 5 % together.
  const TrialRatio ratio =
      ratio_between(planned_time(), measured(1, 2000.0, 60.0), measured(2, 1000.0, 40.0), 0);
  EXPECT_DOUBLE_EQ(ratio.ratio, 2.0);
  EXPECT_NEAR(std::log(ratio.high / ratio.ratio), 1.96 * 0.05, 1e-4);
  EXPECT_NEAR(std::log(ratio.ratio / ratio.low), 1.96 * 0.05, 1e-4);
}

TEST(RatioBetween, IsNotKnownBetterThanTheLessKnownOfBoth) {
  for (const auto& [a, b] : {std::pair(0.0, 10.0), std::pair(10.0, 0.0)}) {
    const TrialRatio ratio =
        ratio_between(planned_time(), measured(1, 2000.0, a), measured(2, 1000.0, b), 0);
    EXPECT_DOUBLE_EQ(ratio.ratio, 2.0);
    EXPECT_TRUE(std::isnan(ratio.low));
    EXPECT_TRUE(std::isnan(ratio.high));
  }
}

TEST(RatioBetween, IsNoNumberWhereATrialHasNoSuchObjective) {
  EXPECT_TRUE(std::isnan(
      ratio_between(planned_time(), measured(1, 2.0, 0.1), measured(2, 1.0, 0.1), 1).ratio));
}

TEST(Comparison, TellsParametersApartThatDifferBeyondWhatAColumnShows) {
  TrialRecord a = measured(1, 2000.0, 10.0);
  TrialRecord b = measured(2, 1000.0, 10.0);
  const std::string beginning(60, 'x');
  a.configuration.set("path", beginning + "/one");
  b.configuration.set("path", beginning + "/two");
  const std::vector<std::string> order{"batch_size", "path"};
  const Json json = comparison_json({a, b}, {planned_time()}, order);
  EXPECT_EQ(json["differing_parameters"], Json::array({"path"}));
  const std::string text = comparison_text({a, b}, {planned_time()}, order);
  EXPECT_THAT(text, HasSubstr("path"));
  EXPECT_THAT(text, Not(HasSubstr("batch_size")));
}

TEST(Comparison, TrialsThatDoNotFitFollowInFurtherTables) {
  std::vector<TrialRecord> trials;
  for (int number = 1; number <= 20; ++number)
    trials.push_back(measured(number, 2000.0 * number, 10.0));
  const std::string whole = comparison_text(trials, {planned_time()}, {});
  const std::string text = comparison_text(trials, {planned_time()}, {}, 80);
  std::istringstream lines(text);
  std::vector<int> others;
  int tables = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80U) << line;
    if (!line.starts_with("trial")) continue;
    ++tables;
    std::istringstream words(line.substr(5));
    int number = 0;
    words >> number;
    EXPECT_EQ(number, 1) << "what the others are compared with";
    while (words >> number)
      others.push_back(number);
  }
  EXPECT_GT(tables, 2);
  std::vector<int> expected(19);
  std::iota(expected.begin(), expected.end(), 2);
  EXPECT_EQ(others, expected);
  EXPECT_THAT(whole, Not(HasSubstr("\n\n"))) << "one table in a file";
}

}  // namespace
}  // namespace steptune
