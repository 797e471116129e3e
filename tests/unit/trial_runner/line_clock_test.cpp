// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/line_clock.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace steptune {
namespace {

/// Returns the seconds between consecutive lines.
std::vector<double> gaps(const std::vector<std::string>& lines) {
  LineClock clock;
  std::vector<double> between;
  std::optional<double> last_s;
  for (const std::string& line : lines) {
    const auto time_s = clock.read(line);
    EXPECT_TRUE(time_s) << line;
    if (time_s && last_s) between.push_back(*time_s - *last_s);
    last_s = time_s;
  }
  return between;
}

TEST(LineClock, ReadsDatesWithAndWithoutOffsets) {
  EXPECT_EQ(gaps({"2025-01-09 11:53:02,500 step 1", "[2025-01-09T11:53:04.750] step 2"}),
            (std::vector<double>{2.25}));
  EXPECT_EQ(gaps({"2025-01-09T11:53:02Z", "2025-01-09T12:53:03.000000000+01:00",
                  "2025-01-09 07:23:04-0430"}),
            (std::vector<double>{1.0, 1.0}));
  EXPECT_EQ(gaps({"2025/01/09 11:53:02 - mmengine - INFO - step 1", "2025/01/10 11:53:02 step 2"}),
            (std::vector<double>{86'400.0}));
  EXPECT_EQ(gaps({"2025-01-09 11:53:02-1234 tokens", "2025-01-09 11:53:03-2234 tokens"}),
            (std::vector<double>{1.0}))
      << "no time zone has this offset";
  EXPECT_EQ(gaps({"[ Thu Jan  9 11:53:02 2025 ] Batch(0/9)", "[ Fri Jan 10 11:53:05 2025 ]"}),
            (std::vector<double>{86'403.0}));
}

TEST(LineClock, EstimatesAreNoDates) {
  LineClock clock;
  EXPECT_FALSE(clock.read("step 20, ETA = 2025-01-09 11:53:02"));
  EXPECT_FALSE(clock.read("step: 30/ 90 etc:Thu Jan  9 11:53:02 2025"));
}

TEST(LineClock, ReadsDatesWithoutAYear) {
  EXPECT_EQ(gaps({"I1128 05:12:33.500000 140 train.cc:48] step 1",
                  "W1128 05:12:34.750000 140 train.cc:48] slow"}),
            (std::vector<double>{1.25}));
  EXPECT_EQ(gaps({"I20261128 05:12:33.500000 1 train.cc:48] step 1",
                  "I20261129 05:12:33.500000 1 train.cc:48] step 2"}),
            (std::vector<double>{86'400.0}));
  EXPECT_EQ(
      gaps({"[11/28 05:12:33 d2.utils.events]:  iter: 19", "[11/28 05:12:40 d2.utils.events]"}),
      (std::vector<double>{7.0}));
  EXPECT_EQ(gaps({"11/28 05:12:33 - mmengine - INFO", "11/28 05:12:34 - mmengine - INFO"}),
            (std::vector<double>{1.0}));
  EXPECT_EQ(gaps({"2026-11-28,05:12:33 | INFO | step 1", "2026-11-28,05:12:36 | INFO | step 2"}),
            (std::vector<double>{3.0}));
}

TEST(LineClock, WithoutAYearCountsLeapDaysAndYearEnds) {
  EXPECT_EQ(gaps({"[12/31 23:59:59 x]", "[01/01 00:00:01 x]"}), (std::vector<double>{2.0}));
  EXPECT_EQ(gaps({"[02/28 12:00:00 x]", "[03/01 12:00:00 x]"}), (std::vector<double>{86'400.0}));
  EXPECT_EQ(gaps({"[02/28 12:00:00 x]", "[02/29 12:00:00 x]", "[03/01 12:00:00 x]"}),
            (std::vector<double>{86'400.0, 86'400.0}));
  EXPECT_EQ(gaps({"started 2024-12-31 23:59:50", "[12/31 23:59:59 x]", "[01/01 00:00:01 x]"}),
            (std::vector<double>{9.0, 2.0}))
      << "the year of a date before";
  EXPECT_EQ(gaps({"[11/28 05:12:33 x]", "saved 2026-11-28 05:12:34", "[11/28 05:12:35 x]"}),
            (std::vector<double>{0.0, 2.0}))
      << "a date with a year has another origin";
}

TEST(LineClock, CountsOfBatchesAreNoDates) {
  LineClock clock;
  EXPECT_FALSE(clock.read("batch 10/28 00:05:12"));
  EXPECT_FALSE(clock.read("[13/40 00:05:12]"));
  EXPECT_FALSE(clock.read("F1128 05:12:33 tokens"));
}

TEST(LineClock, AChangedOffsetIsNoPassedTime) {
  EXPECT_EQ(gaps({"2025-03-30T01:59:59+01:00", "2025-03-30T03:00:01+02:00"}),
            (std::vector<double>{2.0}));
}

TEST(LineClock, HandlesDaylightSavingShifts) {
  EXPECT_EQ(gaps({"2025-03-30 01:59:40", "2025-03-30 01:59:50", "2025-03-30 03:00:00",
                  "2025-03-30 03:00:10"}),
            (std::vector<double>{10.0, 10.0, 10.0}))
      << "the clock goes forward";
  EXPECT_EQ(gaps({"2025-10-26 02:59:35", "2025-10-26 02:59:50", "2025-10-26 02:00:05",
                  "2025-10-26 02:59:59", "2025-10-26 03:00:04"}),
            (std::vector<double>{15.0, 15.0, 3594.0, 5.0}))
      << "the clock goes back";
  EXPECT_EQ(gaps({"2025-04-05 23:59:58", "2025-04-05 23:59:59", "2025-04-05 23:00:00"}),
            (std::vector<double>{1.0, 1.0}))
      << "the clock goes back at midnight";
}

TEST(LineClock, APauseOfAnHourIsPassedTime) {
  EXPECT_EQ(gaps({"2025-03-30 01:40:00", "2025-03-30 01:40:10", "2025-03-30 02:40:15"}),
            (std::vector<double>{10.0, 3605.0}));
  EXPECT_EQ(gaps({"2025-03-30 11:59:40", "2025-03-30 11:59:50", "2025-03-30 13:00:00"}),
            (std::vector<double>{10.0, 3610.0}))
      << "no clock is changed by day";
  EXPECT_EQ(gaps({"2025-03-30 02:59:50", "2025-03-30 03:00:00", "2025-03-30 03:00:10"}),
            (std::vector<double>{10.0, 10.0}));
}

TEST(LineClock, ABarContinuesWhileAnotherIsDrawn) {
  EXPECT_EQ(gaps({" 1%| | 50/500 [10:00<90:00, 1.2s/it]", " 0%| | 0/13 [00:00<?, ?it/s]",
                  " 9%| | 12/13 [00:30<00:02, 2.5s/it]", " 1%| | 51/500 [10:31<90:00, 1.2s/it]",
                  " 0%| | 0/13 [00:00<?, ?it/s]", " 1%| | 52/500 [10:45<90:00, 1.2s/it]"}),
            (std::vector<double>{0.0, 30.0, 1.0, 0.0, 14.0}));
}

TEST(LineClock, ABarWithoutALengthHasItsTime) {
  EXPECT_EQ(gaps({"12it [00:03, 4.10it/s]", "112it [00:33, 3.30it/s, loss=0.3]"}),
            (std::vector<double>{30.0}));
  EXPECT_FALSE(LineClock().read("[11:53, 12 warnings] done"));
}

TEST(LineClock, BarsGiveTheTimeBetweenTwoDates) {
  EXPECT_EQ(gaps({"[INFO] 2025-01-09 11:53:02,500 >> ***** Running training *****",
                  " 0%| | 0/500 [00:00<?, ?it/s]", " 2%| | 10/500 [00:20<15:00, 2.0s/it]",
                  "[INFO] 2025-01-09 11:53:25,500 >> ***** Running Evaluation *****",
                  " 0%| | 0/13 [00:00<?, ?it/s]", " 8%| | 1/13 [00:04<00:48, 4.0s/it]",
                  " 2%| | 11/500 [00:30<15:00, 2.0s/it]"}),
            (std::vector<double>{0.0, 20.0, 3.0, 0.0, 4.0, 3.0}));
  EXPECT_EQ(gaps({"2025-01-09 11:53:02 resumed", " 2%| | 10/500 [10:00<90:00, 2.0s/it]"}),
            (std::vector<double>{0.0}))
      << "the bar began before the latest date";
}

TEST(LineClock, ALogMayKeepOnlyTheLastDrawOfABar) {
  EXPECT_EQ(gaps({"100%|#| 100/100 [03:00<00:00, 1.8s/it]", "100%|#| 20/20 [01:40<00:00, 5.0s/it]",
                  "100%|#| 100/100 [03:02<00:00, 1.8s/it]", "100%|#| 20/20 [01:41<00:00, 5.0s/it]",
                  "100%|#| 100/100 [03:02<00:00, 1.8s/it]"}),
            (std::vector<double>{100.0, 182.0, 101.0, 182.0}));
  EXPECT_EQ(gaps({"100%|#| 100/100 [03:00<00:00, 1.8s/it]", "100%|#| 20/20 [00:07<00:00, 2.8it/s]",
                  "100%|#| 100/100 [03:12<00:00, 1.9s/it]"}),
            (std::vector<double>{7.0, 192.0}));
  EXPECT_EQ(gaps({"Epoch #1: 500it [00:40, 12.5it/s]", "Epoch #2: 500it [00:40, 12.5it/s]"}),
            (std::vector<double>{40.0}));
  EXPECT_EQ(gaps({"Epoch 0: 100%|#| 100/100 [00:40<00:00, 2.5it/s]",
                  "Validation: 100%|#| 20/20 [00:05<00:00, 4.0it/s]",
                  "Epoch 0: 100%|#| 100/100 [00:45<00:00, 2.2it/s, val_loss=0.5]"}),
            (std::vector<double>{5.0, 0.0}))
      << "the same bar with another value";
}

TEST(LineClock, DatesMayFollowBars) {
  EXPECT_EQ(gaps({" 1%| | 1/100 [00:10<15:00]", "2025-01-09 11:53:02 epoch 2",
                  " 2%| | 2/100 [00:20<15:00]", "2025-01-09 11:53:13 epoch 3"}),
            (std::vector<double>{0.0, 10.0, 1.0}));
}

TEST(LineClock, BarsThatStartAgainAddUp) {
  EXPECT_EQ(gaps({" 1%| | 1/100 [00:10<15:00]", " 2%| | 2/100 [00:20<15:00]",
                  " 1%| | 1/100 [00:05<15:00]"}),
            (std::vector<double>{10.0, 5.0}));
  EXPECT_FALSE(LineClock().read("step 1 loss 0.5"));
}

}  // namespace
}  // namespace steptune
