// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/batch_effect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

constexpr double k_mebibytes = 1 << 20;

/// Returns the study of a program with a batch size and workers. The study states that a step has
/// `batch` samples.
StudySpec counted_study() {
  const Json document = parse_json(R"({
    "name": "s", "command": ["train", "{batch}", "{workers}"],
    "parameters": {"batch": {"type": "int", "low": 1, "high": 1024},
                   "workers": {"type": "int", "low": 0, "high": 8}},
    "baseline": {"batch": 32, "workers": 0},
    "objectives": ["time"], "planned_run": {"samples": 1000, "batch_size": "batch"}
  })",
                                   "study")
                            .value();
  return study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
}

/// Returns a trial whose steps took `step_s`, known to 1 %, and that reported no samples.
TrialRecord counted_trial(std::int64_t number, std::int64_t batch, double step_s,
                          std::int64_t workers = 0) {
  TrialRecord trial = completed(number, 1.0);
  trial.configuration = {};
  trial.configuration.set("batch", batch);
  trial.configuration.set("workers", workers);
  const auto samples = static_cast<double>(batch);
  trial.measurement = steady(step_s / samples, 0.01 * step_s / samples);
  trial.measurement->window_steps = 100.0;
  trial.measurement->window_samples = 100.0 * samples;
  trial.measurement->total_samples = 100.0 * samples;
  trial.measurement->samples_reported = false;
  trial.peak_memory_bytes = 500.0 * k_mebibytes;
  return trial;
}

class BatchEffectTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string why(const TrialRecord& trial,
                                BatchApplied applied = BatchApplied::unknown,
                                const HookLog* hook = nullptr) const {
    const auto effect = batch_effect(study_, trial, baseline_, LaunchVariation{}, hook);
    return effect ? why_not_applied(*effect, applied).value_or("") : "";
  }
  [[nodiscard]] BatchEvidence evidence(const TrialRecord& trial) const {
    return batch_effect(study_, trial, baseline_, LaunchVariation{})->evidence;
  }

  StudySpec study_ = counted_study();
  TrialRecord baseline_ = counted_trial(1, 32, 0.1);
};

TEST_F(BatchEffectTest, IsMissingIfOnlyNoiseDiffers) {
  EXPECT_EQ(why(counted_trial(2, 256, 0.101)),
            "batch=256 changed neither step time (101 ms, baseline 100 ms) nor memory (500 MiB, "
            "baseline 500 MiB) nor output: not applied");
  TrialRecord unknown_memory = counted_trial(2, 256, 0.103);
  unknown_memory.peak_memory_bytes.reset();
  EXPECT_THAT(why(unknown_memory), HasSubstr("baseline 100 ms) nor output: not applied"));
  EXPECT_THAT(why(counted_trial(2, 256, 0.05)), HasSubstr("not applied"))
      << "more samples take no less time";
}

TEST_F(BatchEffectTest, IsLongerStepsOrMoreMemory) {
  EXPECT_EQ(evidence(counted_trial(2, 256, 0.13)), BatchEvidence::step_time)
      << "growth may be far below proportional";
  EXPECT_EQ(evidence(counted_trial(2, 8, 0.08)), BatchEvidence::step_time);
  TrialRecord larger = counted_trial(2, 256, 0.1);
  larger.peak_memory_bytes = 520.0 * k_mebibytes;
  EXPECT_EQ(evidence(larger), BatchEvidence::memory);
  EXPECT_EQ(why(larger), "");
}

TEST_F(BatchEffectTest, IsAnEarlierEndOfThePassOverTheData) {
  TrialRecord shorter = counted_trial(2, 64, 0.1);
  shorter.measurement->whole_run = baseline_.measurement->whole_run = true;
  EXPECT_EQ(evidence(shorter), BatchEvidence::nothing);
  shorter.measurement->total_samples = 50.0 * 64.0;
  EXPECT_EQ(evidence(shorter), BatchEvidence::length);
}

TEST_F(BatchEffectTest, DoesNotMatterIfSamplesAreReported) {
  TrialRecord counted = counted_trial(2, 256, 0.1);
  counted.measurement->samples_reported = true;
  EXPECT_FALSE(batch_effect(study_, counted, baseline_, LaunchVariation{}));
  EXPECT_FALSE(batch_effect(study_, counted_trial(2, 32, 0.1, 4), baseline_, LaunchVariation{}));
}

TEST_F(BatchEffectTest, IsKnownFromAPrintedRate) {
  baseline_.measurement->metrics["samples/sec"] = 320.0;
  TrialRecord trial = counted_trial(2, 256, 0.1);
  trial.measurement->metrics["samples/sec"] = 2550.0;
  EXPECT_EQ(evidence(trial), BatchEvidence::rate);
  trial = counted_trial(2, 256, 0.2);
  trial.measurement->metrics["samples/sec"] = 161.0;
  EXPECT_THAT(why(trial),
              HasSubstr("did not change the samples of a step that the program reports"))
      << "its steps take longer for another reason";
}

TEST_F(BatchEffectTest, IsKnownFromTheLoaderInTheHook) {
  const auto loader = [](int size) {
    HookLog log;
    log.add(R"({"event":"loader","id":"a","training":true,"length":10,"batch_size":)" +
            std::to_string(size) + "}");
    return log;
  };
  baseline_.hook = loader(32).to_json();
  const HookLog same = loader(32);
  const HookLog larger = loader(256);
  EXPECT_THAT(why(counted_trial(2, 256, 0.2), BatchApplied::unknown, &same),
              HasSubstr("not applied"));
  EXPECT_EQ(why(counted_trial(2, 256, 0.1), BatchApplied::unknown, &larger), "");
}

TEST_F(BatchEffectTest, AnEffectOfOtherSettingsIsNotTheBatchs) {
  const TrialRecord workers = counted_trial(3, 256, 0.2, 4);
  EXPECT_EQ(why(workers, BatchApplied::unknown), "");
  EXPECT_EQ(why(workers, BatchApplied::no),
            "batch=256 counts as not applied: a trial that changed nothing else had no effect");
  EXPECT_EQ(why(counted_trial(3, 256, 0.1, 4), BatchApplied::yes), "")
      << "workers may make up for longer steps";
}

TEST_F(BatchEffectTest, IsKnownFromTrialsThatChangeNothingElse) {
  const auto known = [&](std::vector<TrialRecord> trials) {
    trials.insert(trials.begin(), baseline_);
    return batch_applied(study_, trials, &baseline_, LaunchVariation{});
  };
  TrialRecord ignored = counted_trial(2, 128, 0.1);
  ignored.status = TrialStatus::infeasible;
  EXPECT_EQ(known({counted_trial(2, 256, 0.2, 4)}), BatchApplied::unknown);
  EXPECT_EQ(known({ignored}), BatchApplied::no);
  EXPECT_EQ(known({ignored, counted_trial(3, 256, 0.2)}), BatchApplied::yes);
  EXPECT_EQ(known({counted_trial(2, 40, 0.1)}), BatchApplied::unknown) << "too small to tell";
}

TEST_F(BatchEffectTest, IsNamedWithTheLineThatWouldSettleIt) {
  const TrialRecord trial = counted_trial(2, 128, 0.2);
  const auto note = [&](const TrialRecord& of) {
    return assumed_samples_note(study_, {baseline_, trial}, of, baseline_, LaunchVariation{})
        .value_or("");
  };
  EXPECT_EQ(note(trial),
            "samples of a step were assumed: 128 with batch=128, as the program reports only "
            "steps; its steps take 200 ms in place of 100 ms. To be sure, add "
            "steptune.report(step=STEP, samples=SAMPLES) to its loop (docs/reporting.md)");
  EXPECT_EQ(note(counted_trial(3, 32, 0.05, 4)), "") << "as many samples as before";
}

}  // namespace
}  // namespace steptune
