// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/report_reader.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ReportReader reader_of(const ReportFormat& format = {}) {
  auto reader = ReportReader::create(format);
  if (!reader) throw std::runtime_error(reader.error().text());
  return *std::move(reader);
}

ReportFormat preset(const std::string& name) {
  ReportFormat format;
  format.preset = name;
  return format;
}

TEST(HookLines, AreEventsButNoProgress) {
  ReportReader reader = reader_of();
  ASSERT_TRUE(reader.read_line(R"([steptune] {"v":1,"step":1,"loss":2.5})", 1.0));
  const auto report = reader.read_line(
      R"(rank 0: [steptune] {"v":1,"hook":{"event":"knob","where":["a.py:1"],"value":4}}  )", 2.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->hook_events,
            (std::vector<std::string>{R"({"event":"knob","where":["a.py:1"],"value":4})"}));
  EXPECT_FALSE(report->step);
  EXPECT_TRUE(report->metrics.empty()) << "a loss that was reported before is not new";
  EXPECT_EQ(reader.rejected_lines(), 0U);
  EXPECT_TRUE(reader.read_line(R"([steptune] {"v":1,"step":2})", 3.0)->hook_events.empty());
}

TEST(HookLines, AreRefusedIfTheyAreNoObject) {
  for (const char* document :
       {R"({"v":1,"hook":{"event":"knob"})", R"({"v":1,"hook":{"event":"knob"},"step":1})",
        R"({"v":1,"hook":{}}})"}) {
    ReportReader reader = reader_of();
    EXPECT_FALSE(reader.read_line(std::string("[steptune] ") + document, 1.0)) << document;
    EXPECT_EQ(reader.rejected_lines(), 1U) << document;
  }
  ReportReader reader = reader_of();
  const std::string long_text(k_max_report_line_bytes, 'x');
  EXPECT_FALSE(reader.read_line(R"([steptune] {"v":1,"hook":{"a":")" + long_text + R"("}})", 1.0));
  EXPECT_TRUE(reader.first_rejection());
}

struct RejectCase {
  std::string name;
  std::string document;
  std::string message;  ///< part of the error
};
class SteptuneLine : public testing::TestWithParam<RejectCase> {};

TEST_P(SteptuneLine, IsRejectedWithItsReason) {
  ReportReader reader = reader_of();
  EXPECT_FALSE(reader.read_line("[steptune] " + GetParam().document, 1.0));
  ASSERT_TRUE(reader.first_rejection());
  EXPECT_THAT(*reader.first_rejection(), HasSubstr(GetParam().message));
  EXPECT_EQ(reader.rejected_lines(), 1U);
  EXPECT_FALSE(reader.read_line("anything else", 2.0));
  EXPECT_EQ(reader.rejected_lines(), 1U);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Faults, SteptuneLine, testing::Values(
  RejectCase{"NoVersion", R"({"step":1})", "no \"v\": 1"},
  RejectCase{"OtherVersion", R"({"v":2,"step":1})", "\"v\" is 2"},
  RejectCase{"TextVersion", R"({"v":"1","step":1})", "\"v\" is not 1"},
  RejectCase{"Torn", R"({"v":1,"step":1)", "not valid JSON"},
  RejectCase{"Trailing", R"({"v":1,"step":1} x)", "not valid JSON"},
  RejectCase{"TwoOnALine", R"({"v":1,"step":1}[steptune] {"v":1,"step":2})", "not valid JSON"},
  RejectCase{"DuplicateKey", R"({"v":1,"step":1,"step":2})", "the key \"step\" appears twice"},
  RejectCase{"DuplicatePart", R"({"v":1,"parts":{"a":1,"a":2}})", "appears twice"},
  RejectCase{"EmptyObject", "{}", "not an object with keys"},
  RejectCase{"Nested", R"({"v":1,"loss":{"a":1}})", "\"loss\" is an object"},
  RejectCase{"NestedPart", R"({"v":1,"parts":{"a":{"b":1}}})", "\"parts/a\" is an object"},
  RejectCase{"PartsNoObject", R"({"v":1,"parts":3})", "\"parts\" is a number"},
  RejectCase{"InvalidUtf8", "{\"v\":1,\"\xff\":3}", "not valid JSON"},
  RejectCase{"NegativeStep", R"({"v":1,"step":-1})", "\"step\" is -1; 0 to"},
  RejectCase{"NegativeSamples", R"({"v":1,"samples":-0.5})", "\"samples\" is -0.5; 0 to"},
  RejectCase{"NegativeClock", R"({"v":1,"clock":-3})", "\"clock\" is -3; 0 to"},
  RejectCase{"NegativePart", R"({"v":1,"parts":{"data":-1}})", "is -1; 0 to"},
  RejectCase{"HugeStep", R"({"v":1,"step":1e300})", "\"step\" is 1e+300; 0 to"},
  RejectCase{"TextStep", R"({"v":1,"step":"7"})", "\"step\" is a string, not a number"},
  RejectCase{"NullSamples", R"({"v":1,"samples":null})", "\"samples\" is null, not a number"},
  RejectCase{"NanStep", R"({"v":1,"step":NaN})", "\"step\" is not a finite number"},
  RejectCase{"NanMetric", R"({"v":1,"loss": NaN})", "\"loss\" is not a finite number"},
  RejectCase{"InfiniteMetric", R"({"v":1,"loss":Infinity})", "\"loss\" is not a finite number"},
  RejectCase{"NegativeInfinity", R"({"v":1,"loss":-Infinity})", "\"loss\" is not a finite number"},
  RejectCase{"LowerCaseNan", R"({"v":1,"loss":nan,"x":1})", "\"loss\" is not a finite number"},
  RejectCase{"OverflowingNumber", R"({"v":1,"step":1e400})", "\"step\" is not a finite number"},
  RejectCase{"TextMetric", R"({"v":1,"loss":"low"})", "\"loss\" is a string, not a number"},
  RejectCase{"BooleanMetric", R"({"v":1,"loss":true})", "\"loss\" is true or false, not a number"},
  RejectCase{"NullMetric", R"({"v":1,"loss":null})", "\"loss\" is null, not a number"},
  RejectCase{"ListMetric", R"({"v":1,"loss":[1]})", "\"loss\" is a list, not a number"},
  RejectCase{"LongName", "{\"v\":1,\"" + std::string(200, 'x') + "\":1}", "a metric name has 200 bytes"},
  RejectCase{"EmptyName", R"({"v":1,"":1})", "a metric name has 0 bytes"},
  RejectCase{"NumberAsPhase", R"({"v":1,"phase":3})", "\"phase\" is"},
  RejectCase{"NoPhase", R"({"v":1,"phase":null})", "\"phase\" is null, not a name"},
  RejectCase{"EmptyPhase", R"({"v":1,"phase":""})", "the name of the phase has 0 bytes"},
  RejectCase{"LongPhase", "{\"v\":1,\"phase\":\"" + std::string(200, 'x') + "\"}", "the name of the phase has 200 bytes"},
  RejectCase{"NegativePhase", R"({"v":1,"phase":"evaluation","seconds":-1})", "took -1 seconds"},
  RejectCase{"EndlessPhase", R"({"v":1,"seconds":1e12,"phase":"evaluation"})", "took 1000000000000 seconds"},
  RejectCase{"PhaseTookText", R"({"v":1,"phase":"evaluation","seconds":"2"})", "\"seconds\" is a string, not a number"}),
  [](const auto& tested) { return tested.param.name; });
// clang-format on

TEST(ReportReader, UsesMetricsOfTheFirstRank) {
  auto reader = ReportReader::create({}).value();
  const auto first = reader.read_line(
      R"([steptune] {"v":1,"global_rank":0,"step":3,"samples":24,"loss":0.5})", 1.0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->global_rank, 0);
  ASSERT_TRUE(reader.read_line(R"([steptune] {"v":1,"phase":"evaluation","global_rank":0})", 1.5));
  const auto second = reader.read_line(
      R"([steptune] {"v":1,"global_rank":1,"step":2,"samples":16,"loss":9,"parts":{"data":1.5}})",
      2.0);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->global_rank, 1);
  EXPECT_EQ(second->step, 2.0);
  EXPECT_EQ(second->parts.at("data"), 1.5);
  EXPECT_TRUE(second->metrics.empty());
  // The first rank still evaluates, and its loss is the trial's.
  EXPECT_TRUE(reader.phase_under_way());
  EXPECT_EQ(reader.read_line(R"([steptune] {"v":1,"step":4})", 3.0)->metrics.at("loss"), 0.5);
  for (const char* rank : {"-1", "0.5", "1e9", "\"a\""}) {
    ReportReader fresh = reader_of();
    EXPECT_FALSE(fresh.read_line(
        fmt::format(R"([steptune] {{"v":1,"step":9,"global_rank":{}}})", rank), 4.0));
    ASSERT_TRUE(fresh.first_rejection());
    EXPECT_THAT(*fresh.first_rejection(), HasSubstr("\"global_rank\" is "));
  }
}

TEST(ReportReader, ReadsEveryFieldOfASteptuneLine) {
  ReportReader reader = reader_of();
  const auto report = reader.read_line(
      R"([steptune] {"v":1,"step":20,"samples":1280,"clock":12.5,"loss":0.31,"parts":{"data":2.0,"compute":9.5}})",
      100.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, 20.0);
  EXPECT_EQ(report->samples, 1280.0);
  EXPECT_EQ(report->clock_s, 12.5);
  EXPECT_EQ(report->received_s, 100.0);
  EXPECT_EQ(report->metrics, (std::map<std::string, double>{{"loss", 0.31}}));
  EXPECT_EQ(report->parts, (std::map<std::string, double>{{"compute", 9.5}, {"data", 2.0}}));
}

TEST(ReportReader, ReadsStartsAndDurationsOfPhases) {
  ReportReader reader = reader_of();
  auto report = reader.read_line(R"([steptune] {"v":1,"phase":"evaluation","clock":12.5})", 100.0);
  ASSERT_TRUE(report && report->phase);
  EXPECT_EQ(*report->phase, (PhaseReport{"evaluation", std::nullopt}));
  EXPECT_EQ(report->clock_s, 12.5);
  report = reader.read_line(R"([steptune] {"v":1,"seconds":2.03,"phase":"evaluation"})", 103.0);
  ASSERT_TRUE(report && report->phase);
  EXPECT_EQ(*report->phase, (PhaseReport{"evaluation", 2.03}));
  EXPECT_TRUE(report->metrics.empty()) << "the seconds are the phase's";
  report = reader.read_line(R"([steptune] {"v":1,"step":3,"seconds":2.03})", 104.0);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->phase) << "a phase is reported once";
  EXPECT_EQ(report->metrics.at("seconds"), 2.03) << "without a phase they are a metric";
}

TEST(ReportReader, KnowsWhetherAPhaseIsUnderWay) {
  ReportReader reader = reader_of();
  EXPECT_FALSE(reader.phase_under_way());
  (void)reader.read_line(R"([steptune] {"v":1,"phase":"evaluation"})", 1.0);
  (void)reader.read_line("anything else", 1.0);
  (void)reader.read_line(R"([steptune] {"v":1,"accuracy":0.5})", 1.0);
  EXPECT_TRUE(reader.phase_under_way());
  (void)reader.read_line(R"([steptune] {"v":1,"phase":"evaluation","seconds":2})", 3.0);
  EXPECT_FALSE(reader.phase_under_way());
  (void)reader.read_line(R"([steptune] {"v":1,"phase":"evaluation"})", 4.0);
  (void)reader.read_line(R"([steptune] {"v":1,"step":7})", 5.0);
  EXPECT_FALSE(reader.phase_under_way()) << "training continues although no end was reported";
}

TEST(ReportReader, AllowsTextBeforeTheMark) {
  ReportReader reader = reader_of();
  const auto report =
      reader.read_line("2024-05-01T12:00:00 [rank0]: [steptune] {\"v\":1,\"step\":3}  ", 1.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, 3.0);
}

TEST(ReportReader, RefusesALineOf16KiB) {
  ReportReader reader = reader_of();
  const std::string line = "[steptune] {\"v\":1,\"step\":3" + std::string(20000, ' ') + "}";
  EXPECT_FALSE(reader.read_line(line, 1.0));
  EXPECT_EQ(reader.rejected_lines(), 1U);
}

TEST(ReportReader, MetricsOfSeparateLinesAccumulate) {
  ReportReader reader = reader_of();
  ASSERT_TRUE(reader.read_line(R"([steptune] {"v":1,"loss":2.5})", 1.0));
  const auto report = reader.read_line(R"([steptune] {"v":1,"step":4,"lr":0.1})", 2.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->metrics, (std::map<std::string, double>{{"loss", 2.5}, {"lr", 0.1}}));
  EXPECT_EQ(report->repeated, std::set<std::string>{"loss"});
  const auto metric_only = reader.read_line(R"([steptune] {"v":1,"loss":2.0})", 3.0);
  ASSERT_TRUE(metric_only);
  EXPECT_FALSE(metric_only->step) << "an old counter must not be reported again with a new time";
}

TEST(ReportReader, ADivergedLossReplacesTheFiniteOneAndBack) {
  ReportReader reader = reader_of();
  ASSERT_TRUE(reader.read_line(R"([steptune] {"v":1,"loss":2.5})", 1.0));
  auto report = reader.read_line(R"([steptune] {"v":1,"step":4,"not_finite":["loss"]})", 2.0);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->metrics.empty());
  EXPECT_EQ(report->not_finite, std::set<std::string>{"loss"});
  report = reader.read_line(R"([steptune] {"v":1,"step":5,"loss":3})", 3.0);
  EXPECT_TRUE(report->not_finite.empty());
  EXPECT_EQ(report->metrics.at("loss"), 3.0);
}

TEST(ReportReader, NumberOfMetricsIsBounded) {
  ReportReader reader = reader_of(preset("key=value"));
  std::optional<Report> report;
  for (int i = 0; i < 1000; ++i)
    report = reader.read_line(fmt::format("step={} m{}=1", i, i), i);
  EXPECT_EQ(report->metrics.size(), k_max_metrics);
  ASSERT_TRUE(reader.first_rejection());
  EXPECT_THAT(*reader.first_rejection(), HasSubstr("more than 64 metrics"));
}

TEST(ReportReader, ReportsUncountedEndsOfEpochs) {
  ReportReader reader = reader_of(preset("key=value"));
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (const int step : {0, 50})
      ASSERT_TRUE(reader.read_line(fmt::format("epoch={} step={}", epoch, step), 2.0 * epoch));
  }
  EXPECT_EQ(reader.rejected_lines(), 0U);
  EXPECT_THAT(reader.rejections(),
              AllOf(HasSubstr("\"step\" restarts"), HasSubstr("up to 49 %"), HasSubstr("12/100")));
  ASSERT_TRUE(reader.read_line(R"([steptune] {"v":1,"step":300})", 9.0));
  EXPECT_EQ(reader.rejections(), "") << "the program reports its own count";
}

TEST(ReportReader, StepsBecomeSamples) {
  ReportFormat format = preset("tqdm");
  format.samples_per_step = 32;
  ReportReader reader = reader_of(format);
  const auto report = reader.read_line(" 12%|█▏  | 12/100 [00:03<00:20,  4.10it/s]", 1.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->samples, 384.0);
}

TEST(ReportReader, RateInEitherUnitIsAMetric) {
  ReportReader reader = reader_of(preset("tqdm"));
  const auto fast = reader.read_line("12/100 [00:03<00:20,  4.00it/s]", 1.0);
  EXPECT_EQ(fast->metrics.at("steps_per_second"), 4.0);
  const auto slow = reader.read_line("13/100 [00:03<00:20,  4.00s/it]", 1.0);
  EXPECT_EQ(slow->metrics.at("steps_per_second"), 0.25);
}

TEST(ReportReader, TqdmEpochsAddUp) {
  ReportReader reader = reader_of(preset("tqdm"));
  std::vector<double> steps;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const int step : {0, 4, 9, 10}) {
      const auto report = reader.read_line(
          fmt::format("Epoch {}: {}%|##| {}/10 [00:03<00:20,  4.10it/s]", epoch, step * 10, step),
          1.0);
      ASSERT_TRUE(report && report->step);
      steps.push_back(*report->step);
    }
  }
  EXPECT_EQ(steps, (std::vector<double>{0, 4, 9, 10, 10, 14, 19, 20, 20, 24, 29, 30}));
}

TEST(ReportReader, NumbersInADescriptionKeepOneBar) {
  ReportReader reader = reader_of(preset("tqdm"));
  const auto step_of = [&](const char* line) { return reader.read_line(line, 1.0)->step; };
  EXPECT_EQ(step_of("   1/3   2.34G    1.2     36   640: 90%|##| 90/100 [00:03<00:20, 4.1it/s]"),
            90.0);
  EXPECT_EQ(step_of("   2/3   2.34G    0.9      9   640: 10%|##| 10/100 [00:03<00:20, 4.1it/s]"),
            110.0);
}

TEST(ReportReader, AnInnerBarOutrunsTheOuterOne) {
  ReportReader reader = reader_of(preset("tqdm"));
  std::optional<double> last;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 0; step <= 10; ++step) {
      if (const auto inner = reader.read_line(
              fmt::format("batches: 1%|##| {}/10 [00:03<00:20,  4.10it/s]", step), 1.0)) {
        if (inner->step) last = inner->step;
      }
    }
    const auto outer = reader.read_line(
        fmt::format("epochs: 1%|##| {}/3 [00:03<00:20,  4.10s/it]", epoch + 1), 1.0);
    EXPECT_TRUE(!outer || !outer->step);
  }
  EXPECT_EQ(last, 30.0);
}

/// Returns the last step read while a bar goes from 1 to `done` of `total`, with a line every
/// `every_s`.
std::optional<double> drawn(ReportReader& reader, int done, int total, double from_s,
                            double every_s, const std::string& postfix = "") {
  std::optional<double> step;
  for (int i = 1; i <= done; ++i) {
    const auto report = reader.read_line(
        fmt::format("  1%|#  | {}/{} [00:03<00:20,  4.10it/s{}]", i, total, postfix),
        from_s + every_s * i);
    if (report && report->step) step = report->step;
  }
  return step;
}

TEST(ReportReader, ABarThatPreparesDataIsNotTheTrainings) {
  ReportReader shows_loss = reader_of(preset("tqdm"));
  drawn(shows_loss, 1500, 1500, 0.0, 0.004);
  EXPECT_EQ(drawn(shows_loss, 2, 100, 6.0, 0.05, ", loss=0.3"), 2.0);
  for (const char* name : {"tqdm", "hf-trainer"}) {
    ReportReader takes_longer = reader_of(preset(name));
    EXPECT_EQ(drawn(takes_longer, 1500, 1500, 0.0, 0.004), 1500.0) << name;
    EXPECT_EQ(drawn(takes_longer, 80, 200, 6.0, 0.1), 80.0) << name;
    ReportReader is_short = reader_of(preset(name));
    drawn(is_short, 1500, 1500, 0.0, 0.004);
    EXPECT_EQ(drawn(is_short, 50, 50, 6.0, 0.1), std::nullopt) << name << ": as an evaluation";
  }
}

TEST(ReportReader, ALongEvaluationGivesTheLeadBackForGood) {
  ReportReader reader = reader_of(preset("tqdm"));
  double time_s = 0.0;
  for (int epoch = 1; epoch <= 4; ++epoch) {
    EXPECT_EQ(drawn(reader, 100, 100, time_s, 0.1), 100.0 * epoch);
    const auto evaluation = drawn(reader, 150, 150, time_s + 10.0, 0.1);
    EXPECT_TRUE(epoch == 1 || !evaluation) << epoch;
    time_s += 25.0;
  }
}

TEST(ReportReader, AnEvaluationThatTakesLongerThanTheTrainingIsNone) {
  for (const char* name : {"tqdm", "hf-trainer"}) {
    ReportReader reader = reader_of(preset(name));
    drawn(reader, 100, 100, 0.0, 0.1);
    EXPECT_EQ(drawn(reader, 50, 50, 10.0, 1.0), std::nullopt) << name;
  }
}

TEST(ReportReader, ATrainingThatShowsItsLossIsNoEvaluation) {
  ReportReader reader = reader_of(preset("tqdm"));
  drawn(reader, 100, 100, 0.0, 0.1, ", loss=0.3");
  EXPECT_EQ(drawn(reader, 99, 500, 10.0, 1.0), std::nullopt);
  ReportReader trainer = reader_of(preset("hf-trainer"));
  drawn(trainer, 100, 100, 0.0, 0.1);
  (void)trainer.read_line("{'train_runtime': 10.0, 'train_loss': 0.5, 'epoch': 1.0}", 10.0);
  EXPECT_EQ(drawn(trainer, 99, 500, 10.0, 1.0), std::nullopt);
}

TEST(ReportReader, KerasEpochsAddUpWithoutTheEvaluation) {
  ReportReader reader = reader_of(preset("keras"));
  (void)reader.read_line("Epoch 1/2", 0.0);
  EXPECT_EQ(reader.read_line("100/100 - 3s - loss: 0.3", 1.0)->step, 100.0);
  const auto evaluation = reader.read_line("20/20 - 1s - loss: 0.4", 1.0);
  EXPECT_FALSE(evaluation->step);
  (void)reader.read_line("Epoch 2/2", 1.0);
  EXPECT_EQ(reader.read_line("100/100 - 3s - loss: 0.2", 2.0)->step, 200.0);
}

TEST(ReportReader, HfTrainerReadsSamplesFromItsHeader) {
  ReportReader reader = reader_of(preset("hf-trainer"));
  EXPECT_FALSE(reader.read_line("  Num examples = 10,000", 0.0));
  EXPECT_FALSE(reader.read_line(
      "  Total train batch size (w. parallel, distributed & accumulation) = 32", 0.0));
  const auto report = reader.read_line(" 10%|█  | 50/500 [00:10<01:30,  4.98it/s]", 1.0);
  EXPECT_EQ(report->samples, 1600.0);
  // The evaluation has its own bar.
  const auto evaluation = reader.read_line(" 10%|█  | 5/13 [00:10<01:30,  4.98it/s]", 2.0);
  ASSERT_TRUE(evaluation);
  EXPECT_FALSE(evaluation->step || evaluation->samples);
  EXPECT_TRUE(evaluation->phase);
}

TEST(ReportReader, HfTrainerWithoutABarCountsSharesOfAnEpoch) {
  ReportReader reader = reader_of(preset("hf-trainer"));
  (void)reader.read_line("  Num examples = 10,000", 0.0);
  EXPECT_EQ(reader.read_line("{'loss': 0.69, 'epoch': 0.25}", 1.0)->samples, 2500.0);
  EXPECT_FALSE(reader.read_line("{'eval_loss': 0.69, 'epoch': 0.25}", 1.0)->samples);
}

TEST(ReportReader, LightningEpochsAddUp) {
  ReportReader reader = reader_of(preset("lightning"));
  EXPECT_EQ(reader.read_line("Epoch 0: 99%|##| 99/100 [00:03<00:20, 4.10it/s]", 1.0)->step, 99.0);
  EXPECT_EQ(reader.read_line("Epoch 1: 20%|##| 20/100 [00:03<00:20, 4.10it/s]", 1.0)->step, 120.0);
}

TEST(ReportReader, KeyValueCountersRestartWithTheEpoch) {
  ReportReader reader = reader_of(preset("key=value"));
  EXPECT_EQ(reader.read_line("epoch=1 step=300/400 loss=1", 1.0)->step, 300.0);
  EXPECT_EQ(reader.read_line("epoch=1 step=400/400 loss=1", 1.0)->step, 400.0);
  EXPECT_EQ(reader.read_line("epoch=2 step=100/400 loss=1", 1.0)->step, 500.0);
}

TEST(ReportReader, AnExpressionForTheEpochMayFollowThatOfTheStep) {
  ReportFormat format;
  format.metrics = {{"step", "step (\\d+)"}, {"epoch", "epoch (\\d+)"}};
  ReportReader reader = reader_of(format);
  EXPECT_EQ(reader.read_line("epoch 1 step 50", 1.0)->step, 50.0);
  EXPECT_EQ(reader.read_line("epoch 1 step 100", 2.0)->step, 100.0);
  EXPECT_EQ(reader.read_line("epoch 2 step 60", 3.0)->step, 160.0);
  EXPECT_EQ(reader.read_line("epoch 2 step 100", 4.0)->step, 200.0);
}

TEST(ReportReader, TheSizeOfTheDataIsNoProgress) {
  ReportFormat format = preset("key=value");
  format.samples_per_step = 64;
  ReportReader reader = reader_of(format);
  const auto header = reader.read_line("Train samples: 60000, val samples: 10000", 0.5);
  EXPECT_FALSE(header && header->samples);
  EXPECT_EQ(reader.read_line("Epoch [1/5], Step [100/938], Loss: 0.12", 1.0)->samples, 6400.0);
}

TEST(ReportReader, APossibleDataSizeCountsOnceItGrows) {
  ReportReader reader = reader_of(preset("key=value"));
  (void)reader.read_line("num_samples: 60000", 0.5);
  (void)reader.read_line("num_samples: 64, loss: 2.31", 1.0);
  EXPECT_EQ(reader.read_line("num_samples: 128, loss: 2.31", 2.0)->samples, 128.0);
  (void)reader.read_line("{'batch': 64, 'lr': 0.1}", 0.5);
  EXPECT_EQ(reader.read_line("iter=1 batch=64 loss=0.5", 1.0)->step, 1.0);
  EXPECT_EQ(reader.read_line("iter=2 batch=64 loss=0.5", 2.0)->step, 2.0);
  ReportReader epochs = reader_of(preset("key=value"));
  (void)epochs.read_line("epoch 1, images: 50000, loss: 0.9", 1.0);
  EXPECT_EQ(epochs.read_line("epoch 2, images: 50000, loss: 0.8", 2.0)->samples, 50000.0);
  EXPECT_EQ(epochs.read_line("epoch 3, images: 50000, loss: 0.7", 3.0)->samples, 100000.0);
}

TEST(ReportReader, OtherNumbersOfEpochsAreIgnored) {
  ReportReader reader = reader_of(preset("key=value"));
  const auto step_of = [&](const char* line) { return reader.read_line(line, 1.0)->step; };
  EXPECT_EQ(step_of("train/epoch: 1 step: 390/391 best_epoch: 0 steps_per_epoch: 391"), 390.0);
  EXPECT_EQ(step_of("train/epoch: 2 step: 10/391 best_epoch: 0 steps_per_epoch: 391"), 401.0);
}

TEST(ReportReader, AGlobalStepIsNotAddedUpOverEpochs) {
  ReportReader reader = reader_of(preset("key=value"));
  EXPECT_EQ(reader.read_line("epoch=1 step=300/1000 loss=1", 1.0)->step, 300.0);
  EXPECT_EQ(reader.read_line("epoch=2 step=600/1000 loss=1", 1.0)->step, 600.0);
}

TEST(ReportReader, RanksThatPrintInTurnAreNoRestart) {
  ReportReader reader = reader_of(preset("key=value"));
  EXPECT_EQ(reader.read_line("step=100", 1.0)->step, 100.0);
  EXPECT_EQ(reader.read_line("step=99", 1.0)->step, 100.0);
  EXPECT_EQ(reader.read_line("step=101", 1.0)->step, 101.0);
}

TEST(ReportReader, CountersComeFromTheProtocolOnceItIsSpoken) {
  ReportReader reader = reader_of(preset("key=value"));
  ASSERT_TRUE(reader.read_line(R"([steptune] {"v":1,"step":4})", 2.0));
  const auto report = reader.read_line("step=900 loss=0.5", 3.0);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->step);
  EXPECT_EQ(report->metrics.at("loss"), 0.5);
}

TEST(MetricRegexes, ReadCountersAndMetricsAsSageMakerDoes) {
  ReportFormat format;
  format.metrics = {{"step", R"(batch (\d+) of)"},
                    {"samples", R"(seen ([0-9,]+) images)"},
                    {"clock", R"(t=([0-9.]+))"},
                    {"val:loss", R"(Loss = ([0-9\.]+|nan);)"}};
  ReportReader reader = reader_of(format);
  const auto report =
      reader.read_line("batch 7 of 9, seen 1,792 images, t=3.25, Loss = 0.125; done", 1.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, 7.0);
  EXPECT_EQ(report->samples, 1792.0);
  EXPECT_EQ(report->clock_s, 3.25);
  EXPECT_EQ(report->metrics, (std::map<std::string, double>{{"val:loss", 0.125}}));
  EXPECT_EQ(reader.read_line("Loss = nan;", 2.0)->not_finite, std::set<std::string>{"val:loss"});
}

TEST(MetricRegexes, TakeCommasBetweenThousandsAndNoOthers) {
  ReportFormat format;
  format.metrics = {{"samples", R"(seen (\S+))"}, {"loss", R"(loss (\S+))"}};
  ReportReader reader = reader_of(format);
  const auto loss = [&](const std::string& text) -> std::optional<double> {
    const auto report = reader_of(format).read_line("loss " + text, 1.0);
    return report ? std::optional(report->metrics.at("loss")) : std::nullopt;
  };
  EXPECT_EQ(reader.read_line("seen 1,234,567, loss 0.5", 1.0)->samples, 1'234'567.0);
  EXPECT_EQ(loss("-1,234.5,"), -1234.5);
  EXPECT_EQ(loss("0.5,"), 0.5);
  for (const char* decimals : {"0,25", "0,125", "12,5", "1234,567", "1,23,456", ",", ",5"})
    EXPECT_FALSE(loss(decimals)) << decimals;
}

TEST(MetricRegexes, SeeTabsButNoColours) {
  ReportFormat format;
  format.metrics = {{"step", "^\\[(\\d+)\\]\tloss"}};
  ReportReader reader = reader_of(format);
  const auto report = reader.read_line("\x1b]0;title\a\x1b[1m[12]\x1b[0m\tloss\x1b[", 1.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, 12.0);
}

TEST(MetricRegexes, FaultyExpressionsAreRefusedByName) {
  for (const std::string regex : {"loss: ([0-9", "loss: [0-9]+", R"((?=a)(b))", R"((a)\1)"}) {
    ReportFormat format;
    format.metrics = {{"loss", regex}};
    const auto reader = ReportReader::create(format);
    ASSERT_FALSE(reader) << regex;
    EXPECT_EQ(reader.error().kind, ErrorKind::usage);
    EXPECT_NE(reader.error().message.find("\"loss\""), std::string::npos);
  }
}

TEST(MetricRegexes, NoExpressionStallsOnALongLine) {
  ReportFormat format;
  format.metrics = {{"loss", R"((a+)+(b|c)+(x*)*$)"}};
  ReportReader reader = reader_of(format);
  EXPECT_FALSE(reader.read_line(std::string(1 << 20, 'a'), 1.0));
}

TEST(ReportReader, UnknownPresetNamesTheNearest) {
  const auto reader = ReportReader::create(preset("lightnin"));
  ASSERT_FALSE(reader);
  EXPECT_NE(reader.error().message.find("did you mean \"lightning\""), std::string::npos);
}

/// Returns pieces that are hard to parse, joined randomly with random bytes.
std::string hostile_line(Rng& rng) {
  const std::vector<std::string> pieces{"[steptune] ",
                                        "{\"v\":1,",
                                        "\"step\":",
                                        "1e999",
                                        "NaN",
                                        "-",
                                        "12/100",
                                        " [00:03<00:20, ",
                                        "4.10it/s",
                                        "loss=",
                                        "]",
                                        "}",
                                        "\r",
                                        "\x1b[",
                                        "|",
                                        "%",
                                        "{'loss': ",
                                        "Epoch 3",
                                        "\xff\xfe",
                                        std::string(1, '\0'),
                                        "━━",
                                        "inf",
                                        "=",
                                        ":",
                                        "999999999999999999999999",
                                        " - ",
                                        "\"parts\":{"};
  std::string line;
  for (std::uint64_t i = rng.below(40); i > 0; --i) {
    if (rng.below(4) == 0) {
      line += static_cast<char>(rng.below(256));
    } else {
      line += pieces[rng.below(pieces.size())];
    }
  }
  return line;
}

TEST(ReportReader, RandomLinesNeverYieldAnythingButFiniteNumbers) {
  Rng rng(20260101, "hostile lines");
  for (const std::string name : {"tqdm", "keras", "hf-trainer", "lightning", "key=value"}) {
    ReportReader reader = reader_of(preset(name));
    for (int i = 0; i < 4000; ++i) {
      const auto report = reader.read_line(hostile_line(rng), i);
      if (!report) continue;
      for (const auto& counter : {report->step, report->samples, report->clock_s}) {
        ASSERT_TRUE(!counter || (std::isfinite(*counter) && *counter >= 0.0));
      }
      for (const auto& [metric, value] : report->metrics)
        ASSERT_TRUE(std::isfinite(value)) << metric;
      ASSERT_LE(report->metrics.size() + report->not_finite.size(), k_max_metrics);
    }
  }
}

}  // namespace
}  // namespace steptune
