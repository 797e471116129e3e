// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/further_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/unit/verdict/fixture.hpp"
#include "tuner/verdict/looks.hpp"

namespace steptune {
namespace {

constexpr BothErrors k_errors{0.02, 0.02};

/// Pairs of launches of a baseline and of a configuration.
class SomePairs {
 public:
  void add(double log_ratio) {
    records_.push_back(completed(2, std::exp(-log_ratio), 1e-4));
    const TrialRecord* incumbent = &records_.back();
    records_.push_back(completed(1, 1.0, 1e-4));
    pairs_.push_back({incumbent, &records_.back()});
  }
  /// Lets all programs end by themselves without a steady state.
  void make_unsteady_whole_runs() {
    for (TrialRecord& record : records_) {
      record.measurement.emplace();
      record.measurement->status = MeasurementStatus::not_steady;
      record.measurement->whole_run = true;
    }
  }
  [[nodiscard]] const std::vector<RunPair>& all() const { return pairs_; }

 private:
  std::deque<TrialRecord> records_;
  std::vector<RunPair> pairs_;
};

/// Returns pairs whose mean is `mean`, and whose values differ from it by `deviation`.
SomePairs even_pairs(int count, double mean, double deviation) {
  SomePairs pairs;
  for (int i = 0; i < count; ++i)
    pairs.add(mean + (i % 2 == 0 ? deviation : -deviation));
  return pairs;
}

TEST(FurtherPairs, TheVerdictIsKnownThenIfPairsStayTheSame) {
  StudySpec study = time_study();
  study.search.worth = 0.05;
  const SomePairs four = even_pairs(4, 0.04, 0.06);
  const double more = further_pairs(study, four.all(), k_errors, KnownLaunches{});
  ASSERT_GT(more, 1.0);
  ASSERT_LT(more, 40.0);
  const auto half_width = [&](double further) {
    const int count = 4 + static_cast<int>(further);
    const double error = error_of_look(count, look_plan(study), k_errors.faster);
    return statistics_after(count, study, four.all(), KnownLaunches{}).half_width(error);
  };
  EXPECT_LT(half_width(more), 0.04);
  EXPECT_GE(half_width(more - 1.0), 0.04);
}

TEST(FurtherPairs, FewPairsOfAJudgementNeedFewMoreBecauseStudentsTShrinks) {
  StudySpec study = time_study();
  study.measure.confirm_all = true;
  study.search.worth = 0.02;
  const SomePairs three = even_pairs(3, 0.12, 0.06);
  const double half_width =
      statistics_of(study, three.all(), k_launches_by_pairs).half_width(0.004);
  const double by_root = 3.0 * (std::pow(half_width / 0.12, 2) - 1.0);
  const double more = further_pairs(study, three.all(), k_errors, k_launches_by_pairs);
  EXPECT_GE(more, 1.0);
  EXPECT_LT(more, 0.5 * by_root);
}

TEST(FurtherPairs, AnInsignificantGainIsSoonExcluded) {
  StudySpec study = time_study();
  study.search.worth = 0.05;
  const double of_none =
      further_pairs(study, even_pairs(4, 0.0, 0.06).all(), k_errors, KnownLaunches{});
  const double of_half =
      further_pairs(study, even_pairs(4, 0.02, 0.06).all(), k_errors, KnownLaunches{});
  EXPECT_LT(of_none, of_half);
}

TEST(FurtherPairs, ThereAreEnoughPairsForAClaimThen) {
  const StudySpec study = time_study();
  SomePairs one = even_pairs(1, 1.0, 0.0);
  EXPECT_DOUBLE_EQ(further_pairs(study, one.all(), k_errors, KnownLaunches{}), 1.0);
  one.make_unsteady_whole_runs();
  EXPECT_DOUBLE_EQ(further_pairs(study, one.all(), k_errors, KnownLaunches{}), 2.0)
      << "such runs need three pairs";
}

TEST(FurtherPairs, WithoutAnIntervalNothingCanBeSaid) {
  StudySpec study = time_study();
  EXPECT_TRUE(std::isnan(further_pairs(study, {}, k_errors, KnownLaunches{})));
  const SomePairs one = even_pairs(1, 0.1, 0.0);
  EXPECT_TRUE(std::isnan(further_pairs(study, one.all(), k_errors, k_launches_by_pairs)));
  study.search.worth = 0.0;
  const SomePairs equal = even_pairs(4, 0.0001, 0.06);
  EXPECT_TRUE(std::isnan(further_pairs(study, equal.all(), k_errors, KnownLaunches{})));
}

/// Returns how many times as many pairs were needed as were said after the first undecided three,
/// for pairs that differ by `deviation`; sorted.
std::vector<double> needed_over_said(const StudySpec& study, double gain, double deviation) {
  std::vector<double> factors;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(11, "further_pairs", seed);
    SomePairs pairs;
    for (int i = 0; i < 3; ++i)
      pairs.add(gain + deviation * rng.normal());
    const auto decided = [&] {
      return judge(study, pairs.all(), k_errors.faster).verdict == Verdict::faster;
    };
    const double said = further_pairs(study, pairs.all(), k_errors, KnownLaunches{});
    if (decided() || !std::isfinite(said)) continue;
    double needed = 0.0;
    while (!decided() && needed < 200.0) {
      pairs.add(gain + deviation * rng.normal());
      ++needed;
    }
    factors.push_back(needed / said);
  }
  std::ranges::sort(factors);
  return factors;
}

TEST(FurtherPairs, AreRightWithinAFactorOfTwoInTheMedian) {
  StudySpec study = time_study();
  study.search.worth = 0.05;
  const std::vector<double> factors = needed_over_said(study, 0.08, 0.06);
  ASSERT_GT(factors.size(), 50U);
  const double median = factors[factors.size() / 2];
  EXPECT_GE(median, 0.5);
  EXPECT_LT(median, 2.0);
}

}  // namespace
}  // namespace steptune
