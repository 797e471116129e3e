// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trial_runner/reports/report_reader.hpp"
#include "trial_runner/reports/steptune_line.hpp"

namespace steptune {
namespace {

/// A single line, and the values that it must give.
struct LineCase {
  std::string name;
  std::string line;
  std::optional<double> step;
  std::optional<double> samples;
  std::map<std::string, double> metrics;
  std::set<std::string> not_finite;
};

std::ostream& operator<<(std::ostream& out, const LineCase& line) {
  return out << line.line;
}

std::string case_name(const testing::TestParamInfo<LineCase>& info) {
  return info.param.name;
}

void expect_read(const std::string& preset, const LineCase& expected) {
  ReportFormat format;
  format.preset = preset;
  auto reader = ReportReader::create(format);
  ASSERT_TRUE(reader) << reader.error().text();
  const auto report = reader->read_line(expected.line, 1.5);
  const bool nothing = !expected.step && !expected.samples && expected.metrics.empty() &&
                       expected.not_finite.empty();
  ASSERT_EQ(report.has_value(), !nothing);
  if (!report) return;
  EXPECT_EQ(report->received_s, 1.5);
  EXPECT_EQ(report->step, expected.step);
  EXPECT_EQ(report->samples, expected.samples);
  EXPECT_EQ(report->not_finite, expected.not_finite);
  std::map<std::string, double> metrics = report->metrics;
  metrics.erase("steps_per_second");
  EXPECT_EQ(metrics, expected.metrics);
}

class TqdmLine : public testing::TestWithParam<LineCase> {};
TEST_P(TqdmLine, IsRead) {
  expect_read("tqdm", GetParam());
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Real, TqdmLine, testing::Values(
  LineCase{"Plain", " 12%|█▏        | 12/100 [00:03<00:20,  4.10it/s]", 12, {}, {}, {}},
  LineCase{"Postfix", " 12%|█▏        | 12/100 [00:03<00:20,  4.10it/s, loss=0.3]", 12, {}, {{"loss", 0.3}}, {}},
  LineCase{"TwoMetrics", "Epoch 1: 12%|█▏ | 12/100 [00:03<00:20,  4.10it/s, loss=1.2e-05, acc=0.9]", 12, {}, {{"loss", 1.2e-05}, {"acc", 0.9}}, {}},
  LineCase{"SlowRate", " 33%|███▎      | 1/3 [00:01<00:02,  1.10s/it]", 1, {}, {}, {}},
  LineCase{"JustBegun", "  0%|          | 0/3 [00:00<?, ?it/s]", 0, {}, {}, {}},
  LineCase{"NoTotal", "12it [00:03,  4.10it/s]", 12, {}, {}, {}},
  LineCase{"NoTotalImages", "3img [00:00, 28926.23img/s]", {}, 3, {}, {}},
  LineCase{"UnitImages", "100%|██████████| 640/640 [00:03<00:00, 200.00img/s]", {}, 640, {}, {}},
  LineCase{"UnitBatch", " 50%|█████     | 50/100 [00:03<00:03, 16.0batch/s]", 50, {}, {}, {}},
  LineCase{"NoBarDrawn", "12/100 [00:03<00:20,  4.10it/s]", 12, {}, {}, {}},
  LineCase{"Hours", " 12%|█▏  | 12/100 [1:00:03<12:00:20, 300.10s/it]", 12, {}, {}, {}},
  LineCase{"AsciiBar", " 12%|#2        | 12/100 [00:03<00:20,  4.10it/s]", 12, {}, {}, {}},
  LineCase{"LossInDescription", "loss: 0.25:  12%|█▏  | 12/100 [00:03<00:20,  4.10it/s]", 12, {}, {{"loss", 0.25}}, {}},
  LineCase{"LossIsNan", " 12%|█▏  | 12/100 [00:03<00:20,  4.10it/s, loss=nan]", 12, {}, {}, {"loss"}},
  LineCase{"LossIsInfinite", " 12%|█▏  | 12/100 [00:03<00:20,  4.10it/s, loss=inf]", 12, {}, {}, {"loss"}},
  LineCase{"ScaledBytesAreNoSteps", "model.bin:  30%|███  | 1.20M/4.00M [00:01<00:02, 1.1MB/s]", {}, {}, {}, {}},
  LineCase{"ScaledCountIsNoStep", "1.20kit [00:03, 4.10kit/s]", {}, {}, {}, {}},
  LineCase{"ScaledRateIsNoUnit", " 12%|█▏  | 120/999 [00:00<00:00, 4.10kimg/s]", {}, 120, {}, {}},
  LineCase{"FewBytesAreNoSteps", "config.json: 100%|██████████| 665/665 [00:00<00:00, 1.97MB/s]", {}, {}, {}, {}},
  LineCase{"BytesWithoutTotalAreNoSteps", "vocab.json: 1.04MB [00:00, 12.4MB/s]", {}, {}, {}, {}},
  LineCase{"UltralyticsScans", "train: Scanning /data/coco128/labels/train2017... 126 images, 2 backgrounds, 0 corrupt: 100%|██████████| 128/128 [00:00<00:00, 2103.9it/s]", {}, {}, {}, {}},
  LineCase{"UltralyticsScansWithItsOwnBar", "train: Scanning /data/labels/train... 590503 images, 79 backgrounds, 0 corrupt: 100% ━━━━━━━━━━━━ 590503/590503 677.1it/s 14:32", {}, {}, {}, {}},
  LineCase{"BatchesThatAreSkipped", "Skipping the first batches:  40%|████      | 2000/5000 [00:02<00:03, 980.12it/s]", {}, {}, {}, {}},
  LineCase{"AveragePrecision", "loss 0.31 mAP 0.52:  12%|█▏  | 12/100 [00:03<00:20,  4.10it/s]", 12, {}, {{"loss", 0.31}}, {}},
  LineCase{"DownloadIsNoTraining", "Downloading shards:  50%|█████ | 1/2 [00:30<00:30, 30.0s/it]", {}, {}, {}, {}},
  LineCase{"ValidationIsNoTraining", "Validation: 12%|█▏  | 12/100 [00:03<00:20,  4.10it/s]", {}, {}, {}, {}},
  LineCase{"MapIsNoTraining", "Map: 100%|██████████| 1000/1000 [00:00<00:00, 12000.00 examples/s]", {}, {}, {}, {}},
  LineCase{"LastPieceWins", "\r 10%|█  | 10/100 [00:03<00:20,  4.10it/s]\r 12%|█▏  | 12/100 [00:03<00:20,  4.10it/s]", 12, {}, {}, {}},
  LineCase{"CursorMoves", "\x1b[A 12%|█▏  | 12/100 [00:03<00:20,  4.10it/s]\x1b[K", 12, {}, {}, {}},
  LineCase{"Ultralytics", "      1/100      2.34G      1.215      1.892         36        640:  12%|█▏        | 12/100 [00:03<00:20,  4.10it/s]", 12, {}, {}, {}},
  LineCase{"UltralyticsOwnBar", "\r\x1b[K      1/100      2.34G      1.215      1.892         36        640: 12% ━╸────────── 12/100 4.1it/s 3.0s<20.1s", 12, {}, {}, {}},
  LineCase{"UltralyticsLong", "      1/100      2.34G        640: 12% ━╸────────── 12/100 1.1it/s 1:03<10:20", 12, {}, {}, {}},
  LineCase{"UltralyticsFast", "      1/100      2.34G        640: 12% ━╸────────── 12/100 1.2Kit/s 0.0s<0.1s", 12, {}, {}, {}},
  LineCase{"Prose", "loaded 12/100 files [ok]", {}, {}, {}, {}},
  LineCase{"Empty", "", {}, {}, {}, {}}), case_name);

class KerasLine : public testing::TestWithParam<LineCase> {};
TEST_P(KerasLine, IsRead) { expect_read("keras", GetParam()); }

INSTANTIATE_TEST_SUITE_P(Real, KerasLine, testing::Values(
  LineCase{"Keras2", " 12/100 [==>...........................] - ETA: 15s - loss: 2.3010 - accuracy: 0.1016", 12, {}, {{"loss", 2.301}, {"accuracy", 0.1016}}, {}},
  LineCase{"Keras2Done", "100/100 [==============================] - 2s 15ms/step - loss: 0.3 - val_loss: 0.4", 100, {}, {{"loss", 0.3}, {"val_loss", 0.4}}, {}},
  LineCase{"Keras2LongEta", "  1/100 [..............................] - ETA: 5:10 - loss: 2.3", 1, {}, {{"loss", 2.3}}, {}},
  LineCase{"Keras2Terminal", "\b\b\b\b\b\r 12/100 [==>...........................] - ETA: 15s - loss: 2.3", 12, {}, {{"loss", 2.3}}, {}},
  LineCase{"Keras2Verbose2", "1875/1875 - 3s - loss: 0.2930 - accuracy: 0.9150 - 3s/epoch - 2ms/step", 1875, {}, {{"loss", 0.293}, {"accuracy", 0.915}}, {}},
  LineCase{"Keras2Unknown", "     12/Unknown - 2s 15ms/step - loss: 2.3", 12, {}, {{"loss", 2.3}}, {}},
  LineCase{"Keras22Samples", "60000/60000 [==============================] - 12s 200us/sample - loss: 0.3", {}, 60000, {{"loss", 0.3}}, {}},
  LineCase{"Keras3", "\x1b[1m 12/100\x1b[0m \x1b[32m━━\x1b[0m\x1b[37m━━━━━━━━━━━━━━━━━━\x1b[0m \x1b[1m15s\x1b[0m 150ms/step - accuracy: 0.1016 - loss: 2.3010", 12, {}, {{"loss", 2.301}, {"accuracy", 0.1016}}, {}},
  LineCase{"Keras3Verbose2", "1875/1875 - 3s - 2ms/step - accuracy: 0.9150 - loss: 0.2930", 1875, {}, {{"loss", 0.293}, {"accuracy", 0.915}}, {}},
  LineCase{"Nan", " 12/100 [==>....] - ETA: 15s - loss: nan", 12, {}, {}, {"loss"}},
  LineCase{"EpochLine", "Epoch 3/10", {}, {}, {}, {}},
  LineCase{"EpochOfAnotherBar", "   32/500     55.1G   0.05461        26      640: 100%|##########| 295/295 [12:51<00:00,  2.62s/it]", {}, {}, {}, {}},
  LineCase{"Date", "12/10/2024 started - loss: 3", {}, {}, {}, {}}), case_name);

class HfTrainerLine : public testing::TestWithParam<LineCase> {};
TEST_P(HfTrainerLine, IsRead) { expect_read("hf-trainer", GetParam()); }

INSTANTIATE_TEST_SUITE_P(Real, HfTrainerLine, testing::Values(
  LineCase{"Log", "{'loss': 0.6931, 'learning_rate': 4.9e-05, 'epoch': 0.01}", {}, {}, {{"loss", 0.6931}, {"learning_rate", 4.9e-05}, {"epoch", 0.01}}, {}},
  LineCase{"GradNorm", "{'loss': 1.2, 'grad_norm': 2.3, 'learning_rate': 5e-05, 'epoch': 0.08}", {}, {}, {{"loss", 1.2}, {"grad_norm", 2.3}, {"learning_rate", 5e-05}, {"epoch", 0.08}}, {}},
  LineCase{"QuotedNumbers", "{'loss': '1.234', 'grad_norm': '2.5', 'epoch': '0.08'}", {}, {}, {{"loss", 1.234}, {"grad_norm", 2.5}, {"epoch", 0.08}}, {}},
  LineCase{"Bar", " 10%|█         | 50/500 [00:10<01:30,  4.98it/s]", 50, {}, {}, {}},
  LineCase{"BarThenLog", " 10%|█         | 50/500 [00:10<01:30,  4.98it/s]{'loss': 0.5, 'epoch': 0.1}", 50, {}, {{"loss", 0.5}, {"epoch", 0.1}}, {}},
  LineCase{"SecondsPerStep", "  0%|          | 1/500 [00:01<10:00,  1.20s/it]", 1, {}, {}, {}},
  LineCase{"Nan", "{'loss': nan, 'epoch': 0.01}", {}, {}, {{"epoch", 0.01}}, {"loss"}},
  LineCase{"Evaluation", "{'eval_loss': 0.4, 'eval_runtime': 1.5, 'epoch': 1.0}", {}, {}, {{"eval_loss", 0.4}, {"eval_runtime", 1.5}, {"epoch", 1.0}}, {}},
  LineCase{"JustBegun", "  0%|          | 0/500 [00:00<?, ?it/s]", {}, {}, {}, {}},
  LineCase{"DescribedBar", "Map:  10%|█  | 50/500 [00:10<01:30,  4.98 examples/s]", {}, {}, {}, {}}), case_name);

class LightningLine : public testing::TestWithParam<LineCase> {};
TEST_P(LightningLine, IsRead) { expect_read("lightning", GetParam()); }

INSTANTIATE_TEST_SUITE_P(Real, LightningLine, testing::Values(
  LineCase{"V2", "Epoch 0:  12%|█▏        | 12/100 [00:03<00:20,  4.10it/s, v_num=0, train_loss=0.300]", 12, {}, {{"train_loss", 0.3}}, {}},
  LineCase{"V1", "Epoch 0:  50%|█████     | 50/100 [00:05<00:05,  9.80it/s, loss=0.693, v_num=0]", 50, {}, {{"loss", 0.693}}, {}},
  LineCase{"Sanity", "Sanity Checking DataLoader 0:  50%|█████ | 1/2 [00:00<00:00,  9.80it/s]", {}, {}, {}, {}},
  LineCase{"Validation", "Validation DataLoader 0:  50%|█████ | 10/20 [00:00<00:00,  9.80it/s]", {}, {}, {}, {}},
  LineCase{"Rich", "Epoch 0/9 ━━━━━━━━━━━━━━━━ 12/100 0:00:03 • 0:00:20 4.10it/s v_num: 0 train_loss: 0.3", 12, {}, {{"train_loss", 0.3}}, {}}), case_name);

class KeyValueLine : public testing::TestWithParam<LineCase> {};
TEST_P(KeyValueLine, IsRead) { expect_read("key=value", GetParam()); }

INSTANTIATE_TEST_SUITE_P(Real, KeyValueLine, testing::Values(
  LineCase{"Equals", "step=100 loss=0.5 consumed_samples=6400", 100, 6400, {{"loss", 0.5}}, {}},
  LineCase{"Colons", "step: 110, loss: 0.4", 110, {}, {{"loss", 0.4}}, {}},
  LineCase{"Words", "Epoch 3 Step 100 Loss 0.5", 100, {}, {{"epoch", 3}, {"loss", 0.5}}, {}},
  LineCase{"OfTotal", "step 12/100 loss 0.5", 12, {}, {{"loss", 0.5}}, {}},
  LineCase{"PytorchImagenet", "Epoch: [0][ 10/391]\tTime  0.203 ( 0.4)\tLoss 7.0011e+00 (6.9e+00)\tAcc@1   0.10 (  0.1)", 10, {}, {{"loss", 7.0011}, {"acc@1", 0.1}}, {}},
  LineCase{"PytorchImagenetTest", "Test: [ 10/196]\tLoss 5e-01 (5e-01)", {}, {}, {{"test_loss", 0.5}}, {}},
  LineCase{"PytorchMnist", "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.300000", {}, 640, {{"epoch", 1}, {"loss", 2.3}}, {}},
  LineCase{"PytorchMnistPadded", "Train Epoch:  1 [   640/ 60000 (1%)]\tLoss: 2.300000", {}, 640, {{"epoch", 1}, {"loss", 2.3}}, {}},
  LineCase{"PytorchWordLanguageModel", "| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 25.30 | loss  5.20 | ppl   181.27", 200, {}, {{"epoch", 1}, {"loss", 5.2}, {"lr", 20}, {"ppl", 181.27}}, {}},
  LineCase{"Timm", "Train: 0 [  50/1251 (  4%)]  Loss: 6.95 (6.9)", 50, {}, {{"train", 0}, {"loss", 6.95}}, {}},
  LineCase{"EpochStepBrackets", "Epoch [1/5], Step [100/600], Loss: 0.1234", 100, {}, {{"loss", 0.1234}}, {}},
  LineCase{"OpenMmlab", "Epoch(train)  [1][ 10/391]  lr: 1.0e-02  data_time: 0.1  loss: 2.3", 10, {}, {{"lr", 0.01}, {"data_time", 0.1}, {"loss", 2.3}}, {}},
  LineCase{"OpenMmlabIterations", "07/05 15:47:12 - mmengine - INFO - Iter(train) [   50/20000]  lr: 1.0e-02  loss: 2.3", 50, {}, {{"lr", 0.01}, {"loss", 2.3}}, {}},
  LineCase{"OpenMmlabValidation", "07/05 15:47:12 - mmengine - INFO - Epoch(val)  [1][140/194]    loss: 2.3", {}, {}, {{"val_loss", 2.3}}, {}},
  LineCase{"NanoGpt", "iter 100: loss 3.3, time 25.3ms, mfu 15.2%", 100, {}, {{"loss", 3.3}}, {}},
  LineCase{"NanoGptEvaluation", "step 250: train loss 2.1, val loss 2.2", 250, {}, {{"train_loss", 2.1}, {"val_loss", 2.2}}, {}},
  LineCase{"Megatron", " iteration      100/  500000 | consumed samples:        25600 | lm loss: 6.1E+00 |", 100, 25600, {{"lm_loss", 6.1}}, {}},
  LineCase{"Detectron2", "eta: 0:10:00  iter: 19  total_loss: 1.2  lr: 0.01  max_mem: 3000M", 19, {}, {{"total_loss", 1.2}, {"lr", 0.01}}, {}},
  LineCase{"Estimator", "INFO:tensorflow:loss = 0.5, step = 300 (1.2 sec)", 300, {}, {{"loss", 0.5}}, {}},
  LineCase{"DeepSpeed", "[2024-05-01 12:00:00,123] [INFO] [timer.py:215:stop] epoch=0/micro_step=40/global_step=10, RunningAvgSamplesPerSec=50.5, MemAllocated=1.2GB", 10, {}, {{"runningavgsamplespersec", 50.5}}, {}},
  LineCase{"Fairseq", "2024-05-01 12:00:00 | INFO | train_inner | epoch 001:     12 / 1000 loss=8.6, ppl=388.5, num_updates=12, lr=1e-05", 12, {}, {{"epoch", 1}, {"loss", 8.6}, {"ppl", 388.5}, {"lr", 1e-05}}, {}},
  LineCase{"JsonLine", R"({"step": 320, "loss": 0.25})", 320, {}, {{"loss", 0.25}}, {}},
  LineCase{"Milliseconds", "step=1 step_time=250ms", 1, {}, {{"step_time", 0.25}}, {}},
  LineCase{"Tensor", "step: 5 loss: tensor(0.5000, grad_fn=<NllLossBackward0>)", 5, {}, {{"loss", 0.5}}, {}},
  LineCase{"Nan", "loss: nan step: 310", 310, {}, {}, {"loss"}},
  LineCase{"NegativeStep", "step=-3 loss=0.5", {}, {}, {{"loss", 0.5}}, {}},
  LineCase{"DecimalComma", "step=3 loss=0,5", 3, {}, {}, {}},
  LineCase{"Unrepresentable", "step=3 loss=1e400", 3, {}, {}, {}},
  LineCase{"TimeOfDay", "2024-01-01 12:30:00 begin", {}, {}, {}, {}},
  LineCase{"Version", "version: 1.2.3", {}, {}, {}, {}},
  LineCase{"UnitsOfMemory", "mem: 4GB", {}, {}, {}, {}},
  LineCase{"Prose", "Saved the model. Done!", {}, {}, {}, {}}), case_name);
// clang-format on

TEST(SteptuneLine, AMetricThatIsListedAsNotFiniteHasNoNumber) {
  for (const char* document :
       {R"({"v":1,"loss":2,"not_finite":["loss"]})", R"({"v":1,"not_finite":["loss"],"loss":2})",
        R"({"v":1,"not_finite":["loss","loss"],"loss":2})"}) {
    const auto report = parse_steptune_document(document);
    ASSERT_TRUE(report) << report.error();
    EXPECT_TRUE(report->metrics.empty()) << document;
    EXPECT_EQ(report->not_finite, std::set<std::string>{"loss"}) << document;
  }
}

TEST(SteptuneLine, NamesOfMetricsThatAreNotFiniteAreBoundedToo) {
  const auto with = [](int names) {
    std::string document = R"({"v":1,"loss":1,"not_finite":["m0")";
    for (int i = 1; i < names; ++i)
      document += fmt::format(",\"m{}\"", i);
    return parse_steptune_document(document + "]}");
  };
  EXPECT_TRUE(with(63));
  ASSERT_FALSE(with(64));
  EXPECT_EQ(with(64).error(), "more than 64 metrics");
}

TEST(SteptuneLine, KeysOfTheProtocolDoNotCountAsMetrics) {
  const auto with = [](std::size_t metrics) {
    std::string document =
        R"({"v":1,"step":3,"samples":96,"clock":1.5,"global_rank":0,"phase":"evaluation",)"
        R"("seconds":2,"parts":{"data":0.5},"not_finite":["loss"])";
    for (std::size_t i = 1; i < metrics; ++i)
      document += fmt::format(",\"m{}\":1", i);
    return parse_steptune_document(document + "}");
  };
  const auto report = with(64);
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->metrics.size(), 63U);
  EXPECT_EQ(report->not_finite.size(), 1U);
  EXPECT_EQ(report->samples, 96.0);
  ASSERT_FALSE(with(65));
  EXPECT_EQ(with(65).error(), "more than 64 metrics");
}

TEST(SteptuneLine, NumberOfPartsIsBounded) {
  const auto with = [](int parts) {
    std::string document = R"({"v":1,"step":1,"parts":{"p0":1)";
    for (int i = 1; i < parts; ++i)
      document += fmt::format(",\"p{}\":1", i);
    return parse_steptune_document(document + "}}");
  };
  ASSERT_TRUE(with(64));
  EXPECT_EQ(with(64)->parts.size(), 64U);
  ASSERT_FALSE(with(65));
  EXPECT_EQ(with(65).error(), "more than 64 parts");
}

}  // namespace
}  // namespace steptune
