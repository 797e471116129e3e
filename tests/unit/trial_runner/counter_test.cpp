// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/counter.hpp"

#include <vector>

#include <gmock/gmock.h>

#include "trial_runner/reports/number_pairs.hpp"

namespace steptune {
namespace {

using testing::Optional;

Count value(double count) {
  return {count, std::nullopt, std::nullopt, false};
}
Count of_total(double count, double total) {
  return {count, total, std::nullopt, false};
}
Count in_epoch(double count, double epoch, std::optional<double> total = std::nullopt) {
  return {count, total, epoch, true};
}

TEST(CumulativeCounter, AddsEpochsOfKnownLength) {
  CumulativeCounter counter;
  EXPECT_EQ(counter.add(in_epoch(90, 0, 100)), 90);
  EXPECT_EQ(counter.add(in_epoch(10, 1, 100)), 110);
  EXPECT_EQ(counter.add(in_epoch(100, 1, 100)), 200);
  EXPECT_EQ(counter.add(in_epoch(1, 2, 100)), 201);
  EXPECT_EQ(counter.value(), 201);
}

TEST(CumulativeCounter, WithoutALengthCountsPrintedValues) {
  CumulativeCounter counter;
  counter.add(in_epoch(90, 0));
  EXPECT_EQ(counter.add(in_epoch(10, 1)), 100);
}

TEST(CumulativeCounter, AnEpochsFirstLineMayBeFurtherThanTheLastOnes) {
  CumulativeCounter counter;
  counter.add(in_epoch(10, 0, 100));
  EXPECT_EQ(counter.add(in_epoch(50, 1, 100)), 150);
}

TEST(CumulativeCounter, AGlobalCounterContinuesOverEpochs) {
  CumulativeCounter counter;
  counter.add({100, std::nullopt, 0.0, false});
  EXPECT_EQ(counter.add({150, std::nullopt, 1.0, false}), 150);
}

TEST(CumulativeCounter, AFallFarFromTheTotalIsNoRestart) {
  CumulativeCounter counter;
  counter.add(of_total(100, 5000));
  EXPECT_EQ(counter.add(of_total(1, 5000)), 100) << "of another process";
  EXPECT_EQ(counter.add(of_total(200, 5000)), 200);
}

TEST(CumulativeCounter, AnOutputMayBeginNearTheEndOfAnEpoch) {
  CumulativeCounter counter;
  counter.add(of_total(350, 391));
  EXPECT_EQ(counter.add(of_total(50, 391)), 441);
}

TEST(CumulativeCounter, AFallByHalfIsARestart) {
  CumulativeCounter counter;
  counter.add(value(100));
  EXPECT_EQ(counter.add(value(50)), 150);
}

TEST(CumulativeCounter, ASmallStepBackIsNoRestart) {
  CumulativeCounter counter;
  counter.add(value(100));
  EXPECT_EQ(counter.add(value(99)), 100);
  EXPECT_EQ(counter.add(value(51)), 100);
  EXPECT_EQ(counter.add(value(101)), 101);
}

TEST(CumulativeCounter, AFirstStepIsNotMistakenForARestart) {
  CumulativeCounter counter;
  counter.add(value(1));
  EXPECT_EQ(counter.add(value(0)), 1);
}

/// Feeds lines of two programs, one of which is this many times as fast. True if the counter sees
/// two writers.
bool counts_as_two(int times_as_fast, double of_slower_from = 0.0) {
  CumulativeCounter counter;
  double fast = 0.0;
  for (int slow = 1; slow <= 20; ++slow) {
    for (int i = 0; i < times_as_fast; ++i)
      counter.add(value(++fast));
    counter.add(value(of_slower_from + slow));
  }
  return counter.several_writers();
}

TEST(CumulativeCounter, SeesTwoProgramsHoweverManyLinesOfOneComeBetween) {
  for (const int times : {3, 4, 10, 50})
    EXPECT_TRUE(counts_as_two(times)) << times;
  EXPECT_TRUE(counts_as_two(1, 1000.0)) << "one program continues from a checkpoint";
  EXPECT_FALSE(counts_as_two(1)) << "in step";
}

TEST(CumulativeCounter, EpochsOfAnyLengthAreNotTwoPrograms) {
  CumulativeCounter counter;
  for (const int length : {10, 3, 40, 41, 200, 7, 500}) {
    for (int i = 1; i <= length; i += 1 + length / 20)
      counter.add(value(i));
  }
  EXPECT_FALSE(counter.several_writers());
  CumulativeCounter sparse;
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const double at : {0.0, 100.0, 200.0, 300.0, 391.0})
      sparse.add(value(at));
  }
  EXPECT_FALSE(sparse.several_writers());
}

/// Returns the uncounted share of epochs with `length` steps, reported every `every` steps.
double uncounted_share(int length, int every, bool reports_end) {
  CumulativeCounter counter;
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (int i = 0; i < length; i += every)
      counter.add(value(i));
    if (reports_end) counter.add(value(length));
  }
  return counter.uncounted_share();
}

TEST(CumulativeCounter, BoundsTheRestOfAnEpochAfterItsLastLine) {
  EXPECT_NEAR(uncounted_share(98, 50, /*reports_end=*/false), 49.0 / 99.0, 1e-9);
  EXPECT_NEAR(uncounted_share(1000, 10, /*reports_end=*/false), 9.0 / 999.0, 1e-9);
  EXPECT_EQ(uncounted_share(98, 1, /*reports_end=*/false), 0.0);
  EXPECT_EQ(uncounted_share(98, 50, /*reports_end=*/true), 0.0);
}

TEST(CumulativeCounter, ATotalOrASingleRestartLeavesNothingUncounted) {
  CumulativeCounter counter;
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (const double at : {0.0, 50.0})
      counter.add({at, 98.0, {}, false});
  }
  EXPECT_EQ(counter.uncounted_share(), 0.0);
  CumulativeCounter anew;
  for (const double at : {0.0, 50.0, 0.0, 50.0, 100.0, 150.0})
    anew.add(value(at));
  EXPECT_EQ(anew.uncounted_share(), 0.0);
}

TEST(CumulativeCounter, RareLinesAreNotTwoPrograms) {
  // A line every `every` steps shows the number of the step within its epoch of a hundred.
  for (int every = 60; every <= 150; ++every) {
    CumulativeCounter counter;
    for (int step = every; step <= 100 * every; step += every)
      counter.add(value((step - 1) % 100 + 1));
    EXPECT_FALSE(counter.several_writers()) << every;
  }
}

TEST(CounterSet, OnlyTheFurthestCounterIsUsed) {
  CounterSet counters;
  EXPECT_THAT(counters.add("outer", value(1)), Optional(1.0));
  EXPECT_THAT(counters.add("inner", value(10)), Optional(10.0));
  EXPECT_EQ(counters.add("outer", value(2)), std::nullopt);
  EXPECT_THAT(counters.add("inner", value(20)), Optional(20.0));
  EXPECT_THAT(counters.add("outer", value(30)), Optional(30.0));
}

TEST(CounterSet, IsBounded) {
  CounterSet counters;
  for (int i = 0; i < int{k_most_counters}; ++i)
    EXPECT_TRUE(counters.add("bar " + std::to_string(i), value(i + 1)));
  EXPECT_EQ(counters.add("one more", value(1000)), std::nullopt);
  EXPECT_THAT(counters.add("bar 0", value(1000)), Optional(1000.0));
}

TEST(NumberPairs, AreReadInEveryNotation) {
  const auto pairs =
      number_pairs("step=12/100 'loss': 0.5, time: 25.3ms iter 7 acc: 93.5% lr 1e-3");
  ASSERT_EQ(pairs.size(), 6U);
  EXPECT_EQ(pairs[0].name, "step");
  EXPECT_EQ(pairs[0].value, 12);
  EXPECT_THAT(pairs[0].total, Optional(100.0));
  EXPECT_EQ(pairs[1].name, "loss");
  EXPECT_EQ(pairs[1].value, 0.5);
  EXPECT_EQ(pairs[2].name, "time");
  EXPECT_DOUBLE_EQ(pairs[2].value, 0.0253);
  EXPECT_EQ(pairs[3].value, 7);
  EXPECT_EQ(pairs[4].value, 93.5);
  EXPECT_EQ(pairs[5].value, 1e-3);
}

TEST(NumberPairs, ThousandsAndUnitsBehindABlankAreRead) {
  const auto pairs = number_pairs("iter: 1,000, step:2K time: 500.00 ms loss train: 0.5");
  ASSERT_EQ(pairs.size(), 4U);
  EXPECT_EQ(pairs[0].value, 1000.0);
  EXPECT_TRUE(pairs[0].whole);
  EXPECT_EQ(pairs[1].value, 2000.0);
  EXPECT_TRUE(pairs[1].whole && pairs[1].scaled);
  EXPECT_DOUBLE_EQ(pairs[2].value, 0.5);
  EXPECT_FALSE(pairs[2].whole);
  EXPECT_EQ(pairs[3].name, "train_loss");
}

TEST(NumberPairs, NumbersWithThousandsMayHaveASignAndDecimals) {
  const auto pairs = number_pairs("tokens/s: 12,345.5, elbo: -1,234, acc: 0,5");
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].value, 12'345.5);
  EXPECT_FALSE(pairs[0].whole);
  EXPECT_EQ(pairs[1].value, -1234.0);
  EXPECT_FALSE(pairs[1].whole);
}

TEST(GrowthWatch, ACounterGrowsAndAWindowScatters) {
  const auto counters = [](const std::vector<double>& values) {
    GrowthWatch watch;
    int counts = 0;
    for (const double counter_value : values)
      counts += watch.is_counter(value(counter_value)) ? 1 : 0;
    return counts;
  };
  EXPECT_EQ(counters({64, 128, 192}), 2);
  EXPECT_EQ(counters({10'000, 10'064, 10'128, 10'192}), 1) << "small growths must repeat";
  EXPECT_EQ(counters({200, 200, 220, 220, 240, 240, 260, 260}), 2) << "two lines of each step";
  EXPECT_EQ(counters({5120, 5120, 5120, 5120, 5120}), 0);
  EXPECT_EQ(counters({5000, 5100, 4900, 5200, 5050, 5150, 5250, 4950}), 0);
}

TEST(CounterSet, AStepOfHigherRankLeadsItsMicroBatches) {
  CounterSet counters;
  std::optional<double> last;
  for (int step = 1; step <= 5; ++step) {
    for (int part = 1; part <= 4; ++part) {
      if (const auto count = counters.add("iter", value(4.0 * step - 4 + part), 1)) last = count;
    }
    if (const auto count = counters.add("step", value(step), 2)) last = count;
  }
  EXPECT_EQ(last, 5.0);
}

TEST(CounterSet, ANumberThatStaysTheSameLosesTheLead) {
  CounterSet counters;
  std::optional<double> last;
  for (int i = 1; i <= 6; ++i) {
    (void)counters.add("step", value(1170), 2);
    if (const auto count = counters.add("iteration", value(i), 1)) last = count;
  }
  EXPECT_EQ(last, 6.0);
}

TEST(NumberPairs, LossesAndAccuraciesNeedNoSign) {
  const auto pairs = number_pairs("lr 5.0e-04 || Mask_Loss 1.678 | ValAcc 0.684 | dev loss: 0.5");
  ASSERT_EQ(pairs.size(), 4U);
  EXPECT_EQ(pairs[1].name, "Mask_Loss");
  EXPECT_EQ(pairs[1].value, 1.678);
  EXPECT_EQ(pairs[2].name, "ValAcc");
  EXPECT_EQ(pairs[3].name, "dev_loss");
}

TEST(NumberPairs, ANumberMayEndASentence) {
  const auto pairs = number_pairs("Step: 15000. Std: 4., Mean Reward: 0.5.");
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].value, 15000.0);
  EXPECT_TRUE(pairs[0].whole);
  EXPECT_FALSE(pairs[1].whole);
  EXPECT_EQ(pairs[2].value, 0.5);
}

TEST(NumberPairs, NumbersWithOtherUnitsAreSkipped) {
  const auto pairs = number_pairs("memory=12GB loss=0.5");
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].name, "loss");
}

TEST(NumberPairs, LineNumbersOfWarningsAreNoPairs) {
  const auto pairs = number_pairs(
      "/usr/lib/python3/torch/utils/data/dataloader.py:554: UserWarning: many workers, lr.head: "
      "0.1");
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].name, "lr.head");
  EXPECT_EQ(number_pairs("epoch 3: val/loss=0.5").size(), 2U);
}

TEST(NumberPairs, AreAtMostSixtyFour) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "m" + std::string(1, static_cast<char>('a' + i % 26)) + "=1 ";
  EXPECT_EQ(number_pairs(text).size(), 64U);
}

TEST(NumberPairs, NotFiniteValuesAreKeptApart) {
  Report report;
  for (NumberPair& pair : number_pairs("loss=nan grad: inf acc=0.5"))
    set_metric(report, std::move(pair.name), pair.value);
  EXPECT_THAT(report.not_finite, testing::UnorderedElementsAre("loss", "grad"));
  EXPECT_EQ(report.metrics, (std::map<std::string, double>{{"acc", 0.5}}));
}

TEST(MetricName, IsLowerCaseWithUnderscores) {
  EXPECT_EQ(metric_name("Val Loss"), "val_loss");
  EXPECT_EQ(metric_name("acc@1"), "acc@1");
  EXPECT_EQ(metric_name(""), "");
}

}  // namespace
}  // namespace steptune
