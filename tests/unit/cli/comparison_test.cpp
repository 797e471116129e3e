// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/comparison.hpp"

#include <cmath>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tests/unit/cli/trial_fixtures.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TrialRecord measured(std::int64_t number, double time_s, double standard_error) {
  return make_trial(number, time_s, standard_error, 64);
}

TEST(RatioBetween, HasTheErrorsOfBothTrials) {
  // Relative errors of 3 % and 4 %, times k_z_95: 5 % together.
  const Estimate ratio =
      ratio_between(planned_time(), measured(1, 2000.0, 60.0), measured(2, 1000.0, 40.0), 0);
  EXPECT_DOUBLE_EQ(ratio.mean, 2.0);
  EXPECT_NEAR(std::log(ratio.high / ratio.mean), 1.96 * 0.05, 1e-4);
  EXPECT_NEAR(std::log(ratio.mean / ratio.low), 1.96 * 0.05, 1e-4);
}

TEST(RatioBetween, HasNoIntervalIfAnErrorIsUnknown) {
  for (const auto& [a, b] : {std::pair(0.0, 10.0), std::pair(10.0, 0.0)}) {
    const Estimate ratio =
        ratio_between(planned_time(), measured(1, 2000.0, a), measured(2, 1000.0, b), 0);
    EXPECT_DOUBLE_EQ(ratio.mean, 2.0);
    EXPECT_TRUE(std::isnan(ratio.low));
    EXPECT_TRUE(std::isnan(ratio.high));
  }
}

TEST(RatioBetween, IsNanIfATrialLacksTheObjective) {
  EXPECT_TRUE(std::isnan(
      ratio_between(planned_time(), measured(1, 2.0, 0.1), measured(2, 1.0, 0.1), 1).mean));
}

TEST(Comparison, ShowsDifferencesBeyondTheWidthOfAColumn) {
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
    EXPECT_EQ(number, 1) << "the baseline comes first";
    while (words >> number)
      others.push_back(number);
  }
  EXPECT_GT(tables, 2);
  std::vector<int> expected(19);
  std::iota(expected.begin(), expected.end(), 2);
  EXPECT_EQ(others, expected);
  EXPECT_THAT(whole, Not(HasSubstr("\n\n"))) << "one table in a file";
}

/// Returns the cells of a row without its name; empty if there is no such row.
std::vector<std::string> row_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    std::vector<std::string> cells;
    std::string cell;
    int blanks = 2;
    for (const char c : line.substr(name.size())) {
      if (c == ' ') {
        ++blanks;
        continue;
      }
      if (blanks >= 2 && !cell.empty()) cells.push_back(std::exchange(cell, {}));
      if (blanks == 1 && !cell.empty()) cell += ' ';
      blanks = 0;
      cell += c;
    }
    if (!cell.empty()) cells.push_back(cell);
    return cells;
  }
  return {};
}

TEST(Comparison, ShowsKnownClocks) {
  TrialRecord a = measured(1, 2000.0, 10.0);
  TrialRecord b = measured(2, 1000.0, 10.0);
  EXPECT_THAT(comparison_text({a, b}, {planned_time()}, {}), Not(HasSubstr("CPU clock")));
  a.cpu_clock = {3.4e9, 3.35e9};
  b.cpu_clock = {3.1e9, 2.1e9};
  const std::string text = comparison_text({a, b}, {planned_time()}, {});
  EXPECT_THAT(row_of(text, "CPU clock"), ElementsAre("3.40 GHz", "3.10 GHz"));
  EXPECT_THAT(row_of(text, "  slowest second"), ElementsAre("3.35 GHz", "2.10 GHz"));
}

TEST(Comparison, ShowsTimesAndCosts) {
  TrialRecord a = measured(1, 2000.0, 0.0);
  a.status = TrialStatus::stopped_early;
  a.measurement->seconds_per_sample = 0.004;
  a.measurement->startup_s = 3.0;
  a.measurement->warmup_s = 0.5;
  a.peak_memory_bytes = 2.0 * 1024 * 1024 * 1024;
  a.spent_s = 90.0;
  TrialRecord b = measured(2, 1000.0, 0.0);
  b.spent_s = 60.0;
  b.spent_usd = 0.25;
  const std::string text = comparison_text({a, b}, {planned_time()}, {"batch_size"});
  EXPECT_THAT(row_of(text, "trial"), ElementsAre("1", "2"));
  EXPECT_THAT(row_of(text, "status"), ElementsAre("stopped early", "completed"));
  EXPECT_THAT(row_of(text, "  times as good"), ElementsAre("2.00x"));
  EXPECT_THAT(row_of(text, "samples/s"), ElementsAre("250", "500"));
  EXPECT_THAT(row_of(text, "start-up"), ElementsAre("3.0 s", "0 ms"));
  EXPECT_THAT(row_of(text, "warm-up"), ElementsAre("500 ms", "0 ms"));
  EXPECT_THAT(row_of(text, "peak memory"), ElementsAre("2.0 GiB"));
  EXPECT_THAT(row_of(text, "spent"), ElementsAre("1 min 30 s", "1 min, $0.25"));
  EXPECT_THAT(row_of(text, "  phases and stalls"), ElementsAre());
}

TEST(Comparison, ShowsThePartsOfSteps) {
  TrialRecord a = measured(1, 2000.0, 0.0);
  a.measurement->parts["data"] = 0.0005;
  a.measurement->step_seconds_per_sample = 0.0015;
  a.measurement->phases["evaluation"] = {};
  TrialRecord b = measured(2, 1000.0, 0.0);
  b.measurement.reset();
  b.objectives.clear();
  const std::string text = comparison_text({a, b}, {planned_time()}, {});
  EXPECT_THAT(row_of(text, "  data"), ElementsAre("25 %"));
  EXPECT_THAT(row_of(text, "  phases and stalls"), ElementsAre("25 %"));
  EXPECT_THAT(row_of(text, "samples/s"), ElementsAre("500"));
  EXPECT_THAT(row_of(text, "  times as good"), ElementsAre());
}

TEST(Comparison, AParameterThatIsInactiveInOneTrialDiffers) {
  TrialRecord a = measured(1, 2000.0, 10.0);
  const TrialRecord b = measured(2, 1000.0, 10.0);
  a.configuration.erase("precision");
  for (const auto& trials : {std::vector{a, b}, std::vector{b, a}}) {
    EXPECT_EQ(comparison_json(trials, {planned_time()},
                              {"batch_size", "precision"})["differing_parameters"],
              Json::array({"precision"}));
  }
}

TEST(Comparison, AsJsonHasTheRatiosOfEachTrialToTheFirst) {
  const Json json =
      comparison_json({measured(1, 2000.0, 60.0), measured(2, 1000.0, 40.0)}, {planned_time()}, {});
  ASSERT_EQ(json["trials"].size(), 2U);
  EXPECT_EQ(json["trials"][1]["trial"]["number"], 2);
  const Json& ratio = json["trials"][1]["ratios_to_first"][0];
  EXPECT_EQ(ratio["metric"], "time");
  EXPECT_DOUBLE_EQ(ratio["ratio"].get<double>(), 2.0);
  EXPECT_LT(ratio["low_95"].get<double>(), 2.0);
  EXPECT_GT(ratio["high_95"].get<double>(), 2.0);
}

}  // namespace
}  // namespace steptune
