// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/study_guess.hpp"

#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "tuner/init/help_text.hpp"
#include "tuner/init/overrides.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

const char* const k_help = R"(usage: train.py [-h]

options:
  -h, --help            show this help message and exit
  --epochs N            passes (default: 90)
  --num-samples N       samples of the data (default: 50000)
  --batch-size N        samples of a step (default: 32)
  --accumulate N        batches of a step (default: 1)
  --workers N           data loading workers (default: 0)
  --prefetch N          batches per worker (default: 2)
  --precision {fp32,bf16,fp16}
                        arithmetic (default: fp32)
  --channels-last       layout
  --threads N           of one operation
  --eval-batch-size N   samples (default: 64)
)";

GuessInput input_of(const std::string& help, std::vector<std::string> argv) {
  GuessInput input;
  input.name = "demo";
  input.program.argv = std::move(argv);
  input.program.options = parse_help(help).options;
  input.machine = {{"cpus", 8.0}, {"gpus", 0.0}, {"memory_gb", 31.0}};
  return input;
}

StudyGuess must_guess(const GuessInput& input) {
  auto guess = guess_study(input);
  if (!guess) throw std::runtime_error(guess.error().text());
  return *std::move(guess);
}

StudySpec must_study(const StudyGuess& guess, const GuessInput& input,
                     const std::filesystem::path& folder = "/tmp") {
  auto study = study_from_json(guess.document, folder / "demo.study.json", input.machine);
  if (!study) throw std::runtime_error(study.error().text() + study_text(guess.document));
  return *std::move(study);
}

/// Returns the reading of a program that reports samples.
OutputReading reading_of(double samples_per_step) {
  OutputReading reading;
  reading.format = {"preset tqdm", Json("tqdm"), {}};
  reading.progress = 3;
  reading.samples_per_step = samples_per_step;
  reading.metrics = {{"loss", 1}};
  return reading;
}

TEST(StudyGuess, PlansStepsOfABatchSizeThatIsNotVaried) {
  // tqdm counts steps, and without a loss the batch may not change.
  GuessInput input = input_of(k_help, {"python3", "train.py", "--batch-size", "128"});
  input.reading = OutputReading{};
  input.reading->format = {"preset tqdm", Json("tqdm"), {}};
  input.reading->progress = 3;
  const StudyGuess guess = must_guess(input);
  ASSERT_FALSE(guess.document["parameters"].contains("batch_size"));
  EXPECT_EQ(guess.document["planned_run"], Json({{"batch_size", 128}, {"samples", 4'500'000}}))
      << "90 epochs of 50 000 samples";
  input.program.argv.insert(input.program.argv.end(), {"--accumulate", "4"});
  EXPECT_FALSE(must_guess(input).document.contains("planned_run"))
      << "with accumulation, it is unknown if the program counts batches or optimizer steps";
  input.reading->reports_samples = true;
  EXPECT_EQ(must_guess(input).document["planned_run"], Json({{"samples", 4'500'000}}));
}

TEST(StudyGuess, CountsStepsOfUnknownSize) {
  GuessInput input = input_of(k_help, {"python3", "train.py", "--accumulate", "4"});
  input.reading = OutputReading{};
  input.reading->format = {"preset tqdm", Json("tqdm"), {}};
  input.reading->progress = 3;
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["unit"], "steps");
  EXPECT_THAT(guess.notes, Contains(HasSubstr("times are per million steps")));
  input.reading->reports_samples = true;
  EXPECT_FALSE(must_guess(input).document.contains("unit"));
}

TEST(StudyGuess, MayPlanInEpochsOrPercent) {
  GuessInput input = input_of(k_help, {"python3", "train.py", "--batch-size", "128"});
  input.reading = OutputReading{};
  input.reading->format = {"preset key=value", Json("key=value"), {}};
  input.reading->metrics = {{"loss", 1}};
  input.reading->reports_samples = true;
  input.reading->unit = CountUnit::epochs;
  const StudyGuess epochs = must_guess(input);
  EXPECT_EQ(epochs.document["planned_run"], Json({{"samples", 90}}));
  EXPECT_EQ(epochs.document["unit"], "epochs");
  EXPECT_THAT(epochs.notes, Contains(HasSubstr("planned run of 90 epochs: --epochs 90")));
  EXPECT_LE(epochs.document["guards"][0]["after_samples"], 90);
  input.program.argv.insert(input.program.argv.end(), {"--epochs", "0.3"});
  EXPECT_EQ(must_guess(input).document["planned_run"], Json({{"samples", 1}}))
      << "a study file has at least one";
  input.reading->unit = CountUnit::percent;
  EXPECT_EQ(must_guess(input).document["planned_run"], Json({{"samples", 100}}));
}

TEST(StudyGuess, TheGuardIsOnTheTotalLossAndNoPartOfIt) {
  GuessInput input = input_of(k_help, {"python3", "train.py"});
  input.reading = reading_of(32.0);
  input.reading->metrics = {{"total_loss", 1}, {"iou_loss", 1}, {"val_loss", 1}};
  EXPECT_EQ(must_guess(input).document["guards"][0]["metric"], "total_loss");
  input.reading->metrics = {{"reduced_train_loss", 1}, {"val_loss", 1}};
  EXPECT_EQ(must_guess(input).document["guards"][0]["metric"], "reduced_train_loss");
  input.reading->metrics = {{"iou_loss", 1}, {"box_loss", 1}};
  EXPECT_FALSE(must_guess(input).document.contains("guards"));
}

TEST(StudyGuess, IgnoresUnrelatedOptionsInThePlan) {
  const std::string help = "  --diffusion.num-steps N  (default: 1000)\n";
  GuessInput input =
      input_of(k_help + help, {"python3", "train.py", "--diffusion.num-steps", "500"});
  input.reading = reading_of(32.0);
  EXPECT_THAT(must_guess(input).notes, Contains(HasSubstr("--epochs 90")));
}

TEST(StudyGuess, PrefersTheCommandToADefaultInThePlan) {
  const std::string steps = "  --max-steps N         (default: 100000)\n";
  GuessInput input = input_of(k_help + steps, {"python3", "train.py", "--epochs", "3"});
  input.reading = reading_of(32.0);
  EXPECT_EQ(must_guess(input).document["planned_run"]["samples"], 150'000);
  input.program.argv = {"python3", "train.py"};
  EXPECT_FALSE(must_guess(input).document["planned_run"].contains("samples"))
      << "it is unknown which of two defaults ends the run";
  ProgramOption setting;
  setting.name = "trainer.max_epochs";
  setting.default_value = "7";
  input.program.configs.push_back({"c.yaml", {setting}, {}});
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["planned_run"]["samples"], 350'000);
  EXPECT_THAT(guess.notes, Contains(HasSubstr("trainer.max_epochs 7 (c.yaml) of --num-samples")));
}

TEST(StudyGuess, KeepsLearningSettingsWithoutALoss) {
  GuessInput input = input_of(k_help, {"python3", "train.py"});
  const StudyGuess unguarded = must_guess(input);
  EXPECT_FALSE(unguarded.document["parameters"].contains("batch_size"));
  EXPECT_FALSE(unguarded.document["parameters"].contains("precision"));
  EXPECT_TRUE(unguarded.document["parameters"].contains("workers"));
  EXPECT_THAT(unguarded.left_out, Contains(HasSubstr("--precision: it changes what is learnt")));
  // With accumulation, the samples of an optimizer step stay the same, so the batch needs no guard.
  input.reading = reading_of(32.0);
  input.reading->metrics.clear();
  const StudyGuess held = must_guess(input);
  EXPECT_TRUE(held.document["parameters"].contains("batch_size"));
  EXPECT_FALSE(held.document["parameters"].contains("precision"));
  EXPECT_FALSE(held.document.contains("guards"));
  // A metric that a trainer is known to print can be a guard, like one that was seen.
  ReadySpace space;
  space.title = "Trainer";
  space.reports = {{"metrics", {{{"name", "train_loss"}, {"regex", "loss ([0-9.]+)"}}}}};
  input.space = &space;
  EXPECT_EQ(known_loss(input), "train_loss");
}

TEST(StudyGuess, PutsOptionsBehindTheScriptThatALauncherRuns) {
  GuessInput input = input_of(k_help, {"uv", "run", "--", "python3", "train.py", "--", "data"});
  const StudySpec study = must_study(must_guess(input), input);
  EXPECT_THAT(
      render_command(study, study.baseline).argv,
      ElementsAre("uv", "run", "--", "python3", "train.py", "--workers", "0", "--", "data"));
}

/// Declares `--amp` by argparse's `type=bool`, for which `False` is true.
GuessInput input_with_bool(std::vector<std::string> argv, const std::string& default_value) {
  GuessInput input = input_of(
      "usage: train.py\n  --amp AMP      mixed\n  --workers N  (default: 2)\n", std::move(argv));
  ProgramOption declared;
  declared.name = "--amp";
  declared.form = OptionForm::any_text;
  declared.kind = OptionKind::boolean;
  declared.default_value = default_value;
  declared.default_from = "train.py";
  input.program.options = merged_options(std::move(input.program.options), {declared});
  input.reading = reading_of(32.0);
  return input;
}

TEST(StudyGuess, FalseOmitsOptionsThatReadAnyTextAsTrue) {
  const GuessInput off = input_with_bool({"python3", "train.py"}, "False");
  const StudySpec study = must_study(must_guess(off), off);
  EXPECT_EQ(*study.baseline.find("amp"), Value(false));
  EXPECT_THAT(render_command(study, study.baseline).argv,
              ElementsAre("python3", "train.py", "--workers", "2"));
  Configuration on = study.baseline;
  on.set("amp", true);
  EXPECT_THAT(render_command(study, on).argv,
              ElementsAre("python3", "train.py", "--amp", "True", "--workers", "2"));
  const GuessInput typed = input_with_bool({"python3", "train.py", "--amp", "False"}, "False");
  EXPECT_EQ(must_guess(typed).document["baseline"]["amp"], true)
      << "the value as the program parses it";
  const GuessInput always = input_with_bool({"python3", "train.py"}, "True");
  EXPECT_THAT(must_guess(always).left_out, Contains(HasSubstr("--amp: it cannot be switched off")));
}

TEST(StudyGuess, OmitsFalseOptionsOfUnknownSpelling) {
  GuessInput input = input_of(
      "usage: train.py\n  --amp AMP      mixed (default: False)\n  --workers N  (default: 2)\n",
      {"python3", "train.py"});
  input.reading = reading_of(32.0);
  const StudySpec study = must_study(must_guess(input), input);
  EXPECT_EQ(*study.baseline.find("amp"), Value(false));
  EXPECT_THAT(render_command(study, study.baseline).argv,
              ElementsAre("python3", "train.py", "--workers", "2"));
}

TEST(StudyGuess, NoneIsAnUnknownDefault) {
  GuessInput input = input_of(
      "usage: train.py\n  --precision {fp32,bf16}  arithmetic (default: None)\n"
      "  --workers N  (default: None)\n  --threads N  (default: 2)\n",
      {"python3", "train.py"});
  input.reading = reading_of(32.0);
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["parameters"].size(), 1U) << guess.document;
  EXPECT_THAT(guess.left_out, Contains(HasSubstr("--precision: its default is unknown; write")));
  EXPECT_THAT(guess.left_out, Contains(HasSubstr("--workers: its default is unknown; write")));
}

TEST(StudyGuess, LeavesNumbersThatTheProgramChooses) {
  const GuessInput input = input_of(
      "usage: x\n  --workers N  (default: -1)\n  --threads N  (default: all)\n"
      "  --channels-last  layout\n",
      {"x"});
  const StudyGuess guess = must_guess(input);
  EXPECT_THAT(guess.left_out,
              ElementsAre("--workers: \"-1\" is not a whole number of at least 0",
                          "--threads: \"all\" is not a whole number of at least 0"));
  EXPECT_EQ(must_study(guess, input).baseline.text(), "channels_last=false");
}

TEST(StudyGuess, LeavesSeveralBatchSizesToTheUser) {
  GuessInput input = input_of(
      "usage: x\n  --global-batch-size N  (default: 64)\n  --micro-batch-size N  (default: 8)\n"
      "  --train-batch-size N  (default: 64)\n  --workers N  (default: 2)\n",
      {"x"});
  input.reading = reading_of(64.0);
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["parameters"].size(), 1U) << guess.document;
  EXPECT_THAT(guess.left_out,
              Contains(HasSubstr("--micro-batch-size: one of several batch sizes")));
}

TEST(StudyGuess, VariesTheMicroBatchWhileTheGlobalBatchStays) {
  const std::string help =
      "usage: x\n  --global-batch-size N  (default: 64)\n  --micro-batch-size N  (default: 4)\n";
  GuessInput input = input_of(help, {"x", "--micro-batch-size=8"});
  // No loss is needed, since the micro-batch does not change what is learnt.
  const StudyGuess guess = must_guess(input);
  // The program may count micro-batches, so that smaller ones would look faster.
  EXPECT_EQ(guess.document["parameters"], Json::parse(R"({"micro_batch_size":
                {"type": "int", "low": 8, "high": 64, "scale": "log2", "memory": "increases"}})"));
  EXPECT_EQ(guess.document["planned_run"]["batch_size"], 64);
  EXPECT_EQ(guess.document["constraints"], Json::array({"64 % micro_batch_size == 0"}));
  EXPECT_FALSE(guess.document.contains("guards"));
  EXPECT_THAT(guess.left_out, IsEmpty());
  must_study(guess, input);

  input.reading = reading_of(64.0);
  EXPECT_EQ(must_guess(input).document["parameters"]["micro_batch_size"]["low"], 2);
  input.same_training = true;
  EXPECT_TRUE(must_guess(input).document["parameters"].contains("micro_batch_size"));
}

TEST(StudyGuess, AnAccumulationMakesTheGlobalBatchOfMicroBatches) {
  GuessInput input = input_of(
      "usage: x\n  --gradient-accumulation-steps N  (default: 8)\n"
      "  --global-batch-size N  (default: 64)\n  --micro-batch-size N  (default: 4)\n"
      "  --workers N  (default: 2)\n",
      {"x"});
  EXPECT_THAT(must_guess(input).left_out,
              Contains(HasSubstr("--micro-batch-size: --global-batch-size fixes the samples")));
  input.reading = reading_of(64.0);
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["constraints"],
            Json::array({"micro_batch_size * gradient_accumulation_steps == 32"}));
  EXPECT_EQ(guess.document["planned_run"]["batch_size"],
            "micro_batch_size * gradient_accumulation_steps * 2");
}

TEST(StudyGuess, TakesNoValueOfAnEvaluationForTheTraining) {
  std::vector<ProgramOption> settings(3);
  settings[0].name = "eval.batch_size";
  settings[0].default_value = "256";
  settings[1].name = "train.batch_size";
  settings[1].default_value = "32";
  settings[2].name = "other.workers";
  settings[2].default_value = "1";
  ASSERT_NE(find_option(settings, "batch_size"), nullptr);
  EXPECT_EQ(find_option(settings, "batch_size")->default_value, "32");
  settings.push_back(settings[2]);
  settings[3].name = "data.workers";
  EXPECT_NE(find_option(settings, "workers"), nullptr);
  settings[3].default_value = "4";
  EXPECT_EQ(find_option(settings, "workers"), nullptr);
}

TEST(StudyGuess, AnInterruptionEndsTheCountOfFiles) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "pictures";
  std::filesystem::create_directories(folder);
  for (int i = 0; i < 600; ++i)
    std::ofstream(folder / (std::to_string(i) + ".jpg")) << "x";
  GuessInput input = input_of(
      "usage: x\n  --data DIR  (default: pictures)\n  --epochs N  (default: 2)\n"
      "  --workers N  (default: 2)\n",
      {"x"});
  input.folder = testing::TempDir();
  EXPECT_EQ(must_guess(input).document["planned_run"]["samples"], 1200)
      << "600 pictures, two epochs";
  int asked = 0;
  input.interrupted = [&asked] { return ++asked > 0; };
  EXPECT_FALSE(must_guess(input).document.contains("planned_run"));
  EXPECT_EQ(asked, 1);
}

TEST(StudyGuess, LeavesOptionsOfAnotherUseOfTheProgram) {
  const std::string help =
      "Usage: x [OPTIONS]\n\nOptions:\n  -h,--help            Print this help message and exit\n"
      "  --epochs FLOAT=3     passes\n"
      "  --generate TEXT      write pictures and end\n"
      "  --images INT=1000 Needs: --generate\n                       how many\n"
      "  --workers INT=2      that read\n"
      "  --threads INT=1 Needs: --generate\n                       that write\n";
  const StudyGuess guess = must_guess(input_of(help, {"x"}));
  EXPECT_FALSE(guess.document.contains("planned_run")) << guess.document;
  EXPECT_FALSE(guess.document["parameters"].contains("threads"));
  EXPECT_THAT(guess.left_out,
              Contains("--threads: it needs --generate, which the command does not give"));
  const StudyGuess given = must_guess(input_of(help, {"x", "--generate", "pictures"}));
  EXPECT_EQ(given.document["planned_run"]["samples"], 3000);
  EXPECT_TRUE(given.document["parameters"].contains("threads"));
}

TEST(StudyGuess, NotesTheRangesThatItWrites) {
  GuessInput input = input_of(k_help, {"python3", "train.py"});
  input.reading = reading_of(32.0);
  const StudyGuess guess = must_guess(input);
  std::map<std::string, std::string> ranges;
  for (const GuessedKnob& knob : guess.tuned)
    ranges[knob.parameter] = knob.range;
  // A step keeps 32 samples, so no factor of it is larger.
  EXPECT_EQ(guess.document["parameters"]["batch_size"]["high"], 32);
  EXPECT_EQ(ranges.at("batch_size"), "8..32");
  EXPECT_EQ(ranges.at("accumulate"), "1..32");
  GuessInput tokens = input_of("usage: x\n  --batch-size N  tokens (default: 524288)\n", {"x"});
  tokens.reading = reading_of(524'288.0);
  EXPECT_EQ(must_guess(tokens).tuned.at(0).range, "131072..4194304");
}

TEST(StudyGuess, KeepsAccumulationIfStepsMayBeMicroSteps) {
  GuessInput steps_only = input_of(k_help, {"python3", "train.py"});
  steps_only.reading = reading_of(32.0);
  steps_only.reading->samples_per_step.reset();
  const StudyGuess guess = must_guess(steps_only);
  EXPECT_FALSE(guess.document["parameters"].contains("accumulate"));
  EXPECT_THAT(guess.left_out, Contains(HasSubstr("--accumulate: its output reports no samples")));
  GuessInput alone = input_of(
      "usage: x\n\noptions:\n  --accumulate N  batches of a step (default: 1)\n"
      "  --workers N     loaders (default: 0)\n",
      {"x"});
  alone.reading = reading_of(32.0);
  EXPECT_THAT(must_guess(alone).left_out, Contains(HasSubstr("--accumulate: no batch size")));
}

TEST(StudyGuess, AnAccumulationOfZeroIsNotVaried) {
  GuessInput input = input_of(k_help, {"python3", "train.py", "--accumulate", "0"});
  input.reading = reading_of(32.0);
  const StudyGuess guess = must_guess(input);
  EXPECT_THAT(guess.left_out, Contains("--accumulate: \"0\" is not a whole number of at least 1"));
  EXPECT_EQ(must_study(guess, input).space.find("batch_size")->high, 256.0);
  EXPECT_TRUE(guess.document.contains("guards")) << "the batch size changes what is learnt";
}

TEST(StudyGuess, VariesKnownSettingsFromTheirDefaults) {
  GuessInput input = input_of(k_help, {"python3", "train.py", "--workers", "2", "data{x}"});
  input.reading = reading_of(32.0);
  const StudyGuess guess = must_guess(input);
  const StudySpec study = must_study(guess, input);
  EXPECT_EQ(study.baseline.text(),
            "accumulate=1 batch_size=32 channels_last=false precision=fp32 prefetch=2 workers=2");
  EXPECT_THAT(render_command(study, study.baseline).argv,
              ElementsAre("python3", "train.py", "data{x}", "--batch-size", "32", "--accumulate",
                          "1", "--workers", "2", "--precision", "fp32", "--prefetch", "2"));
  // A machine without a GPU gets no fp16. Options of evaluations are not tuned.
  EXPECT_EQ(study.space.find("precision")->choices.size(), 2U);
  EXPECT_EQ(study.space.find("eval_batch_size"), nullptr);
  EXPECT_EQ(study.space.find("prefetch")->when, "workers > 0");
  EXPECT_EQ(guess.document["parameters"]["batch_size"]["memory"], "increases");
  EXPECT_EQ(guess.document["constraints"], Json::array({"batch_size * accumulate == 32"}));
  EXPECT_EQ(study.planned_run.samples, 90.0 * 50000.0);
  EXPECT_EQ(study.planned_run.batch_size->text(), "batch_size * accumulate");
  EXPECT_EQ(study.measure.buffers->text(), "workers * prefetch");
  EXPECT_THAT(guess.left_out, Contains("--threads: its default is unknown; write --threads VALUE "
                                       "into the command"));
}

TEST(StudyGuess, TakesTodayFromTheFileThatTheCommandNames) {
  GuessInput input = input_of(k_help, {"python3", "train.py", "--config", "c.yaml"});
  NamedConfig config{"c.yaml", {}, {}};
  ProgramOption setting;
  setting.name = "train.batch_size";
  setting.default_value = "128";
  config.settings.push_back(setting);
  input.reading = reading_of(128.0);
  input.program.configs.push_back(config);
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["baseline"]["batch_size"], 128);
  EXPECT_THAT(guess.comments.at("/parameters/batch_size"), HasSubstr("128 is from c.yaml"));
}

TEST(StudyGuess, IgnoresUnrelatedSettingsInThePlan) {
  GuessInput input = input_of(k_help, {"python3", "train.py", "--config", "c.yaml"});
  input.reading = reading_of(128.0);
  ProgramOption setting;
  setting.name = "diffusion.num_steps";
  setting.default_value = "1000";
  input.program.configs.push_back({"c.yaml", {setting}, {}});
  EXPECT_THAT(must_guess(input).notes, ::testing::Not(Contains(HasSubstr("diffusion"))));
  input.program.configs.back().settings.back().name = "trainer.max_steps";
  const StudyGuess planned = must_guess(input);
  EXPECT_TRUE(planned.document["planned_run"].contains("samples"));
  EXPECT_THAT(planned.notes, Contains(HasSubstr("trainer.max_steps 1000 (c.yaml)")));
}

/// The guess for `deepspeed train.py --deepspeed_config ds.json`, with that file in a temporary
/// folder.
class DeepSpeedGuess : public testing::Test {
 protected:
  DeepSpeedGuess()
      : space_(read_ready_space(std::filesystem::path(STEPTUNE_SOURCE_DIR) /
                                "configs/spaces/deepspeed.json")
                   .value()) {}

  GuessInput input_of_config(const std::string& config) {
    folder_.write("conf/ds.json", config);
    GuessInput input;
    input.name = "demo";
    input.program.argv = {"deepspeed", "train.py", "--deepspeed_config", "conf/ds.json"};
    input.program.configs = configs_of(input.program.argv, folder_.path());
    input.space = space_by_facts({space_}, input.program) == nullptr ? nullptr : &space_;
    input.reading = reading_of(64.0);
    input.machine = {{"cpus", 8.0}, {"gpus", 4.0}, {"memory_gb", 31.0}};
    return input;
  }

  TemporaryFolder folder_{"deepspeed"};
  ReadySpace space_;
};

TEST_F(DeepSpeedGuess, VariesTheSettingsOfTheFile) {
  const GuessInput input = input_of_config(
      R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 8,
          "gradient_accumulation_steps": 2, "bf16": {"enabled": false},
          "zero_optimization": {"stage": 1, "overlap_comm": "auto"}})");
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["command"],
            Json::array({"deepspeed", "train.py", "--deepspeed_config", "{ds}"}));
  EXPECT_EQ(guess.document["config_files"],
            Json::parse(R"({"ds": {"file": "conf/ds.json", "edits": {
                "train_micro_batch_size_per_gpu": "{micro_batch}",
                "gradient_accumulation_steps": "{accumulation}",
                "bf16.enabled": "{bf16}", "zero_optimization.stage": "{zero_stage}"}}})"));
  EXPECT_EQ(guess.document["constraints"], Json::array({"micro_batch * accumulation == 16"}));
  EXPECT_EQ(guess.document["planned_run"]["batch_size"], "micro_batch * accumulation * 4");
  EXPECT_THAT(guess.left_out, ElementsAre(HasSubstr("overlap_comm: \"auto\" in conf/ds.json")));
  EXPECT_EQ(guess.comments.at("/parameters/zero_stage"),
            "zero_optimization.stage in conf/ds.json; 1 is from conf/ds.json");
  const auto study =
      study_from_json(guess.document, folder_.path() / "demo.study.json", input.machine);
  ASSERT_TRUE(study) << study.error().text();
  EXPECT_EQ(study->baseline.text(), "accumulation=2 bf16=false micro_batch=8 zero_stage=1");
}

TEST_F(DeepSpeedGuess, KeepsSettingsThatTheFileForbidsToChange) {
  const StudyGuess guess = must_guess(input_of_config(
      R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 8, "fp16": {"enabled": true},
          "bf16": {"enabled": false}, "zero_optimization": {"stage": 1}})"));
  EXPECT_EQ(guess.document["parameters"].size(), 1U) << guess.document;
  EXPECT_THAT(guess.left_out, Contains(HasSubstr("train_batch_size fixes the samples of a step")));
  EXPECT_THAT(guess.left_out, Contains("bf16.enabled: fp16.enabled is on"));
  EXPECT_THAT(
      guess.left_out,
      Contains(HasSubstr("gradient_accumulation_steps: the configuration file has no value")));
}

TEST_F(DeepSpeedGuess, SettingsInOtherFilesAreKnownByTheirNames) {
  folder_.write("train.yaml",
                "size: &n 2\nthreads: &m 4\ndata:\n  workers: 2\n  name: x\neval:\n  workers: "
                "1\nmodel:\n  compile: no\n"
                "train:\n  batch_size: 32\n");
  GuessInput input =
      input_of("usage: x\n  --batch-size N  samples (default: 16)\n", {"x", "--config=train.yaml"});
  input.program.configs = configs_of(input.program.argv, folder_.path());
  input.reading = reading_of(32.0);
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["config_files"]["train"]["edits"],
            Json({{"data.workers", "{workers}"}, {"model.compile", "{compile}"}}));
  // The command line has an option with that name.
  EXPECT_EQ(guess.document["command"],
            Json::array({"x", "--config={train}", "--batch-size", "{batch_size}"}));
}

/// Returns a program whose settings are in `x.yaml`, with no known options.
GuessInput input_of_file(const TemporaryFolder& folder, std::vector<std::string> argv) {
  GuessInput input;
  input.name = "demo";
  input.program.argv = std::move(argv);
  input.program.configs = configs_of(input.program.argv, folder.path());
  input.program.options = with_overrides({}, input.program);
  input.reading = reading_of(32.0);
  input.machine = {{"cpus", 8.0}, {"gpus", 0.0}, {"memory_gb", 31.0}};
  return input;
}

TEST(StudyGuess, EditsAnOverrideInPlace) {
  TemporaryFolder folder{"overrides"};
  folder.write("x.yaml",
               "model:\n  train_ds:\n    batch_size: 16\n    num_workers: 2\n  compile: false\n");
  const auto command_of = [&](const std::vector<std::string>& words) {
    std::vector<std::string> argv{"train.py", "--config", "x.yaml"};
    argv.insert(argv.end(), words.begin(), words.end());
    const GuessInput input = input_of_file(folder, std::move(argv));
    const StudyGuess guess = must_guess(input);
    // Another setting would override the file's value.
    EXPECT_FALSE(
        guess.document["config_files"]["x"]["edits"].contains("model.train_ds.batch_size"));
    EXPECT_EQ(guess.document["baseline"]["batch_size"], 32);
    must_study(guess, input, folder.path());
    Json command = guess.document["command"];
    command.erase(0);
    command.erase(0);
    command.erase(0);
    return command;
  };
  EXPECT_EQ(command_of({"model.train_ds.batch_size=32", "lr=0.1"}),
            Json::array({"model.train_ds.batch_size={batch_size}", "lr=0.1"}));
  EXPECT_EQ(command_of({"++model.train_ds.batch_size=32", "name={x}"}),
            Json::array({"++model.train_ds.batch_size={batch_size}", "name={{x}"}));
  EXPECT_EQ(command_of({"--model.train_ds.batch_size", "32"}),
            Json::array({"--model.train_ds.batch_size", "{batch_size}"}));
  EXPECT_EQ(command_of({"model.train_ds.batch_size=8", "model.train_ds.batch_size=32"}),
            Json::array({"model.train_ds.batch_size=8", "model.train_ds.batch_size={batch_size}"}))
      << "the last one counts";
  EXPECT_EQ(command_of({"model.train_ds.batch_size=32", "model.compile=True"}),
            Json::parse(R"json(["model.train_ds.batch_size={batch_size}",
                            {"when": "compile", "args": ["model.compile=True"]},
                            {"when": "not (compile)", "args": ["model.compile=False"]}])json"));
}

TEST(StudyGuess, VariesAccumulationListedBeforeItsBatch) {
  TemporaryFolder folder{"accumulation"};
  folder.write("x.yaml", "gradient_accumulation_steps: 4\nbatch_size: 2\n");
  const StudyGuess guess = must_guess(input_of_file(folder, {"train.py", "x.yaml"}));
  EXPECT_EQ(guess.document["constraints"],
            Json::array({"batch_size * gradient_accumulation_steps == 8"}));
}

TEST(StudyGuess, NamesSettingsThatCannotBeEdited) {
  const auto left_of = [](const std::string& config) {
    TemporaryFolder folder{"fixed"};
    folder.write("base.yaml", "lr: 1\n");
    folder.write("x.yaml", config + "num_workers: 2\n");
    GuessInput input = input_of_file(folder, {"train.py", "x.yaml", "--threads", "2"});
    ProgramOption threads;
    threads.name = "--threads";
    input.program.options.push_back(threads);
    return must_guess(input).left_out;
  };
  EXPECT_THAT(
      left_of("batch_size: &bs 8\neval: *bs\n"),
      Contains("batch_size: in x.yaml: it has an anchor: other places would change with it"));
  EXPECT_THAT(left_of("batch_size: 8\n---\n"),
              Contains("batch_size: in x.yaml: the file holds several documents"));
  EXPECT_THAT(left_of("batch_size: auto\n"),
              Contains("batch_size: \"auto\" in x.yaml: the trainer fills it in"));
  EXPECT_THAT(left_of("all: !include base.yaml\nbatch_size: 8\n"),
              Contains("batch_size: in x.yaml: the file includes base.yaml, which a copy elsewhere "
                       "would not find"));
}

TEST(StudyGuess, LeavesSettingsThatSeveralFilesHave) {
  TemporaryFolder folder{"several"};
  folder.write("a.yaml", "batch_size: 8\nnum_workers: 2\n");
  folder.write("ds.json", R"({"num_workers": 4, "batch_size": "auto"})");
  const StudyGuess guess =
      must_guess(input_of_file(folder, {"train.py", "a.yaml", "--again=a.yaml", "ds.json"}));
  EXPECT_THAT(guess.left_out, ElementsAre("num_workers: in a.yaml: ds.json has it, too"));
  EXPECT_EQ(guess.document["config_files"],
            Json::parse(R"({"a": {"file": "a.yaml", "edits": {"batch_size": "{batch_size}"}}})"));
}

TEST_F(DeepSpeedGuess, ReportsThatATrainerSetsItsBatch) {
  const StudyGuess guess = must_guess(input_of_config(
      R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": "auto",
          "zero_optimization": {"stage": 1}})"));
  EXPECT_THAT(guess.left_out,
              Contains("train_micro_batch_size_per_gpu: \"auto\" in conf/ds.json: the "
                       "trainer fills it in"));
}

TEST_F(DeepSpeedGuess, AWholeBatchThatTheTrainerFillsInFixesNothing) {
  const StudyGuess guess = must_guess(
      input_of_config(R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": 8})"));
  EXPECT_EQ(guess.document["baseline"], Json({{"micro_batch", 8}}));
}

TEST(StudyGuess, KnowsSettingsOfManyTrainersByTheirNames) {
  TemporaryFolder folder{"names"};
  folder.write("x.yaml",
               "max_data_loader_n_workers: 2\ncompile:\n  enable: false\n"
               "activation_checkpoint:\n  mode: selective\nbatch_bins: 1000\n"
               "precision: bf16-true\nenable_activation_checkpointing: true\n");
  const StudyGuess guess = must_guess(input_of_file(folder, {"train.py", "x.yaml"}));
  std::map<std::string, std::string> roles;
  for (const GuessedKnob& knob : guess.tuned)
    roles[knob.option] = knob.role;
  EXPECT_EQ(roles, (std::map<std::string, std::string>{
                       {"max_data_loader_n_workers", "workers"},
                       {"compile.enable", "compile"},
                       {"activation_checkpoint.mode", "checkpointing"},
                       {"batch_bins", "batch"},
                       {"precision", "precision"},
                       {"enable_activation_checkpointing", "checkpointing"}}));
  EXPECT_EQ(guess.document["parameters"]["precision"]["choices"],
            Json::array({"32-true", "bf16-mixed", "bf16-true"}));
}

TEST(StudyGuess, ATrialOfTheBatchAloneShowsWhetherItHasAnEffect) {
  GuessInput input =
      input_of("usage: x\n  --batch-size N  (default: 32)\n  --workers N  (default: 2)\n", {"x"});
  input.reading = reading_of(32.0);
  EXPECT_FALSE(must_guess(input).document.contains("try"));
  input.reading->samples_per_step.reset();
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["try"], Json::parse(R"([{"batch_size": 128, "workers": 2}])"));
  must_study(guess, input);
}

TEST(StudyGuess, ReportsTwoDifferentStepSizes) {
  GuessInput input = input_of("usage: x\n  --batch-size N  (default: 4)\n", {"x"});
  input.reading = reading_of(12.0);
  EXPECT_THAT(must_guess(input).notes,
              Contains("the program counts 12 samples a step, its batch_size says 4: the "
                       "program's count is used"));
}

TEST(StudyGuess, PutsOptionsBeforeGreedySettings) {
  TemporaryFolder folder{"detectron"};
  folder.write("x.yaml", "SOLVER:\n  IMS_PER_BATCH: 16\n  AMP:\n    ENABLED: false\n");
  GuessInput input = input_of_file(
      folder, {"train_net.py", "--config-file", "x.yaml", "--threads", "4", "SOLVER.IMS_PER_BATCH",
               "32", "SOLVER.AMP.ENABLED", "True", "SOLVER.MAX_ITER", "1000"});
  ProgramOption threads;
  threads.name = "--threads";
  input.program.options.push_back(threads);
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["command"],
            Json::parse(R"json(["train_net.py", "--config-file", "x.yaml", "--threads", "{threads}",
                            "SOLVER.IMS_PER_BATCH", "{ims_per_batch}", "SOLVER.AMP.ENABLED",
                            {"when": "amp", "args": ["True"]},
                            {"when": "not (amp)", "args": ["False"]}, "SOLVER.MAX_ITER", "1000"])json"));
  EXPECT_FALSE(guess.document.contains("config_files"));
  EXPECT_EQ(guess.document["planned_run"]["samples"], 32'000);
  must_study(guess, input);
}

TEST(StudyGuess, LeavesOutHalfPrecisionThatTheCpuEmulates) {
  GuessInput input = input_of("", {"python3", "train.py"});
  Survey survey;
  for (const char* event :
       {R"({"event":"patched","pid":1,"torch":"2.6","device":"cpu"})",
        R"({"event":"knob","knob":"num_threads","may":true,"today":1,"value":1})",
        R"({"event":"knob","knob":"precision","may":true,"today":"fp32","value":"fp32",
            "choices":["fp32","bf16"]})"}) {
    survey.log.add(event);
  }
  survey.last.step = 1.0;
  survey.last.clock_s = 2.0;
  survey.first = survey.last;
  survey.last.step = 101.0;
  survey.last.clock_s = 4.0;
  survey.last.parts = {{"forward", 2.0}};
  survey.last.metrics = {{"loss", 2.3}};
  input.survey = survey;
  EXPECT_TRUE(must_guess(input).document["parameters"].contains("precision"));
  input.cpu_computes_bfloat16 = false;
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["baseline"], Json({{"num_threads", 1}}));
}

TEST(StudyGuess, GuardsTheLossThatWasSeen) {
  GuessInput input = input_of(k_help, {"train"});
  OutputReading reading;
  reading.format = {"preset tqdm", Json("tqdm"), {}};
  reading.progress = 3;
  reading.metrics = {{"loss", 1}};
  reading.samples_per_step = 32.0 * 128.0;
  input.reading = reading;
  const StudyGuess guess = must_guess(input);
  const StudySpec study = must_study(guess, input);
  ASSERT_EQ(study.guards.size(), 1U);
  EXPECT_EQ(study.report_format.preset, "tqdm");
  // The program's samples are tokens.
  EXPECT_EQ(study.planned_run.batch_size->text(), "batch_size * accumulate * 128");
}

TEST(StudyGuess, ReadsNumbersThatAreNoPowersOfTwo) {
  GuessInput input =
      input_of("usage: x\n  --batch-size N  (default: 48)\n  --workers N  (default: 20)\n", {"x"});
  input.reading = reading_of(48.0);
  const StudySpec study = must_study(must_guess(input), input);
  EXPECT_EQ(study.space.find("batch_size")->scale, Scale::log);
  // Workers that wait may be many more than CPUs. The search reaches such numbers only in steps
  // that pay.
  EXPECT_EQ(study.space.find("workers")->high, 64.0 * input.machine["cpus"]);
  EXPECT_EQ(study.space.find("workers")->scale, Scale::log);
  EXPECT_EQ(study.search.first_guesses, true);
}

TEST(StudyGuess, AFlagOfTheCommandIsLeftOutToSwitchItOff) {
  GuessInput input = input_of(
      "usage: x\n  --amp  mixed\n  --compile, --no-compile\n    (default: True)\n", {"x", "--amp"});
  input.reading = reading_of(1.0);
  const StudyGuess guess = must_guess(input);
  const StudySpec study = must_study(guess, input);
  EXPECT_THAT(render_command(study, study.baseline).argv, ElementsAre("x", "--amp", "--compile"));
  EXPECT_EQ(study.space.parameters().size(), 2U);
  Configuration off = study.baseline;
  off.set("amp", false);
  EXPECT_THAT(render_command(study, off).argv, ElementsAre("x", "--compile"));
}

TEST(StudyGuess, WithoutAnythingToVaryIsAnError) {
  const auto guess = guess_study(input_of("usage: x\n  --lr RATE  (default: 0.1)\n", {"x"}));
  ASSERT_FALSE(guess);
  EXPECT_THAT(guess.error().message, HasSubstr("knows no option"));
}

TEST(StudyGuess, VariesVariablesOfOpenMpAndTheAllocator) {
  GuessInput input = input_of("", {"./trainer"});
  input.reading = reading_of(32.0);
  input.runtimes = runtimes_in({"/work/trainer", "/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0",
                                "/usr/lib/x86_64-linux-gnu/libc.so.6"});
  const StudyGuess guess = must_guess(input);
  const StudySpec study = must_study(guess, input);
  EXPECT_EQ(guess.document["baseline"],
            Json({{"threads", 8}, {"omp_wait_policy", "default"}, {"malloc", "default"}}));
  EXPECT_EQ(render_command(study, study.baseline).environment,
            (std::map<std::string, std::string>{{"OMP_NUM_THREADS", "8"}}));
  Configuration other = study.baseline;
  other.set("omp_wait_policy", std::string("passive"));
  EXPECT_EQ(render_command(study, other).environment.at("OMP_WAIT_POLICY"), "passive");

  // A variable that the command sets cannot be set from outside. The current value of another one
  // is the baseline.
  input.runtimes.environment = {{"OMP_NUM_THREADS", "3"}, {"OMP_WAIT_POLICY", "active"}};
  input.runtimes.set_by_command = {"OMP_WAIT_POLICY"};
  const StudyGuess given = must_guess(input);
  EXPECT_EQ(given.document["baseline"], Json({{"threads", 3}, {"malloc", "default"}}));
  EXPECT_THAT(given.left_out, ElementsAre("OMP_WAIT_POLICY: the command sets it itself"));

  // A program without progress may not train at all.
  input.reading.reset();
  EXPECT_FALSE(guess_study(input));
}

TEST(StudyGuess, OffersTheAllocatorIfTheKernelTakesMuchOfTheTime) {
  GuessInput input = input_of("", {"./trainer"});
  input.reading = reading_of(32.0);
  input.runtimes = runtimes_in({"/work/trainer", "/lib/libc.so.6"});
  EXPECT_FALSE(guess_study(input)) << "the program computes in its own threads or in one";
  input.runtimes.kernel_share = 0.4;
  EXPECT_EQ(must_guess(input).document["baseline"], Json({{"malloc", "default"}}));
}

TEST(StudyGuess, OffersHugePagesIfTheAllocatorSupportsThem) {
  GuessInput input = input_of("", {"./trainer"});
  input.reading = reading_of(32.0);
  input.runtimes = runtimes_in({"/lib/libgomp.so.1", "/lib/libc.so.6"});
  const auto choices = [&] {
    return must_study(must_guess(input), input).space.find("malloc")->choices;
  };
  const auto huge_pages = Value(std::string("hugepages"));
  EXPECT_THAT(choices(), Not(Contains(huge_pages)));
  input.runtimes.may_ask_for_huge_pages = true;
  EXPECT_THAT(choices(), Contains(huge_pages));
  const StudyGuess guess = must_guess(input);
  const StudySpec study = must_study(guess, input);
  Configuration other = study.baseline;
  other.set("malloc", huge_pages);
  EXPECT_THAT(render_command(study, other).environment.at("GLIBC_TUNABLES"),
              AllOf(HasSubstr("glibc.malloc.hugetlb=1"), HasSubstr("trim_threshold")));
}

TEST(NativeRuntimes, AskForHugePagesIfKernelAndLibraryCan) {
  TemporaryFolder machine("machine");
  const SystemFiles files{machine.path()};
  EXPECT_FALSE(may_ask_for_huge_pages(files, "2.36")) << "the kernel has no huge pages";
  machine.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  EXPECT_TRUE(may_ask_for_huge_pages(files, "2.36"));
  EXPECT_TRUE(may_ask_for_huge_pages(files, "2.35"));
  EXPECT_FALSE(may_ask_for_huge_pages(files, "2.34"));
  EXPECT_TRUE(may_ask_for_huge_pages(files, "3.0"));
  EXPECT_FALSE(may_ask_for_huge_pages(files, "of musl"));
  machine.write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  EXPECT_FALSE(may_ask_for_huge_pages(files, "2.36"));
  machine.write("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  EXPECT_FALSE(may_ask_for_huge_pages(files, "2.36")) << "each program has them already";
}

TEST(StudyGuess, OpenBlasFollowsOpenMpsVariableIfItsOwnIsUnset) {
  GuessInput input = input_of("", {"./trainer"});
  input.reading = reading_of(32.0);
  input.runtimes.has_openblas = true;
  input.runtimes.environment = {{"OMP_NUM_THREADS", "2"}};
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["baseline"], Json({{"threads", 2}}));
  EXPECT_EQ(guess.tuned.at(0).from, "OPENBLAS_NUM_THREADS; the value of OMP_NUM_THREADS");
  input.runtimes.environment["OPENBLAS_NUM_THREADS"] = "3";
  EXPECT_EQ(must_guess(input).document["baseline"], Json({{"threads", 3}}));
}

TEST(StudyGuess, ThreadsThatAreNoNumberAreLeft) {
  GuessInput input = input_of("", {"./trainer"});
  input.reading = reading_of(32.0);
  input.runtimes.has_openmp = true;
  input.runtimes.environment = {{"OMP_NUM_THREADS", "4,2"}};
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["baseline"], Json({{"omp_wait_policy", "default"}}));
  EXPECT_THAT(guess.left_out, ElementsAre("OMP_NUM_THREADS: \"4,2\" is not a whole number"));
}

TEST(StudyGuess, ThreadsThatTheProgramSetsAreNotVaried) {
  GuessInput input = input_of("", {"./trainer"});
  input.reading = reading_of(32.0);
  input.runtimes.has_openmp = true;
  input.runtimes.environment = {{"OMP_NUM_THREADS", "2"}};
  // The source may call omp_set_num_threads(8), say.
  input.runtimes.computing_threads = 8;
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["baseline"], Json({{"omp_wait_policy", "default"}}));
  EXPECT_THAT(guess.left_out,
              ElementsAre("OMP_NUM_THREADS: 8 threads compute, but OpenMP would start 2: "
                          "the program sets their number itself"));
  // A third thread may load data.
  input.runtimes.computing_threads = 3;
  EXPECT_EQ(must_guess(input).document["baseline"]["threads"], 2);
}

TEST(StudyGuess, AThreadsOptionReplacesVariablesOfLibraries) {
  GuessInput input = input_of("usage: x\n  --threads N  (default: 4)\n", {"x"});
  input.reading = reading_of(32.0);
  input.runtimes.has_openmp = true;
  input.runtimes.has_openblas = true;
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["baseline"], Json({{"threads", 4}, {"omp_wait_policy", "default"}}));
  EXPECT_EQ(guess.document["env"], Json({{"OMP_WAIT_POLICY", "{omp_wait_policy}"}}));
}

TEST(NativeRuntimes, AreKnownByTheirLibraries) {
  EXPECT_FALSE(runtimes_in({"/lib/libc.so.6", "/usr/bin/x"}).has_openmp);
  EXPECT_TRUE(runtimes_in({"/opt/venv/lib/libgomp-a34b3233.so.1"}).has_openmp);
  EXPECT_TRUE(runtimes_in({"/usr/lib/llvm-16/lib/libomp.so.5"}).has_openmp);
  EXPECT_TRUE(runtimes_in({"/opt/intel/lib/libiomp5.so"}).has_openmp);
  EXPECT_TRUE(runtimes_in({"/usr/lib/openblas-pthread/libopenblas.so.0"}).has_openblas);
  EXPECT_FALSE(runtimes_in({"/usr/lib/openblas-openmp/libopenblas.so.0"}).has_openblas);
  EXPECT_TRUE(runtimes_in({"/lib/libc.so.6"}).has_glibc_malloc);
  EXPECT_FALSE(runtimes_in({"/lib/libc.so.6", "/usr/lib/libjemalloc.so.2"}).has_glibc_malloc);
}

TEST(StudyGuess, PlansTheStepsOfATrainerWithoutBatches) {
  const auto file = std::filesystem::path(STEPTUNE_SOURCE_DIR) / "configs/spaces/xgboost.json";
  const auto space = read_ready_space(file);
  ASSERT_TRUE(space) << space.error().text();
  GuessInput input = input_of("", {"xgboost", "train.conf", "num_round=500"});
  input.space = &*space;
  input.program.options = declared_options(*space);
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["planned_run"], Json({{"samples", 500}}));
  EXPECT_THAT(guess.notes, Contains(HasSubstr("num_round 500 (the command), each counted")));
}

TEST(StudyGuess, LeavesAParameterThatTheCommandGivesByAnotherName) {
  const auto file = std::filesystem::path(STEPTUNE_SOURCE_DIR) / "configs/spaces/lightgbm.json";
  const auto space = read_ready_space(file);
  ASSERT_TRUE(space) << space.error().text();
  GuessInput input = input_of("", {"lightgbm", "nthread=1", "force_row_wise=true", "device=gpu"});
  input.machine["gpus"] = 1.0;
  input.space = &*space;
  input.program.options = declared_options(*space);
  const StudyGuess guess = must_guess(input);
  EXPECT_THAT(guess.left_out, IsSupersetOf({HasSubstr("num_threads: nthread is on"),
                                            HasSubstr("force_col_wise: force_row_wise is on"),
                                            HasSubstr("device_type: device is on")}));
  EXPECT_EQ(guess.document["parameters"].size(), 1U);
}

TEST(StudyText, PutsCommentsBeforeTheirKeys) {
  const Json document = {{"name", "x"}, {"parameters", {{"a", {{"type", "bool"}}}}}};
  EXPECT_EQ(study_text(document, {{"/parameters/a", "one\ntwo\x1b[31m"}}),
            "{\n  \"name\": \"x\",\n  \"parameters\": {\n    // one\n    // two\n"
            "    \"a\": {\"type\":\"bool\"}\n  }\n}");
}

}  // namespace
}  // namespace steptune
