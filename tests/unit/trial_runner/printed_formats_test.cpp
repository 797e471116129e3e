// SPDX-License-Identifier: Apache-2.0
//
// Tests formats that `key=value` reads by general rules. Each case has a few lines, and the last
// values that the reader finds in them.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "trial_runner/reports/report_reader.hpp"
#include "trial_runner/reports/text_phase.hpp"

namespace steptune {
namespace {

struct FormatCase {
  std::string name;
  std::vector<std::string> lines;
  std::optional<double> step;
  std::optional<double> samples;
  std::optional<double> loss;
  CountUnit unit = CountUnit::steps;
};

std::ostream& operator<<(std::ostream& out, const FormatCase& format) {
  return out << format.name;
}

class PrintedFormat : public testing::TestWithParam<FormatCase> {};

TEST_P(PrintedFormat, IsRead) {
  ReportFormat format;
  format.preset = "key=value";
  format.samples_per_step = std::nullopt;
  ReportReader reader = ReportReader::create(format).value();
  std::optional<double> step, samples, loss;
  double time_s = 0.0;
  for (const std::string& line : GetParam().lines) {
    const auto report = reader.read_line(line, ++time_s);
    if (!report) continue;
    if (report->step) step = report->step;
    if (report->samples) samples = report->samples;
    if (report->metrics.contains("loss")) loss = report->metrics.at("loss");
  }
  EXPECT_EQ(step, GetParam().step);
  EXPECT_EQ(samples, GetParam().samples);
  EXPECT_EQ(loss, GetParam().loss);
  EXPECT_EQ(reader.unit(), GetParam().unit);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Unambiguous, PrintedFormat, testing::Values(
  FormatCase{"Steps", {"steps: 10 loss: 4.5100 iter time (s): 0.352 samples/sec: 90.8", "steps: 20 loss: 4.4100 iter time (s): 0.352 samples/sec: 90.8"}, 20, {}, 4.41},
  FormatCase{"TrainingIteration", {"Training Iteration: 10 loss: 0.5"}, 10, {}, 0.5},
  FormatCase{"IterInBrackets", {"Iter [50/160000]  lr: 1.0e-03, eta: 1 day, 1:00:00, time: 0.352, data_time: 0.010, loss: 0.4"}, 50, {}, 0.4},
  FormatCase{"EpochOfTotal", {"Epoch: [0/100]  [2500/2502]  eta: 0:00:10 time: 0.35  data: 0.01", "Epoch: [1/100]  [ 20/2502]  eta: 1:00:00 time: 0.35  data: 0.01"}, 2522, {}, {}},
  FormatCase{"InParentheses", {"Epoch:[1/2](100/39695), loss: 7.1"}, 100, {}, 7.1},
  FormatCase{"Generation", {"generation=9 fitness=390.1", "generation=10 fitness=397.662"}, 10, {}, {}},
  FormatCase{"BoostingRound", {"[277] train-mae:0.143", "[278] train-mae:0.142", "[279] train-mae:0.141", "[280] train-mae:0.140151"}, 280, {}, {}},
  FormatCase{"Training", {"Training  [ 120/125000]  eta: 1:00:00 loss: 0.5"}, 120, {}, 0.5},
  FormatCase{"TwoFractions", {"Epoch 31/300 1000/1000 loss: 0.61 time 0.35s", "Epoch 32/300 200/1000 loss: 0.60 time 0.35s"}, 1200, {}, 0.60},
  FormatCase{"FairseqWithoutUpdates", {"| epoch 010:  2000 / 8223 loss=4.1, wps=9000"}, 2000, {}, 4.1},
  FormatCase{"EspnetsRange", {"1epoch:train:1-20batch: iter_time=0.01, forward_time=0.2, loss=85.1", "1epoch:train:21-40batch: iter_time=0.01, forward_time=0.2, loss=84.1"}, 40, {}, 84.1},
  FormatCase{"LeadingNumber", {"10 | loss 4.2 | lr 1e-3", "20 | loss 4.1 | lr 1e-3", "30 | loss 4.0 | lr 1e-3"}, 30, {}, 4.0},
  FormatCase{"Marian", {"Ep. 1 : Up. 500 : Sen. 12,345 : Cost 5.1 : Time 12.3s : 4321 words/s", "Ep. 1 : Up. 1000 : Sen. 24,690 : Cost 5.0 : Time 12.3s : 4321 words/s"}, 1000, 24690, {}},
  FormatCase{"Spacy", {"E    #       LOSS TOK2VEC  LOSS TAGGER  TAG_ACC  SCORE ", "---  ------  ------------  -----------  -------  ------", "  0       0          0.00        50.00    30.00    0.30", "  0     200         10.00      2000.00    80.00    0.80", "  0     400         12.00      1000.00    85.00    0.85"}, 400, {}, {}},
  FormatCase{"StableBaselines", {"|    iterations      | 1            |", "|    total_timesteps | 2048         |", "|    iterations      | 2            |", "|    total_timesteps | 4096         |"}, 2, 4096, {}},
  FormatCase{"RslRl", {"       Learning iteration 5/1500   ", "       Total timesteps: 98304", "       Learning iteration 6/1500   ", "       Total timesteps: 196608"}, 6, 196608, {}},
  FormatCase{"OpenNmt", {"Epoch  1, 12850/37527; acc: 40.1; ppl: 30.2; 9000 tok/s"}, 12850, {}, {}},
  FormatCase{"Epochs", {"Epoch 3/500 loss: 0.7388", "Epoch 4/500 loss: 0.7200"}, {}, 4, 0.72, CountUnit::epochs},
  FormatCase{"EpochInBrackets", {"Epoch [3/500] Loss: 0.7388", "Epoch [4/500] Loss: 0.7200"}, {}, 4, 0.72, CountUnit::epochs},
  FormatCase{"Sentences", {"Step: 1000. Mean Reward: 0.5. Training.", "Step: 2000. Mean Reward: 0.6. Training."}, 2000, {}, {}},
  FormatCase{"TwoPositions", {"[0/5][3100/3166] Loss_D: 0.6", "[1/5][100/3166] Loss_D: 0.5"}, 3266, {}, {}},
  FormatCase{"WordInBrackets", {"[proc 0][Train](100/24000) average loss: 0.5"}, 100, {}, 0.5},
  FormatCase{"EpisodeOfEpoch", {"Epoch : 1/50  episode : 9/40   Loss : 0.9"}, 9, {}, 0.9},
  FormatCase{"NumberSign", {"step#: 79    learning rate: 0.1   average loss: 8.8   steps without apparent progress: 4"}, 79, {}, 8.8},
  FormatCase{"Bars", {"|| Epoch 0 || Batch 100 || Loss || 0.8 ||", "|| Epoch 0 || Batch 200 || Loss || 0.7 ||"}, 200, {}, 0.7},
  FormatCase{"LibTorchsMnist", {"Train Epoch: 1 [    0/60000] Loss: 0.9000", "Train Epoch: 1 [57600/60000] Loss: 0.8000", "Train Epoch: 2 [  640/60000] Loss: 0.7000"}, {}, 60640, 0.7},
  FormatCase{"BatchesOfAnEpoch", {"Train Epoch: 1 [100/938] Loss: 0.8000", "Train Epoch: 2 [100/938] Loss: 0.7000"}, 1038, {}, 0.7},
  FormatCase{"JsonOfTwoLosses", {R"({"train": 0.7, "val": 0.6, "step": 10})"}, 10, {}, {}},
  FormatCase{"JsonAfterAnEvaluation", {R"({"loss": 0.6, "val": {"loss": 0.5}, "step": 20})"}, 20, {}, 0.6},
  FormatCase{"TextAfterAnEvaluation", {"train = (loss = 0.6) | test = (loss = 0.5, acc = 0.9) | step = 20"}, 20, {}, 0.6},
  FormatCase{"StepsOfEpisodes", {"Episode 1 Step 10 loss 0.9", "Episode 1 Step 20 loss 0.8", "Episode 1 Step 30 loss 0.8", "Episode 1 Step 40 loss 0.8", "Episode 1 Step 50 loss 0.8", "Episode 2 Step 10 loss 0.8", "Episode 2 Step 20 loss 0.7"}, 70, {}, 0.7},
  FormatCase{"UpdatesBesideEpisodes", {"Episode 5 global_step=2000 loss=0.8", "Episode 7 global_step=2500 loss=0.7"}, 2500, {}, 0.7},
  FormatCase{"Wav2letter", {"epoch:        1 | nupdates:         1000 | loss:   22.3"}, 1000, {}, 22.3},
  FormatCase{"Sentence", {"step number 20 took 0.3s, loss was 0.8", "step number 40 took 0.3s, loss was 0.7"}, 40, {}, 0.7},
  FormatCase{"LeadingFraction", {"epoch 1/3", "1/5, loss: 0.8", "5/5, loss: 0.7", "epoch 2/3", "1/5, loss: 0.6"}, 6, {}, 0.6},
  FormatCase{"LeadingParentheses", {"(50) loss=0.8 bpd=1.1", "(100) loss=0.7 bpd=1.0"}, 100, {}, 0.7},
  FormatCase{"CommaSeparatedValues", {"iteration,loss,lr", "0,0.8,0.1", "50,0.7,0.1"}, 50, {}, 0.7},
  FormatCase{"Episodes", {"Episode 100\tAverage Score: 2.3\tLoss: 0.8", "Episode 200\tAverage Score: 3.3\tLoss: 0.7"}, 200, {}, 0.7},
  FormatCase{"JuliasSinglePrecision", {"step = 10 | loss = 7.0f-1"}, 10, {}, 0.7},
  FormatCase{"PythonsLog", {"INFO:absl:[100] accuracy=0.1, loss=0.6", "INFO:absl:[200] accuracy=0.1, loss=0.5"}, 200, {}, 0.5},
  FormatCase{"TwoLinesOfAStep", {"Batch 200: rmse = 0.5", "Batch 200: eta = 0:01:00", "Batch 220: rmse = 0.5", "Batch 220: eta = 0:01:00", "Batch 240: rmse = 0.5", "Batch 240: eta = 0:01:00", "Batch 260: rmse = 0.5"}, 260, {}, {}},
  FormatCase{"SamplesOfAnEpoch", {"[Train Epoch: 1/20] [4600/6034 images] loss=0.8", "[Train Epoch: 2/20] [100/6034 images] loss=0.7"}, {}, 6134, 0.7},
  FormatCase{"EpochAndStepWithPercent", {"2025-01-05 16:34:49 INFO  Train:    1/3 ( 33%) [  49/323 ( 15%)]  Loss: 0.8 (0.9)", "2025-01-05 16:36:49 INFO  Train:    2/3 ( 67%) [  49/323 ( 15%)]  Loss: 0.7 (0.8)"}, 372, {}, 0.7},
  FormatCase{"TwoPositionsAfterAWord", {"INFO Train: [0/300][1200/1251]\teta 1:05:12 loss 0.8 (0.9)", "INFO Train: [1/300][100/1251]\teta 1:05:12 loss 0.7 (0.8)"}, 1351, {}, 0.7},
  FormatCase{"SamplesAndATotalOfEpochs", {"Train Epoch: 1/10 [57600/60000 (96%)]\tLoss: 0.8", "Train Epoch: 2/10 [640/60000 (1%)]\tLoss: 0.7"}, {}, 60640, 0.7},
  FormatCase{"PyTorchsQuickstart", {"Epoch 1", "loss: 0.900000  [   64/60000]", "loss: 0.800000  [57664/60000]", "Test Error: ", " Accuracy: 60.3%, Avg loss: 5.7 ", "", "Epoch 2", "loss: 0.700000  [   64/60000]"}, {}, 60064, 0.7},
  FormatCase{"UpdatesAfterABlank", {"| epoch 009 | loss 0.8 | ups 7 | num_updates 9909 | lr 3e-04", "| epoch 010 | loss 0.7 | ups 7 | num_updates 11010 | lr 3e-04"}, 11010, {}, 0.7},
  FormatCase{"TableWithANumberSign", {"# step    rmse    lr", "1000000   0.6     1e-3", "1001000   0.5     1e-3"}, 1001000, {}, {}},
  FormatCase{"PositionAfterAnEpochAndAComma", {"[train: 3, 100 / 125] FPS: 21.6 (18.0)  ,  Loss/total: 0.8", "[train: 4, 20 / 125] FPS: 21.6 (18.0)  ,  Loss/total: 0.7"}, 145, {}, {}},
  FormatCase{"RangeOfAWindow", {"INFO:root:Epoch[0] Batch [20-40]\tSpeed: 30.00 samples/sec\tacc=0.1", "INFO:root:Epoch[1] Batch [0-20]\tSpeed: 30.00 samples/sec\tacc=0.2"}, 60, {}, {}},
  FormatCase{"RangeAndPercent", {" Epoch[ 1 of 5]-Minibatch[   1-  10, 20.00%]: loss = 0.8 * 2560; time = 0.2s", " Epoch[ 1 of 5]-Minibatch[  11-  20, 40.00%]: loss = 0.7 * 2560; time = 0.2s"}, 20, {}, 0.7},
  FormatCase{"LeadingNumberWithItsPercent", {"100 (2.00%)         43.140 ms            39 s           14.86 M", "200 (4.00%)         43.241 ms            38 s           14.88 M"}, 200, {}, {}},
  FormatCase{"LeadingNumberAfterAnEpoch", {"[  0]      10 || B: 6.9 | C: 6.2 || ETA: 0:10:00 || timer: 0.290", "[  0]      20 || B: 6.6 | C: 6.0 || ETA: 0:09:00 || timer: 0.286"}, 20, {}, {}},
  FormatCase{"CommaSeparatedValuesOfADataFrame", {"loss,global_step,epoch,created_at", "0.8,49.0,0,2026-01-05 06:02:10.48", "0.7,99.0,0,2026-01-05 06:09:01.77"}, 99, {}, 0.7},
  FormatCase{"TableWithEmptyColumns", {"epoch  iteration  loss     lr     val/loss  val/acc", "0      100        2.9423   0.01", "0      200        2.4913   0.01   1.8373    0.08", "1      300        2.1398   0.01"}, 300, {}, 2.1398},
  FormatCase{"PassAndBatch", {"Pass 0, trainbatch 24, loss 6.20, acc1 0.28", "Pass 0, trainbatch 48, loss 5.49, acc1 0.04", "Pass 1, trainbatch 24, loss 4.9, acc1 0.3"}, 72, {}, 4.9},
  FormatCase{"BatchAloneInBrackets", {"Batch [50] Speed: 27814.2 samples/sec Train-accuracy=0.28", "Batch [100] Speed: 22880.4 samples/sec Train-accuracy=0.41", "[1] Train-accuracy=0.79"}, 100, {}, {}},
  FormatCase{"ListWithStepAndRate", {"INFO:voice7:Train Epoch: 1 [12%]", "INFO:voice7:[200, 0.0001]", "INFO:voice7:loss_gen=2.9, loss_mel=18.1", "INFO:voice7:[400, 9.9e-05]"}, 400, {}, {}},
  FormatCase{"ListOfLossesWithStepAndRate", {"[2.51, 3.22, 18.13, 200, 0.0002]", "[2.41, 3.12, 17.93, 400, 0.0002]"}, 400, {}, {}},
  FormatCase{"AnyWordBeforeAPositionInPercent", {"Process 0/1066(0.000000%) global average objf: -1.17 over 6400.0 frames", "Process 100/1066(9.380863%) global average objf: -0.96 over 570438.0 frames"}, 100, {}, {}},
  FormatCase{"RangeOfMinibatches", {"Average objective function for 'output' for minibatches 0-9 is -4.69 over 19450 frames.", "Average objective function for 'output' for minibatches 10-19 is -3.88 over 19450 frames."}, 19, {}, {}},
  FormatCase{"ThousandsOfImages", {"tick 0     kimg 0.1      time 1m 01s       sec/tick 7.5     sec/kimg 75.00   gpumem 8.9", "tick 1     kimg 4.2      time 2m 12s       sec/tick 70.8    sec/kimg 17.28   gpumem 8.9"}, {}, 4200, {}},
  FormatCase{"RulesAroundATableWithLists", {"| Epoch |   training time  |      Loss       |", "|   6   |1015.188065477840 | [340.0, 133.0]  |", "|   7   |1014.056095851051 | [331.2, 131.7]  |"}, {}, 7.0, {}, CountUnit::epochs},
  FormatCase{"ThreeCountersOfTesseract", {"At iteration 98/100/100, mean rms=3.6%, BCER train=55.1%, wrote checkpoint.", "At iteration 190/200/203, mean rms=3.1%, BCER train=50.2%, At iteration 150, stage 0, BCER eval=36.3", "At iteration 270/300/304, mean rms=2.9%, BCER train=44.8%, wrote checkpoint."}, 300, {}, {}},
  FormatCase{"StepsOfEnvironments", {"  Learning iteration 0/1500  ", "  Total steps: 98304 ", "  Learning iteration 1/1500  ", "  Total steps: 196608 "}, 1, 196608, {}},
  FormatCase{"CountersOfAPlan", {"start from step 1", "annealing: start from step 1500", "iteration: 4 / 2000 [lm_loss: 10.6]", "iteration: 5 / 2000 [lm_loss: 10.4]"}, 5, {}, {}},
  FormatCase{"RatesNamedAfterSteps", {"fps step: 37500 fps total: 19500 epoch: 1/1000 frames: 0", "fps step: 360710 fps total: 187569 epoch: 2/1000 frames: 65536", "fps step: 361113 fps total: 188201 epoch: 3/1000 frames: 131072"}, {}, 131072, {}},
  FormatCase{"BatchOfAllEpochs", {"Epoch 1, batch 49, global_batch_idx: 50, loss: 0.5", "Epoch 2, batch 49, global_batch_idx: 127, loss: 0.4"}, 127, {}, 0.4},
  FormatCase{"ADownloadIsNoTraining", {"Downloading 10/100 (10%) speed: 3.2", "Downloading 20/100 (20%) speed: 3.1"}, {}, {}, {}},
  FormatCase{"TableWithASignApart", {"#  step      rmse_val    rmse_trn         lr", "      0      2.5e+01    2.4e+01    1.0e-03", "    100      7.6e+00    7.7e+00    3.6e-04"}, 100, {}, {}},
  FormatCase{"RllibsResults", {"timesteps_total: 4000", "training_iteration: 1", "timesteps_total: 8000", "training_iteration: 2"}, 2, 8000, {}},
  FormatCase{"FastText", {"Progress:  0.5% words/sec/thread:  155823 lr: 0.04 loss: 2.1 ETA: 0h 0m 5s", "Progress:  1.0% words/sec/thread:  155823 lr: 0.04 loss: 2.0 ETA: 0h 0m 5s"}, {}, 1.0, 2.0, CountUnit::percent}),
  [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Ambiguous, PrintedFormat, testing::Values(
  FormatCase{"ATimeIsNoStep", {"time (ms) | forward: 10.10 | step: 1170.00", "fps step: 1048568.0"}, {}, {}, {}},
  FormatCase{"TheTotalAloneChanges", {"TRAIN Batch 0/0 loss 9.0", "TRAIN Batch 0/100 loss 8.0", "TRAIN Batch 0/200 loss 7.0", "TRAIN Batch 1/0 loss 6.0", "TRAIN Batch 1/100 loss 5.0"}, {}, {}, 5.0},
  FormatCase{"AWrappersReport", {"Training finished iteration 2 at 2024-01-01 10:00:00. Total running time: 10s", "Training finished iteration 3 at 2024-01-01 10:00:10. Total running time: 20s"}, {}, {}, {}},
  FormatCase{"Files", {"loaded 12/100 files [ok]", "loaded 13/100 files [ok]"}, {}, {}, {}},
  FormatCase{"Dates", {"05/11 12:30:00 reading", "05/12 12:31:00 reading", "2024/05/12 begin"}, {}, {}, {}},
  FormatCase{"AListOfLayers", {"0 | conv1 | Conv2d | 1.2 M", "step 1 loss 0.5", "step 2 loss 0.4"}, 2, {}, 0.4},
  FormatCase{"AListOfLayersBeforeEpochs", {"0 | model | UNet | 50.8 M", "1 | loss | Dice | 0", "2 | dice | Dice | 0", "Epoch: 1 dice: 0.5", "Epoch: 2 dice: 0.6"}, {}, 2, {}, CountUnit::epochs},
  FormatCase{"LayersOfAModel", {"(0): Linear(in_features=64, out_features=64)", "(1): Linear(in_features=64, out_features=64)", "(2): Linear(in_features=64, out_features=64)", "(3): Linear(in_features=64, out_features=64)"}, {}, {}, {}},
  FormatCase{"LengthsOfEpisodes", {"Episode 1 Steps: 20 loss 0.8", "Episode 2 Steps: 30 loss 0.7", "Episode 3 Steps: 50 loss 0.6"}, 3, {}, 0.6},
  FormatCase{"LengthsOfEpisodesThatGrowForAWhile", {"Episode 1 Step 10", "Episode 2 Step 20", "Episode 3 Step 30", "Episode 4 Step 40", "Episode 5 Step 50", "Episode 6 Step 60", "Episode 7 Step 70", "Episode 8 Step 80", "Episode 9 Step 90", "Episode 10 Step 70", "Episode 11 Step 80"}, 11, {}, {}},
  FormatCase{"ColumnsThatGrow", {"epoch,loss,correct", "1,0.8,4500", "2,0.7,7000", "3,0.6,9000"}, {}, 3, 0.6, CountUnit::epochs},
  FormatCase{"DatesBeforeALoss", {"01/12 23:59:00 loss 0.8", "02/12 00:00:00 loss 0.7", "01/12/2026 loss 0.8", "02/12/2026 loss 0.6"}, {}, {}, 0.6},
  FormatCase{"RanksBeforeEpochs", {"(0) Epoch 1 loss 0.8", "(1) Epoch 1 loss 0.8", "(0) Epoch 2 loss 0.7", "(1) Epoch 2 loss 0.6"}, {}, 2, 0.6, CountUnit::epochs},
  FormatCase{"APositionAfterTheLoss", {"Train loss 100 0.523 grad 1.2", "loss 200 0.423 grad 1.1"}, {}, {}, {}},
  FormatCase{"TheBestEpoch", {"best epoch [3] score 0.5", "best epoch [4] score 0.6"}, {}, {}, {}},
  FormatCase{"ALossOfTheDevelopmentSet", {"step 10 loss 0.5", "step 20 loss 0.4", "DEV : loss 2.0"}, 20, {}, 0.4},
  FormatCase{"ASizeNamedStep", {"step: 1170 | iteration: 1", "step: 1170 | iteration: 2", "step: 1170 | iteration: 3", "step: 1170 | iteration: 4", "step: 1170 | iteration: 5"}, 5, {}, {}},
  FormatCase{"EpochsUntilAStepComes", {"Epoch 1/3", "Epoch 2/3", "step 10 loss 0.5", "Epoch 3/3", "step 20 loss 0.4"}, 20, 2, 0.4},
  FormatCase{"EpochsBesideACounterThatGrows", {"epoch: 25, steps: 44925 - loss: 0.8", "epoch: 26, steps: 46722 - loss: 0.8", "epoch: 27, steps: 48519 - loss: 0.8", "epoch: 28, steps: 50316 - loss: 0.7"}, 50316, {}, 0.7},
  FormatCase{"ProcessesInParallel", {"Chain 1 Iteration:  100 / 5000 [  2%]", "Chain 2 Iteration:    1 / 5000 [  0%]", "Chain 2 Iteration:  100 / 5000 [  2%]", "Chain 1 Iteration:  200 / 5000 [  4%]"}, 200, {}, {}},
  FormatCase{"MicroBatchesOfAStep", {"iter 8 step 2", "iter 12 step 3", "iter 16 step 4"}, 4, {}, {}},
  FormatCase{"SamplesOfAnEpochBesideIterations", {"[Epoch 2 6400/9000][Iteration 200] Loss is 0.9.", "[Epoch 2 6464/9000][Iteration 202] Loss is 0.8.", "[Epoch 3 64/9000][Iteration 284] Loss is 0.7."}, 284, {}, 0.7},
  FormatCase{"AnOuterLoopsIterations", {"Iteration 2: Epoch 1 [100/391] loss: 0.9", "Iteration 2: Epoch 1 [200/391] loss: 0.8"}, 200, {}, 0.8},
  FormatCase{"AnEpochBeforeItsName", {"2/9 * Epoch 2 (train): loss=0.8", "2/9 * Epoch 2 (valid): loss=0.9", "3/9 * Epoch 3 (train): loss=0.7", "3/9 * Epoch 3 (valid): loss=0.9"}, {}, 3, 0.7, CountUnit::epochs},
  FormatCase{"LossesOfOtherSetsBesideTheTrainings", {"iters: 100, epoch: 1 | loss: 0.8", "iters: 200, epoch: 1 | loss: 0.7", "Epoch: 1, Steps: 225 | Train Loss: 0.8 Vali Loss: 0.9 Test Loss: 1.1", "train loss 0.8, validation loss 0.9"}, 200, {}, 0.7},
  FormatCase{"SeveralCountsUnderOneName", {"[Learner] Actor Steps = 800 | Learner Steps = 2 | Loss = 0.8", "[Learner] Actor Steps = 1600 | Learner Steps = 3 | Loss = 0.7"}, {}, {}, 0.7},
  FormatCase{"OneCountUnderTwoNames", {"step 250: val loss 2.2", "iter 250: loss 2.1", "iter 260: loss 2.0"}, 260, {}, 2.0}),
  [](const auto& tested) { return tested.param.name; });
// clang-format on

/// Returns the metrics that `key=value` reads from a line.
std::map<std::string, double> metrics_in(const std::string& line) {
  ReportFormat format;
  format.preset = "key=value";
  ReportReader reader = ReportReader::create(format).value();
  const auto report = reader.read_line(line, 1.0);
  return report ? report->metrics : std::map<std::string, double>();
}

TEST(PrintedEvaluations, AreKeptApart) {
  using testing::Pair;
  using testing::UnorderedElementsAre;
  EXPECT_THAT(metrics_in("Epoch 3: testing psnr 28.5"),
              UnorderedElementsAre(Pair("test_psnr", 28.5), Pair("test_epoch", 3.0)));
  EXPECT_THAT(metrics_in("train = (loss = 0.4f0) | test = (loss = 0.5f0)"),
              UnorderedElementsAre(Pair("loss", 0.4), Pair("test_loss", 0.5)));
  EXPECT_THAT(metrics_in(R"({"train": {"loss": 0.4}, "val": {"loss": 0.5}})"),
              UnorderedElementsAre(Pair("loss", 0.4), Pair("val_loss", 0.5)));
}

/// Returns the steps after these bars of tqdm.
std::optional<double> steps_of_bars(const std::vector<std::string>& bars) {
  ReportFormat format;
  format.preset = "tqdm";
  ReportReader reader = ReportReader::create(format).value();
  std::optional<double> step;
  for (const std::string& bar : bars) {
    const auto report = reader.read_line(bar, 1.0);
    if (report && report->step) step = report->step;
  }
  return step;
}

TEST(PrintedBars, EachDrawOfABarThatIsOnlyDrawnWhenFullIsAnEpoch) {
  const std::string full = "100%|##########| 469/469 [00:15<00:00, 31.2it/s]";
  EXPECT_EQ(steps_of_bars({full}), 469.0);
  EXPECT_EQ(steps_of_bars({full, full}), 938.0);
  const std::string begun = "  1%|          | 5/469 [00:01<00:15, 31.2it/s]";
  EXPECT_EQ(steps_of_bars({begun, full, full}), 469.0) << "a full bar may be drawn again";
}

TEST(PrintedTables, CellsWithoutAFiniteNumberAreNoMetrics) {
  using testing::ElementsAre;
  using testing::Pair;
  ReportFormat format;
  format.preset = "key=value";
  ReportReader reader = ReportReader::create(format).value();
  (void)reader.read_line("epoch  step  loss  val_loss  elapsed", 1.0);
  auto report = reader.read_line("    1    10   nan         -    00:12", 2.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, 10.0);
  EXPECT_THAT(report->metrics, ElementsAre(Pair("epoch", 1.0)));
  EXPECT_THAT(report->not_finite, ElementsAre("loss"));
  report = reader.read_line("    1    20   0.5      -inf  0:00:24", 3.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, 20.0);
  EXPECT_THAT(report->metrics, ElementsAre(Pair("epoch", 1.0), Pair("loss", 0.5)));
  EXPECT_THAT(report->not_finite, ElementsAre("val_loss"));
  // A row for each name.
  report = reader.read_line("|    loss     | nan       |", 4.0);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->metrics, ElementsAre(Pair("epoch", 1.0)));
  EXPECT_THAT(report->not_finite, ElementsAre("loss", "val_loss"));
  EXPECT_FALSE(reader.read_line("|    entropy  | -         |", 5.0));
}

/// Phases that some lines report, and the loss in the last report.
struct Phases {
  std::vector<std::string> names;
  double loss = 0.0;
};
Phases phases_of(const std::vector<std::string>& lines) {
  ReportFormat format;
  format.preset = "key=value";
  ReportReader reader = ReportReader::create(format).value();
  Phases phases;
  double time_s = 0.0;
  for (const char* line : {"step: 10 loss: 0.5", "step: 20 loss: 0.5"})
    (void)reader.read_line(line, ++time_s);
  for (const std::string& line : lines) {
    time_s += 30.0;
    const auto report = reader.read_line(line, time_s);
    if (!report) continue;
    phases.loss = report->metrics.at("loss");
    if (report->phase) {
      phases.names.push_back(report->phase->name + (report->phase->seconds ? " ends" : " begins"));
    }
  }
  return phases;
}

TEST(EvaluationsByText, HaveNamesWithTheirMetrics) {
  for (const char* name : {"val", "valid", "validation_loss", "test-rmse", "valid_0", "valloss",
                           "testing", "evaluate", "dev_loss", "loss_val", "eval/loss"})
    EXPECT_TRUE(is_evaluation_name(name)) << name;
  for (const char* name : {"value_loss", "train_loss", "device", "std_dev", "latest", "interval"})
    EXPECT_FALSE(is_evaluation_name(name)) << name;
}

TEST(EvaluationsByText, ArePhasesAndKeepTheLoss) {
  using testing::ElementsAre;
  struct Case {
    std::vector<std::string> lines;
    std::vector<std::string> phases;
  };
  const std::vector<Case> cases{
      {{"Computing validation loss", "validate step: 20 loss: 7.1"},
       {"evaluation begins", "evaluation ends"}},
      {{"Inference done 11/50. Dataloading: 0.001 s/iter. ETA=0:00:05",
        "Inference done 50/50. Dataloading: 0.001 s/iter. ETA=0:00:00"},
       {"evaluation begins", "evaluation ends"}},
      {{"eval model:  40%|####      | 4/10 [00:04<00:06,  1.00s/it]",
        "eval model: 100%|##########| 10/10 [00:10<00:00,  1.00s/it]"},
       {"evaluation begins", "evaluation ends"}},
      {{"[Eval batch=1/20]: loss 0.3", "[Eval batch=20/20]: loss 0.3"},
       {"evaluation begins", "evaluation ends"}},
      {{"[ITER 7000] Evaluating test: L1 0.03"}, {"evaluation ends"}},
      {{"validate step: 40 loss: 7.1"}, {"evaluation ends"}},
      {{"[val] step 40 | loss 0.61"}, {"evaluation ends"}},
      {{"2024-05-01 12:00:00 | INFO | val: loss 0.61"}, {"evaluation ends"}},
      {{"[2025-01-05 10:00:00 swin_tiny] (main.py 240): INFO Test: [90/98] Loss 7.1 (7.0)"},
       {"test begins"}},
      {{"model eval epoch: 1, loss: 7.1, accuracy: 98"}, {"evaluation ends"}},
      {{"Test Error: ", " Accuracy: 60.3%, Avg loss: 7.1"}, {"test ends"}},
      {{"   test:", " step: 30 loss: 0.5"}, {}},
      {{"step 30/9000 loss: 0.5", "[30/9000] valid loss: 7.1"}, {"evaluation ends"}},
      {{"2020-12-30 06:13:41 INFO: END valid top1: 0.01 loss: 7.1"}, {"evaluation ends"}},
      {{" --> EVAL PERFORMANCE", "     | > loss: 7.1"}, {"evaluation ends"}},
      {{"I Validation of Epoch 0 - loss: 7.1"}, {"evaluation ends"}},
      {{"[HUGECTR][01:09:11][INFO][RANK0]: Evaluation, AUC: 0.74"}, {"evaluation ends"}}};
  for (const Case& given : cases) {
    const Phases phases = phases_of(given.lines);
    EXPECT_THAT(phases.names, testing::ElementsAreArray(given.phases)) << given.lines[0];
    EXPECT_EQ(phases.loss, 0.5) << given.lines[0];
  }
}

TEST(EvaluationsByText, ASectionOfALineNamesItsMetrics) {
  ReportFormat format;
  format.preset = "key=value";
  ReportReader reader = ReportReader::create(format).value();
  const auto report = reader.read_line("step 7 | train: loss 0.4 | val: loss 0.6", 1.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, 7.0);
  EXPECT_EQ(report->metrics, (std::map<std::string, double>{{"loss", 0.4}, {"val_loss", 0.6}}));
}

TEST(EvaluationsByText, ATrainLossIsOfTheTrainingInAnySection) {
  ReportFormat format;
  format.preset = "key=value";
  ReportReader reader = ReportReader::create(format).value();
  const auto report =
      reader.read_line("Epoch 5 (train)0.8s + (eval)0.4s: train loss = 0.2, recall = 0.3", 1.0);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->metrics, (std::map<std::string, double>{
                                 {"epoch", 5.0}, {"eval_recall", 0.3}, {"train_loss", 0.2}}));
}

}  // namespace
}  // namespace steptune
