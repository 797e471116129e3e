// SPDX-License-Identifier: Apache-2.0
//
// Tests trainers' output around evaluations and checkpoints, with the times of the lines.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/support/trainer_outputs.hpp"
#include "trial_runner/reports/report_reader.hpp"

namespace steptune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ReportReader preset_reader(const std::string& preset) {
  ReportFormat format;
  format.preset = preset;
  return ReportReader::create(format).value();
}

/// Returns the reported phases, with the counter before each: `step 40: evaluation begins`, `step
/// 40: evaluation took 2.0 s`.
std::vector<std::string> reported_phases(ReportReader& reader,
                                         const std::vector<TimedLine>& lines) {
  std::vector<std::string> phase_lines;
  double step = 0.0;
  for (const auto& [time_s, line] : lines) {
    const auto report = reader.read_line(line, time_s);
    if (!report) continue;
    step = report->step.value_or(report->samples.value_or(step));
    if (!report->phase) continue;
    const PhaseReport& phase = *report->phase;
    phase_lines.push_back(
        fmt::format("{}: {} {}", step, phase.name,
                    phase.seconds ? fmt::format("took {:.2f} s", *phase.seconds) : "begins"));
  }
  return phase_lines;
}
std::vector<std::string> reported_phases(const std::string& preset,
                                         const std::vector<TimedLine>& lines) {
  ReportReader reader = preset_reader(preset);
  return reported_phases(reader, lines);
}

TEST(HfTrainerPhases, UseTheRuntimeOfTheEvaluation) {
  EXPECT_THAT(
      reported_phases(
          "hf-trainer",
          {{0.0, "  0%|          | 0/500 [00:00<?, ?it/s]"},
           {1.0, "  1%|          | 5/500 [00:01<01:39,  4.98it/s]"},
           {2.0, "  2%|▏         | 10/500 [00:02<01:38,  4.98it/s]"},
           {2.1, "  0%|          | 0/13 [00:00<?, ?it/s]\x1b[A"},
           {2.6, " 31%|███       | 4/13 [00:00<00:01,  7.95it/s]\x1b[A"},
           {3.5, "100%|██████████| 13/13 [00:01<00:00,  8.80it/s]\x1b[A"},
           {4.1,
            "{'eval_loss': 0.4, 'eval_accuracy': 0.81, 'eval_runtime': 2.0512, "
            "'eval_samples_per_second': 48.7, 'eval_steps_per_second': 6.3, 'epoch': 0.02}"},
           {4.2, "  2%|▏         | 10/500 [00:04<01:38,  4.98it/s]"},
           {4.4, "  2%|▏         | 11/500 [00:04<01:38,  4.98it/s]"}}),
      ElementsAre("10: evaluation begins", "10: evaluation took 2.05 s"));
}

TEST(HfTrainerPhases, WithoutBarsTheyAreReadFromTheLog) {
  EXPECT_THAT(reported_phases(
                  "hf-trainer",
                  {{0.0, "  Num examples = 10,000"},
                   {0.5, "***** Running Evaluation *****"},
                   {5.0, "{'loss': 0.69, 'learning_rate': 5e-05, 'epoch': 0.5}"},
                   {5.1,
                    "[INFO|trainer.py:3721] 2025-01-09 11:58:14,776 >> ***** Running "
                    "Evaluation *****"},
                   {8.0, "{'eval_loss': '0.4', 'eval_runtime': '2.9', 'epoch': '0.5'}"},
                   {8.1, "[INFO|trainer.py:3410] >> Saving model checkpoint to out/checkpoint-500"},
                   {9.0, "{'loss': 0.62, 'learning_rate': 4e-05, 'epoch': 1.0}"}}),
              ElementsAre("5000: evaluation begins", "5000: evaluation took 2.90 s",
                          "5000: checkpoint begins"));
}

TEST(KerasPhases, LastUntilTheLineWithValidation) {
  EXPECT_THAT(reported_phases(
                  "keras",
                  {{0.0, "Epoch 1/2"},
                   {1.0, "  1/100 ━━━━━━━━━━━━━━━━━━━━ 1:39 1s/step - accuracy: 0.1 - loss: 2.3"},
                   {10.9, "100/100 ━━━━━━━━━━━━━━━━━━━━ 0s 100ms/step - accuracy: 0.5 - loss: 1.3"},
                   {13.4,
                    "100/100 ━━━━━━━━━━━━━━━━━━━━ 12s 125ms/step - accuracy: 0.5 - loss: 1.3 - "
                    "val_accuracy: 0.6 - val_loss: 1.2"},
                   {13.4, "Epoch 2/2"},
                   {14.0, "  1/100 ━━━━━━━━━━━━━━━━━━━━ 9s 100ms/step - accuracy: 0.6 - loss: 1.2"},
                   {23.8, " 99/100 ━━━━━━━━━━━━━━━━━━━━ 0s 100ms/step - accuracy: 0.6 - loss: 1.1"},
                   {26.4,
                    "100/100 ━━━━━━━━━━━━━━━━━━━━ 12s 125ms/step - accuracy: 0.6 - loss: 1.1 - "
                    "val_accuracy: 0.7 - val_loss: 1.0"}}),
              ElementsAre("100: evaluation took 2.50 s", "200: evaluation took 2.50 s"));
}

TEST(KerasPhases, EpochsOfOneLineHaveNone) {
  EXPECT_THAT(reported_phases("keras", {{0.0, "Epoch 1/2"},
                                        {13.0, "100/100 - 13s - loss: 0.3 - val_loss: 0.4"},
                                        {13.0, "Epoch 2/2"},
                                        {25.0, "100/100 - 12s - loss: 0.2 - val_loss: 0.4"}}),
              IsEmpty())
      << "steps and evaluation cannot be distinguished";
}

TEST(LightningPhases, AreItsValidationBars) {
  EXPECT_THAT(
      reported_phases(
          "lightning",
          {{0.0, "Sanity Checking DataLoader 0: 100%|██████████| 2/2 [00:00<00:00, 9.80it/s]"},
           {3.0, "Epoch 0:  50%|█████     | 50/100 [00:03<00:03, 16.1it/s, v_num=0, loss=0.6]"},
           {6.0, "Epoch 0: 100%|██████████| 100/100 [00:06<00:00, 16.1it/s, v_num=0, loss=0.5]"},
           {6.0, "\rValidation: |          | 0/? [00:00<?, ?it/s]\x1b[A"},
           {6.1, "\rValidation DataLoader 0:   0%|          | 0/20 [00:00<?, ?it/s]\x1b[A"},
           {7.1, "\rValidation DataLoader 0:  50%|█████     | 10/20 [00:01<00:01, 9.8it/s]\x1b[A"},
           {8.1, "\rValidation DataLoader 0: 100%|██████████| 20/20 [00:02<00:00, 9.8it/s]\x1b[A"},
           {8.1, "\rValidation DataLoader 1:   0%|          | 0/5 [00:00<?, ?it/s]\x1b[A"},
           {8.6, "\rValidation DataLoader 1: 100%|██████████| 5/5 [00:00<00:00, 9.8it/s]\x1b[A"},
           {8.7, "Epoch 0: 100%|██████████| 100/100 [00:08<00:00, 12.1it/s, v_num=0, loss=0.5]"},
           {12.0, "Epoch 1:  50%|█████     | 50/100 [00:03<00:03, 16.1it/s, v_num=0, loss=0.4]"}}),
      ElementsAre("100: evaluation begins", "100: evaluation took 2.00 s",
                  "100: evaluation 1 begins", "100: evaluation 1 took 0.50 s"));
}

TEST(KerasPhases, ASavedModelIsAPartOfTheEvaluation) {
  EXPECT_THAT(
      reported_phases(
          "keras",
          {{0.0, "Epoch 1/2"},
           {1.0, "  1/100 [..............................] - ETA: 1:39 - loss: 2.3"},
           {10.9, "100/100 [==============================] - ETA: 0s - loss: 1.3"},
           {13.0, ""},
           {13.0, "Epoch 1: val_loss improved from inf to 1.20000, saving model to a.h5"},
           {14.4, "100/100 [==============================] - 14s - loss: 1.3 - val_loss: 1.2"},
           {14.4, "Epoch 2/2"},
           {15.0, "  1/100 [..............................] - ETA: 9s - loss: 1.2"}}),
      ElementsAre("100: evaluation took 3.50 s"));
}

TEST(LightningPhases, RichDescribesItsValidationInOneWord) {
  EXPECT_THAT(reported_phases(
                  "lightning",
                  {{3.0, "Epoch 0/9  ━━━━━━━━━ 100/100 0:00:03 • 0:00:00 33.0it/s v_num: 0.000"},
                   {3.1, "Validation ━━━╸━━━━━ 1/20    0:00:00 • 0:00:02 9.8it/s"},
                   {5.1, "Validation ━━━━━━━━━ 20/20   0:00:02 • 0:00:00 9.8it/s"},
                   {5.2,
                    "Epoch 0, global step 100: 'val_loss' reached 0.50000 (best 0.50000), saving "
                    "model to '/out/epoch=0.ckpt' as top 1"},
                   {7.0, "Epoch 1/9  ━╺━━━━━━━ 1/100   0:00:00 • 0:00:03 33.0it/s v_num: 0.000"}}),
              ElementsAre("100: evaluation begins", "100: evaluation took 2.00 s",
                          "100: checkpoint begins"));
}

TEST(LightningPhases, AreReadFromRichBars) {
  EXPECT_THAT(
      reported_phases("lightning",
                      {{3.0, "Epoch 0/9 ━━━━━━━━━ 100/100 0:00:03 • 0:00:00 33.0it/s v_num: 0"},
                       {3.1, "Validation DataLoader 0 ━━━╸━━━━━ 1/20 0:00:00 • 0:00:02 9.8it/s"},
                       {5.1, "Validation DataLoader 0 ━━━━━━━━━ 20/20 0:00:02 • 0:00:00 9.8it/s"}}),
      ElementsAre("100: evaluation begins", "100: evaluation took 2.00 s"));
}

TEST(PhasesOfPresets, TellDurationsByReceiptFromPrintedOnes) {
  ReportReader bars = preset_reader("lightning");
  (void)bars.read_line("Epoch 0/9 ━━━━━━━━━ 100/100 0:00:03 • 0:00:00 33.0it/s v_num: 0", 3.0);
  (void)bars.read_line("Validation DataLoader 0 ━━━╸━━━━━ 1/20 0:00:00 • 0:00:02 9.8it/s", 3.1);
  EXPECT_TRUE(
      bars.read_line("Validation DataLoader 0 ━━━━━━━━━ 20/20 0:00:02 • 0:00:00 9.8it/s", 5.1)
          ->phase->by_receipt);
  ReportReader lines = preset_reader("key=value");
  (void)lines.read_line("step=100 loss=0.5 step_time=0.01", 1.0);
  EXPECT_FALSE(lines.read_line("eval_loss=0.7 eval_runtime=2.5", 4.0)->phase->by_receipt);
}

TEST(TqdmPhases, AreBarsThatSaySo) {
  EXPECT_THAT(reported_phases(
                  "tqdm", {{0.0, "Eval:   0%|          | 0/40 [00:00<?, ?it/s]"},
                           {1.0, "Train: 100%|██████████| 100/100 [00:01<00:00, 98.0it/s]"},
                           {1.1, "Eval:   0%|          | 0/40 [00:00<?, ?it/s]"},
                           {1.6, "Eval:  50%|█████     | 20/40 [00:00<00:00, 40.0it/s, loss=0.2]"},
                           {2.1, "Eval: 100%|██████████| 40/40 [00:01<00:00, 40.0it/s, loss=0.2]"},
                           {2.1, "Eval: 100%|██████████| 40/40 [00:01<00:00, 39.9it/s, loss=0.2]"},
                           {2.2, "Train:   0%|          | 0/100 [00:00<?, ?it/s]"},
                           {3.2, "Train: 100%|██████████| 100/100 [00:01<00:00, 98.0it/s]"},
                           {3.3, "Saving checkpoint:   0%|          | 0/4 [00:00<?, ?it/s]"},
                           {3.8, "Train:   1%|          | 1/100 [00:00<00:01, 98.0it/s]"}}),
              ElementsAre("100: evaluation begins", "100: evaluation took 1.00 s",
                          "200: checkpoint begins"));
}

TEST(TqdmPhases, ASecondBarDuringTheTrainingIsAnEvaluation) {
  std::vector<TimedLine> lines;
  double time_s = 0.0;
  const auto draw = [&](int total, const std::vector<int>& counts, double seconds) {
    for (const int done : counts) {
      lines.push_back({time_s, fmt::format("{:3}%|##| {}/{} [00:01<00:00, 98.0it/s]",
                                           100 * done / total, done, total)});
      time_s += seconds / static_cast<double>(counts.size() - 1);
    }
    time_s -= seconds / static_cast<double>(counts.size() - 1);
  };
  for (int epoch = 0; epoch < 2; ++epoch) {
    draw(100, {0, 30, 60, 100}, 3.0);
    draw(20, {0, 10, 20}, 1.0);
    lines.push_back(
        {time_s, fmt::format("Epochs: 10%|##| {}/2 [00:04<00:00, 4.0s/it]", epoch + 1)});
  }
  EXPECT_THAT(reported_phases("tqdm", lines),
              ElementsAre("100: evaluation took 1.00 s", "200: evaluation took 1.00 s"))
      << "the bar over the epochs is not a phase";
}

/// Diffusion programs cache pictures before training and draw samples after epochs, each with a bar
/// without a name.
TEST(TqdmPhases, ABarNamedAfterStepsIsTheTrainings) {
  ReportReader reader = preset_reader("tqdm");
  double time_s = 0.0;
  std::optional<double> step;
  const auto read = [&](const std::string& line) {
    const auto report = reader.read_line(line, time_s += 1.0);
    if (report && report->step) step = report->step;
  };
  const auto draw_others = [&] {
    for (const int done : {0, 9, 19, 28})
      read(fmt::format(" {}%|##| {}/28 [00:01<00:03, 5.2it/s]", 100 * done / 28, done));
  };
  const auto train = [&](int from, int to) {
    for (int done = from; done <= to; ++done)
      read(fmt::format("steps:   1%|##| {}/280 [00:07<34:58, 1.5s/it, avr_loss=0.14]", done));
  };
  draw_others();
  train(0, 28);
  EXPECT_EQ(step, 28.0);
  draw_others();
  EXPECT_EQ(step, 28.0);
  train(29, 40);
  EXPECT_EQ(step, 40.0);
}

TEST(KeyValuePhases, AreTheExcessTimeOfAnEvaluationsLine) {
  EXPECT_THAT(reported_phases("key=value", {{0.5, "step 0: train loss 4.28, val loss 4.28"},
                                            {5.0, "iter 180: loss 3.3, time 20.0ms, mfu 15.2%"},
                                            {5.2, "iter 190: loss 3.3, time 20.0ms, mfu 15.2%"},
                                            {7.4, "step 200: train loss 2.1, val loss 2.2"},
                                            {7.42, "iter 200: loss 3.2, time 2020.0ms, mfu 15.2%"},
                                            {7.62, "iter 210: loss 3.2, time 20.0ms, mfu 15.2%"}}),
              ElementsAre("200: evaluation took 2.00 s"));
  EXPECT_THAT(reported_phases("key=value", {{5.0, "iter 180: loss 3.3, time 20.0ms, mfu 15.2%"},
                                            {5.2, "iter 190: loss 3.3, time 20.0ms, mfu 15.2%"},
                                            {7.4, "step 200: train loss 2.1, val loss 2.2"},
                                            {7.4, "saving checkpoint to out-shakespeare-char"},
                                            {7.9, "iter 200: loss 3.2, time 2020.0ms, mfu 15.2%"}}),
              ElementsAre("200: evaluation took 2.00 s", "200: checkpoint begins"));
}

TEST(KeyValuePhases, ReadsValuesBeforeAMessage) {
  ReportReader reader = preset_reader("key=value");
  const auto result =
      reader.read_line("epoch=3 step=120 val_loss=0.31 saving best model to best.pt", 1.0);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->step, 120.0);
  EXPECT_EQ(result->metrics.at("val_loss"), 0.31);
  const auto step = reader.read_line("Step 140/1000, loss 0.25, saving model to ckpt/140.pt", 2.0);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->step, 140.0);
  EXPECT_EQ(step->metrics.at("loss"), 0.25);
  ASSERT_TRUE(step->phase);
  EXPECT_EQ(step->phase->name, "checkpoint");
}

TEST(KeyValuePhases, AnEvaluationsResultEndsNoCheckpoint) {
  EXPECT_THAT(reported_phases("key=value", {{5.0, "iter 180: loss 3.3"},
                                            {5.2, "iter 190: loss 3.3"},
                                            {5.4, "Saving model to best.pt"},
                                            {25.4, "val loss 0.31"},
                                            {25.6, "iter 200: loss 3.2"}}),
              testing::Not(testing::Contains(testing::HasSubstr("checkpoint took"))));
}

TEST(TqdmPhases, ReadsUltralytics) {
  const std::string train = "        1/3      2.34G      1.215      1.892         36        640: ";
  const std::string second = "        2/3      2.34G      1.115      1.792         36        640: ";
  const std::string validation =
      "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): ";
  EXPECT_THAT(
      reported_phases("tqdm", {{0.0, train + "0% ──────────── 0/100  0.0s"},
                               {5.0, train + "50% ━━━━━━────── 50/100 9.7it/s 5.2s<5.2s"},
                               {10.0, train + "100% ━━━━━━━━━━━━ 100/100 10.0it/s 10.0s"},
                               {10.5, validation + "25% ━━━───────── 1/4 2.0it/s 0.5s<1.5s"},
                               {12.0, validation + "100% ━━━━━━━━━━━━ 4/4 2.0it/s 2.0s"},
                               {13.0, second + "10% ━─────────── 10/100 10.0it/s 1.0s<9.0s"},
                               {22.0, second + "100% ━━━━━━━━━━━━ 100/100 10.0it/s 10.0s"},
                               {22.5, validation + "25% ━━━───────── 1/4 2.0it/s 0.5s<1.5s"},
                               {24.0, validation + "100% ━━━━━━━━━━━━ 4/4 2.0it/s 2.0s"}}),
      ElementsAre("100: evaluation begins", "100: evaluation took 1.50 s", "200: evaluation begins",
                  "200: evaluation took 1.50 s"));
}

TEST(TqdmPhases, AreMessagesOfAcceleratesScripts) {
  EXPECT_THAT(
      reported_phases(
          "tqdm", {{1.0, " 10%|#         | 10/100 [00:01<00:09,  9.8it/s]"},
                   {1.1,
                    "05/01/2024 12:00:00 - INFO - accelerate.accelerator - Saving current "
                    "state to out/step_10"},
                   {3.0, " 11%|#1        | 11/100 [00:03<00:09,  9.8it/s]"},
                   {3.1, "05/01/2024 12:00:02 - INFO - __main__ - ***** Running evaluation *****"},
                   {4.0, " 12%|#2        | 12/100 [00:04<00:09,  9.8it/s]"}}),
      ElementsAre("10: checkpoint begins", "11: evaluation begins"));
}

TEST(KeyValuePhases, ReadsMegatron) {
  const auto iteration = [](int number) {
    return fmt::format(
        " [2024-05-01 12:00:00] iteration {:8}/  500000 | consumed samples: {:12} | elapsed time "
        "per "
        "iteration (ms): 100.0 | learning rate: 1.0E-04 | global batch size:   256 | lm loss: "
        "6.1E+00 | loss scale: 1.0 | grad norm: 1.0 |",
        number, 256 * number);
  };
  EXPECT_THAT(
      reported_phases(
          "key=value",
          {{0.0, iteration(90)},
           {1.0, iteration(100)},
           {1.0, "Evaluating on 1024 samples"},
           {1.5, "Evaluating iter 1/4"},
           {2.0, "Evaluating iter 2/4"},
           {3.0, "Evaluating iter 4/4"},
           {3.1,
            " validation loss at iteration 100 on validation set | lm loss value: 5.1E+00 "
            "| lm loss PPL: 1.6E+02 | "},
           {3.2, "saving checkpoint at iteration     100 to checkpoints/gpt in torch format"},
           {5.2, "  successfully saved checkpoint from iteration     100 to checkpoints/gpt"},
           {6.2, iteration(110)},
           {6.3, "saving checkpoint at iteration     110 to checkpoints/gpt in torch format"}}),
      ElementsAre("100: evaluation begins", "100: evaluation took 1.50 s", "100: checkpoint begins",
                  "100: checkpoint took 2.00 s", "110: checkpoint begins"));
}

TEST(KeyValuePhases, ReadsMmengine) {
  const std::string at = "2022/08/22 15:52:50 - mmengine - INFO - ";
  EXPECT_THAT(reported_phases(
                  "key=value",
                  {{0.0, at + "Epoch(train) [1][380/391]  lr: 1.0e-03  eta: 0:06:49  time: 0.0347  "
                              "data_time: 0.0072  memory: 392  loss: 2.5956"},
                   {0.4, at + "Epoch(train) [1][391/391]  lr: 1.0e-03  time: 0.0347  loss: 2.5956"},
                   {0.4, at + "Saving checkpoint at 1 epochs"},
                   {1.4, at + "Epoch(val) [1][10/313]    eta: 0:00:03  time: 0.0122  memory: 392"},
                   {4.4, at + "Epoch(val) [1][313/313]  accuracy: 50.1000  data_time: 0.0050"},
                   {5.0, at + "Epoch(train) [2][ 10/391]  lr: 1.0e-03  time: 0.0347  loss: 2.5"},
                   {5.1, at + "Saving checkpoint at 2 epochs"}}),
              ElementsAre("391: checkpoint begins", "391: evaluation begins",
                          "391: evaluation took 3.00 s", "401: checkpoint begins"));
  EXPECT_THAT(
      reported_phases("key=value",
                      {{0.0, at + "Iter(train) [  50/20000]  lr: 1.0e-02  time: 0.1  loss: 2.5"},
                       {5.0, at + "Iter(train) [ 100/20000]  lr: 1.0e-02  time: 0.1  loss: 2.5"},
                       {6.0, at + "Iter(val) [10/100]    eta: 0:00:09  time: 0.1"},
                       {15.0, at + "Iter(val) [100/100]    mIoU: 40.1  data_time: 0.0050"},
                       {20.0, at + "Iter(train) [ 150/20000]  lr: 1.0e-02  time: 0.1  loss: 2.5"},
                       {20.1, at + "Saving checkpoint at 150 iterations"}}),
      ElementsAre("100: evaluation begins", "100: evaluation took 9.00 s",
                  "150: checkpoint begins"));
}

TEST(KeyValuePhases, ReadsFairseq) {
  const std::string at = "2024-05-01 12:00:00 | INFO | ";
  EXPECT_THAT(
      reported_phases(
          "key=value",
          {{0.0, at + "train_inner | epoch 001:     90 / 1000 loss=8.6, num_updates=90, lr=1e-05"},
           {1.0, at + "train_inner | epoch 001:    100 / 1000 loss=8.6, num_updates=100"},
           {1.1, at + "fairseq_cli.train | begin validation on \"valid\" subset"},
           {3.6, at + "valid | epoch 001 | valid on 'valid' subset | loss 8.1 | ppl 280 | "
                      "num_updates 100"},
           {3.7, at + "fairseq.checkpoint_utils | Preparing to save checkpoint for epoch 1 @ "
                      "100 updates"},
           {5.7, at + "fairseq.checkpoint_utils | Saved checkpoint checkpoints/checkpoint1.pt "
                      "(epoch 1 @ 100 updates, score 8.1) (writing took 2.0 seconds)"},
           {6.7, at + "train_inner | epoch 002:     10 / 1000 loss=8.5, num_updates=110"},
           {6.8, at + "fairseq_cli.train | begin validation on \"valid\" subset"}}),
      ElementsAre("100: evaluation begins", "100: evaluation took 2.50 s", "100: checkpoint begins",
                  "100: checkpoint took 2.00 s", "110: evaluation begins"));
  ReportReader reader = preset_reader("key=value");
  (void)reader.read_line(at + "train_inner | epoch 001: 90 / 1000 loss=8.6, num_updates=90", 0.0);
  const auto report = reader.read_line(
      at + "valid | epoch 001 | valid on 'valid' subset | loss 8.1 | ppl 280 | num_updates 90",
      1.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->metrics.at("loss"), 8.6) << "that of the training";
  EXPECT_EQ(report->metrics.at("valid_loss"), 8.1);
}

TEST(KeyValuePhases, ReadsTorchvisionsReferences) {
  EXPECT_THAT(
      reported_phases(
          "key=value",
          {{0.0,
            "Epoch: [0]  [4900/5005]  eta: 0:00:10  lr: 0.1  img/s: 320.5  loss: 7.0 (7.0)  "
            "acc1: 0.1 (0.1)  time: 0.1  data: 0.01  max mem: 5000"},
           {10.0, "Epoch: [0]  [5000/5005]  eta: 0:00:00  lr: 0.1  img/s: 320.5  loss: 7.0 (7.0)"},
           {10.5, "Epoch: [0] Total time: 0:20:00"},
           {11.0, "Test:   [  0/196]  eta: 0:05:00  loss: 6.9 (6.9)  acc1: 0.1 (0.1)  time: 0.5"},
           {21.0, "Test:   [100/196]  eta: 0:02:30  loss: 6.9 (6.9)  acc1: 0.1 (0.1)  time: 0.1"},
           {31.0, "Test:  Total time: 0:00:20"},
           {31.0, "Test:  Acc@1 0.100 Acc@5 0.500"},
           {40.0,
            "Epoch: [1]  [   0/5005]  eta: 0:20:00  lr: 0.1  img/s: 320.5  loss: 7.0 (7.0)"}}),
      ElementsAre("5000: test begins", "5000: test took 20.00 s"));
}

TEST(KeyValuePhases, ReadsTimm) {
  EXPECT_THAT(
      reported_phases(
          "key=value",
          {{0.0,
            "Train: 0 [1200/1251 ( 96%)]  Loss: 6.95 (6.95)  Time: 0.1s, 1280.0/s  LR: 1.0e-06"},
           {5.0,
            "Train: 0 [1250/1251 (100%)]  Loss: 6.95 (6.95)  Time: 0.1s, 1280.0/s  LR: 1.0e-06"},
           {6.0,
            "Test: [   0/195]  Time: 1.527 (1.527)  Loss:   6.9 (  6.9)  Acc@1:   0.1 (  0.1)"},
           {15.0, "Test: [ 195/195]  Time: 0.1 (0.1)  Loss:   6.9 (  6.9)  Acc@1:   0.1 (  0.1)"},
           {16.0, "Test (EMA): [   0/195]  Time: 1.5 (1.5)  Loss:   6.9 (  6.9)"},
           {25.0, "Test (EMA): [ 195/195]  Time: 0.1 (0.1)  Loss:   6.9 (  6.9)"},
           {30.0, "Train: 1 [   0/1251 (  0%)]  Loss: 6.95 (6.95)  Time: 3.5s,  73.00/s"}}),
      ElementsAre("1250: test begins", "1250: test took 9.00 s", "1250: test begins",
                  "1250: test took 9.00 s"));
}

TEST(KeyValuePhases, ALineThatRepeatsAnOldResultIsNoPhase) {
  std::vector<TimedLine> lines;
  for (int i = 1; i <= 10; ++i) {
    lines.push_back({0.1 * i, fmt::format("step={} loss=0.5", 10 * i)});
    lines.push_back({0.1 * i + 0.001, fmt::format("step={} best val_loss=0.6", 10 * i)});
  }
  EXPECT_THAT(reported_phases("key=value", lines), IsEmpty());
}

TEST(KeyValuePhases, TakeTheTimeInALine) {
  EXPECT_THAT(reported_phases("key=value", {{1.0, "step=100 loss=0.5 step_time=0.01"},
                                            {4.0, "eval_loss=0.7 eval_runtime=2.5"},
                                            {5.0, "saved to x.pt checkpoint_time=250ms"}}),
              ElementsAre("100: evaluation took 2.50 s", "100: checkpoint took 0.25 s"));
}

TEST(KeyValuePhases, AreHeadingsOfTestLoops) {
  EXPECT_THAT(
      reported_phases("key=value",
                      {{10.0, "Epoch: [0][380/391]\tTime  0.203 ( 0.4)\tLoss 7.00e+00 (6.9e+00)"},
                       {11.0, "Test: [  0/196]\tTime  0.1 ( 0.1)\tLoss 5.0e-01 (5.0e-01)"},
                       {12.0, "Test: [ 10/196]\tTime  0.1 ( 0.1)\tLoss 5.1e-01 (5.0e-01)"},
                       {20.0, "Epoch: [1][ 10/391]\tTime  0.203 ( 0.4)\tLoss 6.00e+00 (6.9e+00)"}}),
      ElementsAre("380: test begins"));
}

TEST(RegexPhases, HaveADurationOrAStart) {
  ReportFormat format;
  format.metrics = {{"step", R"(batch (\d+))"},
                    {"phase:evaluation", R"(evaluated in ([0-9.]+) s)"},
                    {"phase:checkpoint", R"(saving model()\b)"}};
  ReportReader reader = ReportReader::create(format).value();
  EXPECT_THAT(reported_phases(reader, {{1.0, "batch 7"},
                                       {3.0, "evaluated in 1.75 s"},
                                       {3.5, "saving model"},
                                       {4.0, "batch 8"}}),
              ElementsAre("7: evaluation took 1.75 s", "7: checkpoint begins"));
}

TEST(RegexPhases, NeedAName) {
  ReportFormat format;
  format.metrics = {{"phase:", R"(evaluated in ([0-9.]+) s)"}};
  const auto reader = ReportReader::create(format);
  ASSERT_FALSE(reader);
  EXPECT_NE(reader.error().message.find("write phase:evaluation"), std::string::npos);
}

TEST(SeveralWriters, AreRefusedWithARemedy) {
  ReportReader reader = preset_reader("key=value");
  for (int i = 0; i < 4; ++i) {
    (void)reader.read_line(fmt::format("step={}", 100 + i), i);
    (void)reader.read_line(fmt::format("step={}", 40 + i), i + 0.5);
  }
  ASSERT_TRUE(reader.first_rejection());
  EXPECT_EQ(reader.rejected_lines(), 1U) << "reported once";
  EXPECT_NE(reader.first_rejection()->find("let only rank 0 print"), std::string::npos);
  EXPECT_FALSE(reader.read_line("step=104", 9.0)) << "counters of several ranks are not read";
}

TEST(SeveralWriters, EpochsOfFewLinesAreNotMistakenForThem) {
  ReportReader reader = preset_reader("key=value");
  for (int epoch = 0; epoch < 20; ++epoch) {
    (void)reader.read_line(fmt::format("step={}", 40), epoch);
    (void)reader.read_line(fmt::format("step={}", 90), epoch + 0.5);
  }
  EXPECT_FALSE(reader.first_rejection());
}

}  // namespace
}  // namespace steptune
