// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/repeated_line.hpp"

#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "trial_runner/output/lines.hpp"
#include "trial_runner/reports/report_reader.hpp"

namespace steptune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Returns the printed lines of one round, from 1 on.
using Printed = std::function<std::string(int)>;

std::string output_of(const Printed& printed, int rounds) {
  std::string output;
  for (int i = 1; i <= rounds; ++i)
    output += printed(i) + "\n";
  return output;
}

std::vector<std::string> names_of(const RepeatedLine& line) {
  std::vector<std::string> names;
  for (const MetricDefinition& metric : line.metrics)
    names.push_back(metric.name);
  return names;
}

/// Returns the latest values that the proposed expressions read from this output.
Report last_report(const RepeatedLine& line, const std::string& output) {
  auto reader =
      ReportReader::create({.preset = {}, .metrics = line.metrics, .samples_per_step = {}});
  EXPECT_TRUE(reader) << reader.error().text();
  Report last;
  LineSplitter splitter;
  splitter.feed(output, [&](std::string_view text) {
    const auto report = reader->read_line(text, 0.0);
    if (!report) return;
    last.step = report->step ? report->step : last.step;
    last.samples = report->samples ? report->samples : last.samples;
    last.metrics = report->metrics;
  });
  return last;
}

struct Format {
  const char* name;
  Printed printed;
  double step;     ///< step after the last of 12 rounds; 0: samples instead
  double samples;  ///< samples after the last of 12 rounds; 0: none
  double loss;     ///< 0: none
};

double loss_at(int i) {
  return 5.0 - 0.125 * i;
}

const std::vector<Format>& formats() {
  static const std::vector<Format> k_formats{
      {"PaddleSpeech",
       [](int i) {
         return fmt::format("steps: {} loss: {:.4f} iter time (s): 0.35{} samples/sec: 90.{}",
                            10 * i, loss_at(i), i % 7, i % 3);
       },
       120, 0, 3.5},
      {"Ray",
       [](int i) { return fmt::format("Training Iteration: {} reward {}", 10 * i, 7 - i % 3); },
       120, 0, 0},
      {"MMCV",
       [](int i) {
         return fmt::format(
             "Iter [{}/160000]\tlr: 1.000e-03, eta: 1 day, 3:{:02}:00, time: 0.35{}, data_time: "
             "0.010, memory: 1200, loss: {:.4f}",
             50 * i, 59 - i, i % 5, loss_at(i));
       },
       600, 0, 3.5},
      {"DETR",
       [](int i) {
         return fmt::format(
             "Epoch: [0/100]  [{:>4}/2502]  eta: 0:{:02}:10  loss: {:.4f} ({:.4f})  "
             "time: 0.35{}  data: 0.01",
             20 * i, 59 - i, loss_at(i), loss_at(i) + 0.1, i % 4);
       },
       240, 0, 3.5},
      {"MiniMind",
       [](int i) {
         return fmt::format("Epoch:[1/2]({}/39695), loss: {:.3f}", 100 * i, loss_at(i));
       },
       1200, 0, 3.5},
      {"dinov2",
       [](int i) {
         return fmt::format(
             "Training  [{:>6}/125000]  eta: 9:00:0{}  total_loss: {:.4f} time: 0.3{}", 10 * i,
             i % 10, loss_at(i), i % 10);
       },
       120, 0, 3.5},
      {"pix2pix",
       [](int i) {
         return fmt::format("Epoch 31/300 {}/1000 loss: {:.4f} time 0.3{}s", 20 * i, loss_at(i),
                            i % 10);
       },
       240, 0, 3.5},
      {"fairseq",
       [](int i) {
         return fmt::format("| epoch 010:  {:>4} / 8223 loss={:.3f}, wps=90{}", 100 * i, loss_at(i),
                            i % 10);
       },
       1200, 0, 3.5},
      {"ESPnet",
       [](int i) {
         return fmt::format(
             "1epoch:train:{}-{}batch: iter_time=0.01, forward_time=0.2{}, loss={:.3f}",
             20 * i - 19, 20 * i, i % 10, loss_at(i));
       },
       240, 0, 3.5},
      {"a counter without a name",
       [](int i) { return fmt::format("{} | loss {:.3f} | lr 1e-3", i, loss_at(i)); }, 12, 0, 3.5},
      {"Marian",
       [](int i) {
         return fmt::format(
             "[2026-11-28 05:12:{:02}] Ep. 1 : Up. {} : Sen. {},345 : Cost {:.5f} : "
             "Time {}.35s : 43{}1.22 words/s",
             3 * i, 500 * i, 12 * i, loss_at(i), 2 * i, i % 7);
       },
       6000, 144345, 3.5},
      {"Stable-Baselines3",
       [](int i) {
         return fmt::format(
             "-----------------------------------------\n"
             "| time/                   |             |\n"
             "|    fps                  | 12{}         |\n"
             "|    time_elapsed         | {:<12}|\n"
             "|    total_timesteps      | {:<12}|\n"
             "| train/                  |             |\n"
             "|    loss                 | {:<12.3f}|\n"
             "-----------------------------------------",
             i * 7 % 10, 16 * i, 2048 * i, loss_at(i));
       },
       0, 24576, 3.5},
      {"OpenNMT",
       [](int i) {
         return fmt::format("Epoch  1, {}/37527; acc: {}.1; ppl: 30.2; 90{}1 tok/s", 50 * i, 40 + i,
                            i % 5);
       },
       600, 0, 0},
      {"fastText",
       [](int i) {
         return fmt::format(
             "Progress:  {:.1f}% words/sec/thread:  15582{} lr: 0.04 loss: {:.4f} ETA: 0h 0m {}s",
             0.5 * i, i % 10, loss_at(i), 60 - i);
       },
       0, 6, 3.5},
      {"epochs alone",
       [](int i) { return fmt::format("Epoch {}/500 loss: {:.4f}", i, loss_at(i)); }, 0, 12, 3.5},
      {"a table without words",
       [](int i) {
         return fmt::format("  0  {:>6}         45.{}0     {:.2f}    0.0{}", 200 * i, i % 10,
                            loss_at(i), i % 10);
       },
       2400, 0, 0},
      {"thousands with a comma",
       [](int i) {
         return fmt::format("at {}: {:.3f}",
                            i < 3 ? fmt::format("{}", 490 * i)
                                  : fmt::format("{},{:03}", 490 * i / 1000, 490 * i % 1000),
                            loss_at(i));
       },
       5880, 0, 0},
      {"a bar that is not tqdm's",
       [](int i) {
         return fmt::format("train 0 [{}>{}] {}/200 elapsed {}s loss {:.3f}",
                            std::string(static_cast<std::size_t>(i), '='),
                            std::string(static_cast<std::size_t>(20 - i), '.'), 10 * i, 2 * i,
                            loss_at(i));
       },
       120, 0, 3.5},
  };
  return k_formats;
}

TEST(RepeatedLine, ItsExpressionsReadTheFormatsOfManyTrainers) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const std::string output = "loading\nmodel has 12 layers\n" + output_of(format.printed, 12);
    const auto line = repeated_line(output);
    if (!line) {
      ADD_FAILURE() << "no line repeats";
      continue;
    }
    SCOPED_TRACE(reports_text(*line));
    const Report last = last_report(*line, output);
    EXPECT_EQ(last.step.value_or(0.0), format.step);
    EXPECT_EQ(last.samples.value_or(0.0), format.samples);
    const auto loss = last.metrics.find("loss");
    EXPECT_EQ(loss == last.metrics.end() ? 0.0 : loss->second, format.loss);
    EXPECT_EQ(line->has_loss, format.loss > 0.0);
    EXPECT_GE(line->count, 10U);
    for (const MetricDefinition& metric : line->metrics)
      EXPECT_LT(metric.regex.size(), 400U) << "as a comment in a study file";
  }
}

TEST(RepeatedLine, TooLongExpressionsAreNotProposed) {
  const auto metrics_with = [](int columns) {
    const auto line = repeated_line(output_of(
        [&](int i) {
          std::string row = fmt::format("{}", i);
          for (int column = 0; column < columns; ++column)
            row += " 7";
          return row;
        },
        12));
    return line ? line->metrics : std::vector<MetricDefinition>{};
  };
  EXPECT_THAT(metrics_with(20), SizeIs(1));
  EXPECT_THAT(metrics_with(200), IsEmpty()) << "no word tells these lines from others";
}

TEST(RepeatedLine, AShortenedExpressionThatReadsAnotherNumberIsNotProposed) {
  const auto line = repeated_line(output_of(
      [](int i) {
        std::string row = "values";
        for (int column = 0; column < 90; ++column)
          row += " 0.5";
        return fmt::format("{} {}", row, 10 * i);
      },
      12));
  ASSERT_TRUE(line);
  EXPECT_THAT(line->metrics, IsEmpty());
}

TEST(RepeatedLine, IsShownAsItWasPrintedLast) {
  const auto line = repeated_line(output_of(
      [](int i) { return fmt::format("\x1b[32mUp. {}\x1b[0m\tCost {}.5", 10 * i, 9 - i); }, 4));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->line, "Up. 40\tCost 5.5");
  EXPECT_EQ(line->count, 4U);
  EXPECT_THAT(
      line->metrics,
      ElementsAre(
          AllOf(Field(&MetricDefinition::name, "step"),
                Field(&MetricDefinition::regex, R"(^\s*Up\.\s*(\d+))")),
          AllOf(
              Field(&MetricDefinition::name, "loss"),
              Field(
                  &MetricDefinition::regex,
                  R"(^\s*Up\.\s*\S+\s+Cost\s+([-+]?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|(?i:nan|inf(?:inity)?))))"))));
}

TEST(RepeatedLine, ItsExpressionReadsALossThatIsNotFinite) {
  const auto line = repeated_line(
      output_of([](int i) { return fmt::format("Up. {}: Cost {}.5 so far", 10 * i, 9 - i); }, 4));
  ASSERT_TRUE(line);
  auto reader =
      ReportReader::create({.preset = {}, .metrics = line->metrics, .samples_per_step = {}});
  ASSERT_TRUE(reader) << reader.error().text();
  for (const char* loss : {"nan", "-inf", "NaN", "Infinity"}) {
    const auto report = reader->read_line(fmt::format("Up. 50: Cost {} so far", loss), 0.0);
    ASSERT_TRUE(report) << loss;
    EXPECT_TRUE(report->not_finite.contains("loss")) << loss;
  }
  const auto report = reader->read_line("Up. 60: Cost 2.5e-3 so far", 0.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->metrics.at("loss"), 2.5e-3);
}

TEST(RepeatedLine, ReportsArePrintedReadyToPaste) {
  const auto line = repeated_line(output_of([](int i) { return fmt::format("Up. {}", i); }, 3));
  ASSERT_TRUE(line);
  EXPECT_EQ(reports_text(*line), R"json("reports": {"metrics": [
  {"name":"step","regex":"^\\s*Up\\.\\s*(\\d+)"}
]})json");
  const auto pasted = parse_json("{" + reports_text(*line) + "}", "pasted");
  ASSERT_TRUE(pasted) << pasted.error().text();
  EXPECT_EQ((*pasted)["reports"], reports_for(*line));
}

TEST(RepeatedLine, NumbersThatStayOrFallAreNoCounter) {
  const auto line = repeated_line(output_of(
      [](int i) {
        return fmt::format("rank 3 of 8, eta {}, queue {}, seen", 100 - i,
                           std::vector{5, 9, 2, 7}[static_cast<std::size_t>(i) % 4]);
      },
      12));
  ASSERT_TRUE(line);
  EXPECT_THAT(line->metrics, IsEmpty());
  EXPECT_FALSE(line->has_loss);
  EXPECT_TRUE(reports_for(*line).is_null());
}

TEST(RepeatedLine, TimeThatPassesIsNoCounter) {
  const auto line = repeated_line(output_of(
      [](int i) {
        return fmt::format("05:12:{:02} elapsed {} time: {} used {}s loss {:.2f}", i, i, i, i,
                           loss_at(i));
      },
      12));
  ASSERT_TRUE(line);
  EXPECT_THAT(line->metrics, IsEmpty());
  EXPECT_TRUE(line->has_loss);
}

TEST(RepeatedLine, ACounterWithinEpochsIsReadWithTheEpoch) {
  const Printed printed = [](int i) {
    return fmt::format("Ep 0{} | Bt {} | L 0.5", (i - 1) / 5, 10 * ((i - 1) % 5 + 1));
  };
  const std::string output = output_of(printed, 20);
  const auto line = repeated_line(output);
  ASSERT_TRUE(line);
  EXPECT_THAT(names_of(*line), ElementsAre("step", "epoch"));
  EXPECT_EQ(last_report(*line, output).step, 200.0);
}

TEST(RepeatedLine, LinesOfAnEvaluationAreIgnored) {
  const Printed printed = [](int i) {
    std::string text = fmt::format("Up. {} : Cost {:.3f}", i, loss_at(i));
    for (int k = 1; k <= 4; ++k)
      text += fmt::format("\n[valid] Up. {} loss 9.5", 4 * i + k);
    return text;
  };
  const std::string output = output_of(printed, 12);
  const auto line = repeated_line(output);
  ASSERT_TRUE(line);
  const Report last = last_report(*line, output);
  EXPECT_EQ(last.step, 12.0);
  EXPECT_EQ(last.metrics.at("loss"), 3.5);
}

TEST(RepeatedLine, AnOutputWithoutRepetitionHasNone) {
  EXPECT_FALSE(repeated_line(""));
  EXPECT_FALSE(repeated_line("loading\nloading\nloading\n"));
  EXPECT_FALSE(repeated_line("version 3\nversion 3\nversion 3\n")) << "its number does not change";
  EXPECT_FALSE(repeated_line("loaded 3 files\nbuilt 12 layers\n"));
  EXPECT_FALSE(repeated_line(std::string("\0\xff\x1b[", 4)));
}

TEST(RepeatedLine, TheLatestLinesOfALongOutputCount) {
  const std::string output = std::string(100000, 'x') +
                             output_of([](int i) { return fmt::format("old {}", i); }, 20000) +
                             output_of([](int i) { return fmt::format("Up. {}", i); }, 10000);
  const auto line = repeated_line(output);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->line, "Up. 10000");
}

}  // namespace
}  // namespace steptune
