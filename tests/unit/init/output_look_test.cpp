// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/output_look.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/support/trainer_outputs.hpp"
#include "trial_runner/reports/report_reader.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;

OutputFormat format_with(const std::string& name, std::vector<MetricDefinition> metrics) {
  OutputFormat format{name, Json(name), {}};
  format.format.metrics = std::move(metrics);
  return format;
}

OutputFormat steptune_lines() {
  return {"[steptune] lines", Json(), {}};
}

std::string epoch_lines(int count) {
  std::string output = "loading\n";
  for (int i = 1; i <= count; ++i)
    output += "it " + std::to_string(i) + " seen " + std::to_string(32 * i) + " loss 0.5\n";
  return output;
}

const MetricDefinition k_steps{"step", R"(it (\d+))"};
const MetricDefinition k_samples{"samples", R"(seen (\d+))"};
const MetricDefinition k_loss{"loss", R"(loss ([\d.]+))"};

TEST(OutputLook, ShowsHowAFormatReadsTheLines) {
  const auto reading =
      best_reading({format_with("own", {k_steps, k_samples, k_loss})}, epoch_lines(5));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->format.name, "own");
  EXPECT_EQ(reading->progress, 5U);
  EXPECT_TRUE(reading->reports_samples);
  ASSERT_TRUE(reading->samples_per_step);
  EXPECT_EQ(*reading->samples_per_step, 32.0);
  EXPECT_EQ(reading->metrics.count("loss"), 1U);
}

TEST(OutputLook, CountsTheLinesThatHaveAMetric) {
  const auto reading = best_reading({format_with("own", {k_steps, k_loss})},
                                    "it 1 loss 0.5\nit 2\nit 3\nit 4 loss 0.4\nit 5\n");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->metrics.at("loss"), 2U);
}

TEST(OutputLook, StepsAloneTellNoSamples) {
  const auto reading = best_reading({format_with("own", {k_steps})}, epoch_lines(3));
  ASSERT_TRUE(reading);
  EXPECT_FALSE(reading->reports_samples);
  EXPECT_EQ(reading->samples_per_step, std::nullopt);
}

TEST(OutputLook, RepeatedValuesAreNoProgress) {
  const auto reading =
      best_reading({format_with("own", {k_steps})}, "it 3\nit 3\nit 2\nit 4\nnothing\n");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->progress, 2U);
  EXPECT_FALSE(best_reading({format_with("own", {k_steps})}, "no line tells\n"));
  EXPECT_FALSE(best_reading({format_with("own", {k_steps})},
                            "it 3\nit 3\nit 3\nit 3\nit 3\nit 3\nit 3\nit 3\n"))
      << "the count stands still";
  EXPECT_FALSE(best_reading({format_with("own", {k_loss})}, epoch_lines(3)))
      << "a metric alone is no progress";
  EXPECT_FALSE(best_reading({}, epoch_lines(3)));
}

TEST(OutputLook, MostProgressThenMostMetricsThenTheFirstWins) {
  const OutputFormat few = format_with("few", {{"step", R"(it (\d)$)"}});
  const OutputFormat steps = format_with("steps", {k_steps});
  const OutputFormat all = format_with("all", {k_steps, k_loss});
  const OutputFormat same = format_with("same", {k_steps, k_loss});
  const auto name = [](const std::vector<OutputFormat>& formats) {
    const auto reading = best_reading(formats, epoch_lines(4) + "it 9\n");
    return reading ? reading->format.name : "none";
  };
  EXPECT_EQ(name({few, steps}), "steps");
  EXPECT_EQ(name({steps, all}), "all");
  EXPECT_EQ(name({all, steps}), "all");
  EXPECT_EQ(name({all, same}), "all");
  EXPECT_EQ(name({same, all}), "same");
}

TEST(OutputLook, OwnLinesWinAfterTwoProgressLines) {
  const std::string one = "[steptune] {\"v\":1,\"step\":1,\"samples\":8,\"clock\":1.0}\n";
  const std::string two = one + "[steptune] {\"v\":1,\"step\":2,\"samples\":16,\"clock\":2.0}\n";
  const std::vector<OutputFormat> formats = {format_with("own", {k_steps}), steptune_lines()};
  EXPECT_EQ(best_reading(formats, epoch_lines(9) + two)->format.name, "[steptune] lines");
}

TEST(OutputLook, ASingleBarDoesNotHideTheEpochs) {
  const auto reading = best_reading(output_formats(),
                                    "100% 2039/2039 [00:00<00:00, 3551.50it/s]\n"
                                    "Epoch: 1 loss: 0.5\nEpoch: 2 loss: 0.4\nEpoch: 3 loss: 0.3\n");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->format.name, "preset key=value");
  EXPECT_EQ(reading->unit, CountUnit::epochs);
}

TEST(OutputLook, BarsOfATestAfterTheEpochsAreNotTheTraining) {
  const std::string bar = "100%|##| 598/598 [00:33<00:00, 17.8it/s]\n";
  const std::vector<std::string> epochs{"Epoch 00000 | Loss 1.3\n", "Epoch 00001 | Loss 0.6\n",
                                        "Epoch 00002 | Loss 0.5\n"};
  const std::string all_epochs = epochs[0] + epochs[1] + epochs[2];
  const auto name = [](const std::string& output) {
    return best_reading(output_formats(), output).value().format.name;
  };
  EXPECT_EQ(name(all_epochs + bar + bar), "preset key=value");
  EXPECT_EQ(name(bar + bar + all_epochs), "preset key=value");
  EXPECT_EQ(name(bar + epochs[0] + bar + epochs[1] + bar + epochs[2]), "preset tqdm")
      << "a bar in each epoch";
}

TEST(OutputLook, ALineThatWasBeingWrittenCounts) {
  const auto reading = best_reading({format_with("own", {k_steps})}, "it 1\nit 2");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->progress, 2U);
}

TEST(OutputLook, OnlyTheBeginningOfALongOutputIsRead) {
  const std::string output = "it 1\n" + std::string(std::size_t{256} << 10, '\n') + "it 2\n";
  const auto reading = best_reading({format_with("own", {k_steps})}, output);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->progress, 1U);
}

TEST(OutputLook, TriesOwnLinesAndEveryPreset) {
  const auto formats = output_formats();
  ASSERT_FALSE(formats.empty());
  EXPECT_TRUE(formats.front().reports.is_null()) << "lines that are always read come first";
  const auto has = [&](const std::string& name) {
    return std::ranges::find(formats, name, &OutputFormat::name) != formats.end();
  };
  for (const char* preset : {"tqdm", "keras", "hf-trainer", "lightning"})
    EXPECT_TRUE(has(std::string("preset ") + preset)) << preset;
  for (const OutputFormat& format : formats) {
    if (format.reports.is_string()) {
      EXPECT_EQ(format.format.preset, format.reports.get<std::string>());
    }
    if (format.reports.is_object() && format.reports.contains("metrics")) {
      EXPECT_EQ(format.format.metrics.size(), format.reports["metrics"].size()) << format.name;
    }
  }
}

TEST(OutputLook, FindsThePresetThatExplainsMostLines) {
  for (const TrainerOutput& trainer : trainer_outputs()) {
    std::string output;
    for (const TimedLine& line : trainer.lines)
      output += line.line + "\n";
    const auto reading = best_reading(output_formats(), output);
    ASSERT_TRUE(reading) << trainer.name;
    EXPECT_EQ(reading->format.format.preset, trainer.format) << trainer.name;
  }
}

TEST(OutputLook, ReadsFurtherTrainers) {
  const auto trainers =
      read_json_file(STEPTUNE_SOURCE_DIR "/tests/unit/init/further_trainers.json");
  ASSERT_TRUE(trainers) << trainers.error().text();
  for (const Json& trainer : *trainers) {
    SCOPED_TRACE(trainer["name"].get<std::string>());
    std::string output;
    for (const Json& line : trainer["lines"])
      output += line.get<std::string>() + "\n";
    const auto reading = best_reading(output_formats(), output);
    ASSERT_EQ(reading.has_value(), trainer["unit"] != "refused");
    if (!reading) continue;
    EXPECT_EQ(reading->unit_name(), trainer["unit"].get<std::string>());
    ReportReader reader = ReportReader::create(reading->format.format).value();
    double last = -1.0;
    std::map<std::string, double> metrics;
    for (const Json& line : trainer["lines"]) {
      const auto report = reader.read_line(line.get<std::string>(), 1.0);
      if (!report) continue;
      last = report->step.value_or(report->samples.value_or(last));
      metrics = report->metrics;
    }
    EXPECT_EQ(last, trainer["last"].get<double>());
    if (!trainer.contains("loss")) continue;
    EXPECT_TRUE(std::ranges::any_of(metrics, [&](const auto& metric) {
      return metric.first.find("loss") != std::string::npos &&
             metric.second == trainer["loss"].get<double>();
    }));
  }
}

TEST(OutputLook, BoostingRoundsAreTheirOwnUnit) {
  const auto reading = best_reading(output_formats(),
                                    "[0]\ttrain-rmse:0.5\n[1]\ttrain-rmse:0.4\n"
                                    "[2]\ttrain-rmse:0.3\n[3]\ttrain-rmse:0.2\n");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->format.name, "the preset of xgboost.json");
  EXPECT_EQ(reading->unit_name(), "boosting rounds");
  EXPECT_TRUE(reading->counts_shares());
}

TEST(OutputLook, ReadsABarAmongLinesOfMetrics) {
  const auto reading = best_reading(
      output_formats(),
      "{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n"
      " 10%|#         | 10/100 [00:05<00:45,  2.00it/s]\r 20%|##        | 20/100 [00:10<00:40]\n");
  ASSERT_TRUE(reading);
  EXPECT_GE(reading->progress, 2U);
  EXPECT_FALSE(reading->format.reports.is_null());
}

}  // namespace
}  // namespace steptune
