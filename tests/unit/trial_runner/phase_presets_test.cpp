// SPDX-License-Identifier: Apache-2.0
//
// What trainers print around evaluations and checkpoints, with the times at which the lines come.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "trial_runner/reports/report_reader.hpp"

namespace steptune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct TimedLine {
  double time_s;
  std::string line;
};

ReportReader preset_reader(const std::string& preset) {
  ReportFormat format;
  format.preset = preset;
  return ReportReader::create(format).value();
}

/// `step 40: evaluation begins`, `step 40: evaluation took 2.0 s`: the phases that were told, and
/// the counter reached before each.
std::vector<std::string> phases_told(ReportReader& reader, const std::vector<TimedLine>& lines) {
  std::vector<std::string> told;
  double step = 0.0;
  for (const auto& [time_s, line] : lines) {
    const auto report = reader.read_line(line, time_s);
    if (!report) continue;
    step = report->step.value_or(report->samples.value_or(step));
    if (!report->phase) continue;
    const auto& [name, seconds] = *report->phase;
    told.push_back(fmt::format("{}: {} {}", step, name,
                               seconds ? fmt::format("took {:.2f} s", *seconds) : "begins"));
  }
  return told;
}
std::vector<std::string> phases_told(const std::string& preset,
                                     const std::vector<TimedLine>& lines) {
  ReportReader reader = preset_reader(preset);
  return phases_told(reader, lines);
}

TEST(HfTrainerPhases, TakeTheRuntimeThatTheEvaluationTells) {
  EXPECT_THAT(
      phases_told(
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

TEST(HfTrainerPhases, WithoutBarsTheLogTellsThem) {
  EXPECT_THAT(
      phases_told("hf-trainer",
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

TEST(KerasPhases, AreWhatTheLastLineWithValidationWaitedFor) {
  EXPECT_THAT(
      phases_told("keras",
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

TEST(KerasPhases, AreNotTakenFromEpochsToldInOneLine) {
  EXPECT_THAT(phases_told("keras", {{0.0, "Epoch 1/2"},
                                    {13.0, "100/100 - 13s - loss: 0.3 - val_loss: 0.4"},
                                    {13.0, "Epoch 2/2"},
                                    {25.0, "100/100 - 12s - loss: 0.2 - val_loss: 0.4"}}),
              IsEmpty())
      << "steps and evaluation cannot be told apart";
}

TEST(LightningPhases, AreItsValidationBars) {
  EXPECT_THAT(
      phases_told(
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

TEST(LightningPhases, AreReadFromRichBars) {
  EXPECT_THAT(
      phases_told("lightning",
                  {{3.0, "Epoch 0/9 ━━━━━━━━━ 100/100 0:00:03 • 0:00:00 33.0it/s v_num: 0"},
                   {3.1, "Validation DataLoader 0 ━━━╸━━━━━ 1/20 0:00:00 • 0:00:02 9.8it/s"},
                   {5.1, "Validation DataLoader 0 ━━━━━━━━━ 20/20 0:00:02 • 0:00:00 9.8it/s"}}),
      ElementsAre("100: evaluation begins", "100: evaluation took 2.00 s"));
}

TEST(TqdmPhases, AreBarsThatSaySo) {
  EXPECT_THAT(
      phases_told("tqdm", {{0.0, "Eval:   0%|          | 0/40 [00:00<?, ?it/s]"},
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

TEST(TqdmPhases, ABarThatRunsWhileTheTrainingsStandsIsOne) {
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
  EXPECT_THAT(phases_told("tqdm", lines),
              ElementsAre("100: evaluation took 1.00 s", "200: evaluation took 1.00 s"))
      << "and the bar over the epochs is none";
}

TEST(KeyValuePhases, AreTheExcessOfALineWithAnEvaluationsResult) {
  EXPECT_THAT(phases_told("key=value", {{0.5, "step 0: train loss 4.28, val loss 4.28"},
                                        {5.0, "iter 180: loss 3.3, time 20.0ms, mfu 15.2%"},
                                        {5.2, "iter 190: loss 3.3, time 20.0ms, mfu 15.2%"},
                                        {7.4, "step 200: train loss 2.1, val loss 2.2"},
                                        {7.42, "iter 200: loss 3.2, time 2020.0ms, mfu 15.2%"},
                                        {7.62, "iter 210: loss 3.2, time 20.0ms, mfu 15.2%"}}),
              ElementsAre("200: evaluation took 2.00 s"));
}

TEST(KeyValuePhases, ALineThatRepeatsAnOldResultIsNone) {
  std::vector<TimedLine> lines;
  for (int i = 1; i <= 10; ++i) {
    lines.push_back({0.1 * i, fmt::format("step={} loss=0.5", 10 * i)});
    lines.push_back({0.1 * i + 0.001, fmt::format("step={} best val_loss=0.6", 10 * i)});
  }
  EXPECT_THAT(phases_told("key=value", lines), IsEmpty());
}

TEST(KeyValuePhases, TakeTheTimeThatALineTells) {
  EXPECT_THAT(phases_told("key=value", {{1.0, "step=100 loss=0.5 step_time=0.01"},
                                        {4.0, "eval_loss=0.7 eval_runtime=2.5"},
                                        {5.0, "saved to x.pt checkpoint_time=250ms"}}),
              ElementsAre("100: evaluation took 2.50 s", "100: checkpoint took 0.25 s"));
}

TEST(KeyValuePhases, AreHeadingsOfTestLoops) {
  EXPECT_THAT(
      phases_told("key=value",
                  {{10.0, "Epoch: [0][380/391]\tTime  0.203 ( 0.4)\tLoss 7.00e+00 (6.9e+00)"},
                   {11.0, "Test: [  0/196]\tTime  0.1 ( 0.1)\tLoss 5.0e-01 (5.0e-01)"},
                   {12.0, "Test: [ 10/196]\tTime  0.1 ( 0.1)\tLoss 5.1e-01 (5.0e-01)"},
                   {20.0, "Epoch: [1][ 10/391]\tTime  0.203 ( 0.4)\tLoss 6.00e+00 (6.9e+00)"}}),
      ElementsAre("380: test begins"));
}

TEST(RegexPhases, TellSecondsOrWhereOneBegins) {
  ReportFormat format;
  format.metrics = {{"step", R"(batch (\d+))"},
                    {"phase:evaluation", R"(evaluated in ([0-9.]+) s)"},
                    {"phase:checkpoint", R"(saving model()\b)"}};
  ReportReader reader = ReportReader::create(format).value();
  EXPECT_THAT(phases_told(reader, {{1.0, "batch 7"},
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

TEST(SeveralWriters, AreRefusedWithTheLineThatMendsIt) {
  ReportReader reader = preset_reader("key=value");
  for (int i = 0; i < 3; ++i) {
    (void)reader.read_line(fmt::format("step={}", 100 + i), i);
    (void)reader.read_line(fmt::format("step={}", 40 + i), i + 0.5);
  }
  ASSERT_TRUE(reader.first_rejection());
  EXPECT_EQ(reader.rejected_lines(), 1U) << "told once";
  EXPECT_NE(reader.first_rejection()->detail.find("let only rank 0 print"), std::string::npos);
  EXPECT_FALSE(reader.read_line("step=104", 9.0)) << "no count is made of theirs";
}

TEST(SeveralWriters, EpochsOfFewLinesAreNone) {
  ReportReader reader = preset_reader("key=value");
  for (int epoch = 0; epoch < 20; ++epoch) {
    (void)reader.read_line(fmt::format("step={}", 40), epoch);
    (void)reader.read_line(fmt::format("step={}", 90), epoch + 0.5);
  }
  EXPECT_FALSE(reader.first_rejection());
}

}  // namespace
}  // namespace steptune
