// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/bottleneck.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/neighbours.hpp"
#include "tests/unit/analysis/spaces.hpp"

namespace steptune {
namespace {

SearchSpace loader_space(Parameter workers) {
  return space_of(
      {std::move(workers),
       text_parameter("precision", {Value{std::string("fp32")}, Value{std::string("bf16")}}),
       text_parameter("flavour", {Value{std::string("a")}, Value{std::string("b")}})});
}

/// Returns 6 ms of loading without workers plus 4 ms of computing: workers matter, precision
/// hardly.
double seconds_per_sample(const Configuration& c) {
  const double load = 0.006 / (1.0 + number_in(c, "workers"));
  return load + (is_text(c, "precision", "bf16") ? 0.00395 : 0.004);
}

TrialRecord measured_trial(std::int64_t number, const Configuration& configuration) {
  TrialRecord trial;
  trial.number = number;
  trial.status = TrialStatus::completed;
  trial.configuration = configuration;
  Measurement& measurement = trial.measurement.emplace();
  measurement.status = MeasurementStatus::steady;
  measurement.seconds_per_sample = seconds_per_sample(configuration);
  measurement.step_seconds_per_sample = measurement.seconds_per_sample;
  measurement.half_width_s = 0.01 * measurement.seconds_per_sample;
  return trial;
}

Configuration loader_configuration(std::int64_t workers) {
  return Configuration({{"workers", Value{workers}},
                        {"precision", Value{std::string("fp32")}},
                        {"flavour", Value{std::string("a")}}});
}

struct LoaderStudy {
  SearchSpace space;
  std::vector<TrialRecord> trials;
  TrialSamples samples;
  std::optional<EffectsModel> model;

  explicit LoaderStudy(int count = 40, Parameter workers = whole_parameter("workers", 0.0, 4.0))
      : space(loader_space(std::move(workers))) {
    Rng rng(5, "loader");
    trials.push_back(measured_trial(1, loader_configuration(0)));
    while (static_cast<int>(trials.size()) < count) {
      trials.push_back(measured_trial(std::ssize(trials) + 1, *space.sample(rng)));
      double& speed = trials.back().measurement->seconds_per_sample;
      speed *= std::exp(0.005 * rng.normal());
    }
    samples = step_time_samples(space, trials);
    model = EffectsModel::fit(space, samples.samples);
  }
  [[nodiscard]] Bottleneck at(const TrialRecord& trial,
                              std::optional<double> planned_samples = std::nullopt) const {
    return bottleneck_of(space, Json::object(), trial, samples, model ? &*model : nullptr,
                         planned_samples);
  }
};

TrialRecord with_parts(TrialRecord trial, std::map<std::string, double> parts) {
  trial.measurement->parts = std::move(parts);
  return trial;
}

const ParameterResponse& response_of(const Bottleneck& bottleneck, const std::string& name) {
  return *std::ranges::find(bottleneck.responses, name, &ParameterResponse::parameter);
}

TEST(Bottleneck, NamesTheLimitOfAStepAndARemedy) {
  const LoaderStudy study;
  const Bottleneck bottleneck = study.at(
      with_parts(study.trials[0],
                 {{"data", 0.0061}, {"forward", 0.0012}, {"backward", 0.0005}, {"other", 0.0022}}));
  ASSERT_EQ(bottleneck.stages.size(), 3U);
  EXPECT_EQ(bottleneck.stages[0].stage, StepStage::data);
  EXPECT_NEAR(bottleneck.stages[0].share, 0.61, 1e-9);
  EXPECT_FALSE(bottleneck.stages[1].stage) << "\"other\" says no stage";
  EXPECT_EQ(bottleneck.stages[2].parts, (std::vector<std::string>{"backward", "forward"}));
  EXPECT_NEAR(*bottleneck.most_gain(StepStage::data), 1.0 / 0.39, 1e-9);
  EXPECT_NEAR(response_of(bottleneck, "workers").gain.mean, 0.01 / 0.0052, 0.1);
  EXPECT_FALSE(response_of(bottleneck, "precision").leaves_gain());
  const BottleneckWords words = in_words(bottleneck);
  EXPECT_EQ(words.finding.find("Data loading costs 61 % of a step: at most 2.6x to gain. workers "
                               "0 -> 4 gives 1.9"),
            0U)
      << words.finding;
  EXPECT_NE(words.finding.find(", at the edge of the tried range: try values beyond it"),
            std::string::npos)
      << words.finding;
  EXPECT_NE(words.evidence.find("parts that trial 1 reported (100 % of its step time)"),
            std::string::npos)
      << words.evidence;
  EXPECT_NE(words.evidence.find("40 trials"), std::string::npos) << words.evidence;
}

TEST(Bottleneck, AStageThatTookNothingHasNothingToGain) {
  const LoaderStudy study;
  const Bottleneck bottleneck = study.at(
      with_parts(study.trials[0], {{"data", 0.0}, {"forward", 0.0035}, {"other", 0.0065}}));
  EXPECT_EQ(bottleneck.most_gain(StepStage::data), 1.0);
  EXPECT_NEAR(*bottleneck.most_gain(StepStage::communication), 1.0 / 0.35, 1e-9)
      << "communication may take the time that belongs to no stage";
}

TEST(Bottleneck, SettingsOfASmallStageGainLittle) {
  const LoaderStudy study;
  const Bottleneck bottleneck =
      study.at(with_parts(study.trials[0], {{"data_loading", 0.0091}, {"compute", 0.0009}}));
  const std::string finding = in_words(bottleneck).finding;
  EXPECT_NE(finding.find("precision would gain less than 10 %."), std::string::npos) << finding;
  EXPECT_EQ(finding.find("flavour"), std::string::npos)
      << "the parameter's name shows no stage: " << finding;
}

TEST(Bottleneck, ABestValueAtTheEndOfItsRangeLeavesRoom) {
  const LoaderStudy study;
  const TrialRecord best = measured_trial(50, loader_configuration(4));
  const std::string finding =
      in_words(study.at(with_parts(best, {{"data", 0.004}, {"compute", 0.0012}}))).finding;
  EXPECT_NE(finding.find("workers=4 is at the edge of the tried range: try values beyond it"),
            std::string::npos)
      << finding;
  EXPECT_EQ(finding.find("clearly faster"), std::string::npos) << finding;
}

TEST(Bottleneck, ChoicesOfNumbersHaveARangeInAnyOrder) {
  const Value none{std::int64_t{0}};
  const Value most{std::int64_t{4}};
  const LoaderStudy study(40, text_parameter("workers", {most, none, Value{std::int64_t{2}}}));
  const Bottleneck bottleneck = study.at(study.trials[0]);
  const ParameterResponse& response = response_of(bottleneck, "workers");
  EXPECT_EQ(response.least_tried, none);
  EXPECT_EQ(response.most_tried, most);
  EXPECT_TRUE(response.is_open_end(most));
  EXPECT_FALSE(response.is_open_end(none)) << "fewer than 0 workers are impossible";
}

/// Returns a bottleneck of data loading, 78 % of a step, with `workers` of 0 to 16 tried.
Bottleneck waiting_for_data(std::int64_t workers) {
  Bottleneck bottleneck;
  bottleneck.trial = 7;
  bottleneck.trials = 20;
  bottleneck.stages = {{StepStage::data, {"data"}, 0.0078, 0.78},
                       {StepStage::compute, {"compute"}, 0.0022, 0.22}};
  ParameterResponse response{"num_workers",  StepStage::data,        Value{workers},
                             Value{workers}, Value{std::int64_t{0}}, {1.0, 1.0, 1.0},
                             {3.0, 2.8, 3.2}};
  response.least_tried = Value{std::int64_t{0}};
  response.most_tried = Value{std::int64_t{16}};
  response.least_is_limit = true;
  bottleneck.responses = {response};
  bottleneck.parameters = {{StepStage::data, {"num_workers"}}};
  return bottleneck;
}

TEST(Bottleneck, NoValueIsClearlyFasterThanABestValueInsideItsRange) {
  EXPECT_EQ(in_words(waiting_for_data(6)).finding,
            "Data loading costs 78 % of a step: at most 4.5x to gain. num_workers=6: no other "
            "value is clearly faster (0 to 16 were tried).");
  EXPECT_EQ(
      in_words(waiting_for_data(16)).finding,
      "Data loading costs 78 % of a step: at most 4.5x to gain. num_workers=16 is at the edge "
      "of the tried range: try values beyond it.");
  EXPECT_EQ(waiting_for_data(0).responses[0].is_open_end(Value{std::int64_t{0}}), false)
      << "fewer than 0 workers are impossible";
}

TEST(Bottleneck, ShowsTheMeasuredCeilingOfLoading) {
  Bottleneck bottleneck = waiting_for_data(6);
  EXPECT_EQ(in_words(bottleneck).gain_without_loading, "");
  bottleneck.loading_ceiling = 5.0;
  EXPECT_EQ(in_words(bottleneck).gain_without_loading,
            "In the baseline, data loading costs 80 % of a step: at most 5.0 times as fast without "
            "it (measured with cached batches).");
  EXPECT_NEAR(*bottleneck.most_gain(StepStage::data), 1.0 / 0.22, 1e-9) << "another trial";
  bottleneck.is_baseline = true;
  EXPECT_EQ(bottleneck.most_gain(StepStage::data), 5.0);
}

TEST(Bottleneck, IdleCpusAndWaitingWorkersLeaveRoom) {
  Bottleneck bottleneck = waiting_for_data(6);
  bottleneck.cpu_busy = 0.51;
  EXPECT_NE(in_words(bottleneck)
                .finding.find("num_workers=6: no other value is clearly faster (0 to 16 were "
                              "tried), but the trial uses only 51 % of its CPUs' time."),
            std::string::npos)
      << in_words(bottleneck).finding;
  bottleneck.loader_worker_cpu = 0.04;
  EXPECT_NE(
      in_words(bottleneck).finding.find("but the loader's workers compute only 4 % of their time."),
      std::string::npos)
      << in_words(bottleneck).finding;
  bottleneck = waiting_for_data(16);
  bottleneck.loader_worker_cpu = 0.04;
  EXPECT_NE(in_words(bottleneck)
                .finding.find("try values beyond it, as the loader's workers compute only 4 % of "
                              "their time."),
            std::string::npos)
      << in_words(bottleneck).finding;
}

TEST(Bottleneck, RecommendsNoSettingWithoutEffect) {
  Bottleneck bottleneck = waiting_for_data(6);
  bottleneck.responses[0].gain = {1.5, 1.1, 2.0};
  bottleneck.responses[0].has_effect = false;
  EXPECT_NE(in_words(bottleneck).finding.find("num_workers made no clear difference."),
            std::string::npos)
      << in_words(bottleneck).finding;
  const LoaderStudy study;
  const Bottleneck fitted = study.at(study.trials[0]);
  EXPECT_TRUE(response_of(fitted, "workers").has_effect);
  EXPECT_FALSE(response_of(fitted, "flavour").has_effect);
}

TEST(Bottleneck, NamesUntriedSettingsOfTheLargestStage) {
  Bottleneck bottleneck = waiting_for_data(6);
  bottleneck.responses.clear();
  EXPECT_NE(
      in_words(bottleneck).finding.find(". num_workers may affect it: no effect is known yet."),
      std::string::npos);
  bottleneck.parameters.clear();
  EXPECT_NE(
      in_words(bottleneck)
          .finding.find(". the study varies no setting for it; try loader workers (num_workers)."),
      std::string::npos)
      << in_words(bottleneck).finding;
}

TEST(Bottleneck, WithoutPartsUsesOnlyResponses) {
  const LoaderStudy study;
  const std::string finding = in_words(study.at(study.trials[0])).finding;
  EXPECT_EQ(finding.find("The program did not report parts of its steps; workers 0 -> 4 gives 1.9"),
            0U)
      << finding;
  EXPECT_NE(finding.find("precision or flavour made no clear difference"), std::string::npos)
      << finding;
  const std::string at_best =
      in_words(study.at(measured_trial(50, loader_configuration(4)))).finding;
  EXPECT_NE(at_best.find("workers=4 is at the edge of the tried range: try values beyond it"),
            std::string::npos)
      << at_best;
}

TEST(Bottleneck, AnUnknownEffectIsNotCalledNoEffect) {
  const LoaderStudy study;
  Bottleneck bottleneck = study.at(study.trials[0]);
  for (ParameterResponse& response : bottleneck.responses) {
    if (response.parameter == "precision") response.gain = response.range = {1.2, 0.7, 1.7};
  }
  const std::string finding = in_words(bottleneck).finding;
  EXPECT_NE(finding.find("flavour made no clear difference; too little is known about precision"),
            std::string::npos)
      << finding;
}

TEST(Bottleneck, FewTrialsGiveNoFinding) {
  const LoaderStudy few(4);
  const Bottleneck bottleneck = few.at(few.trials[0]);
  EXPECT_TRUE(bottleneck.stages.empty());
  EXPECT_TRUE(bottleneck.responses.empty());
  EXPECT_EQ(in_words(bottleneck).finding,
            "The program did not report parts of its steps, and 4 trials were measured; 8 are "
            "needed to find what the step time depends on.");
  EXPECT_EQ(in_words(bottleneck).evidence, "");
}

TEST(Bottleneck, AnIdleGpuIsReportedWithoutParts) {
  const LoaderStudy study;
  TrialRecord trial = study.trials[0];
  trial.gpu.emplace().utilisation = 0.37;
  const std::string finding = in_words(study.at(trial)).finding;
  EXPECT_NE(finding.find("the GPU idles 63 % of the time"), std::string::npos) << finding;
}

TEST(Bottleneck, UseOfTrainingCpusIsShown) {
  const LoaderStudy study;
  TrialRecord trial = study.trials[0];
  const auto finding = [&] { return in_words(study.at(trial)).finding; };
  EXPECT_EQ(finding().find("CPUs"), std::string::npos) << "it was not measured";
  trial.cpu_busy = 0.97;
  EXPECT_NE(finding().find("; the trial uses 97 % of its CPUs' time"), std::string::npos)
      << finding();
  trial.cpu_busy = 0.25;
  EXPECT_NE(finding().find("the trial uses only 25 % of its CPUs' time"), std::string::npos)
      << finding();
  trial.cpu_busy = 0.7;
  EXPECT_EQ(finding().find("CPUs"), std::string::npos)
      << "70 % is neither busy nor idle: " << finding();
  trial.gpu.emplace().utilisation = 0.37;
  trial.cpu_busy = 0.97;
  EXPECT_NE(
      finding().find("the GPU idles 63 % of the time, while the trial uses nearly all CPU time"),
      std::string::npos)
      << finding();
}

TEST(Bottleneck, UseOfCpusIsShownOnlyOnce) {
  const LoaderStudy study;
  TrialRecord trial = measured_trial(50, loader_configuration(4));
  trial.cpu_busy = 0.25;
  const std::string finding = in_words(study.at(trial)).finding;
  EXPECT_NE(finding.find("try values beyond it, as the trial uses only 25 % of its CPUs' time"),
            std::string::npos)
      << finding;
  EXPECT_EQ(finding.find("CPUs"), finding.rfind("CPUs")) << finding;
  // The use of the CPUs is missing in advice to change the workers, so it follows.
  trial = study.trials[0];
  trial.cpu_busy = 0.25;
  Bottleneck bottleneck = study.at(trial);
  bottleneck.responses[0].parameter = "share of its CPUs' time";
  const std::string renamed = in_words(bottleneck).finding;
  EXPECT_NE(renamed.find("; the trial uses only 25 % of its CPUs' time"), std::string::npos)
      << "a parameter's name says nothing about the use: " << renamed;
}

TEST(Bottleneck, TheHookReportsTheLoadersQueue) {
  const LoaderStudy study;
  TrialRecord trial = study.trials[0];
  EXPECT_FALSE(study.at(trial).loader_queue_empty);
  trial.measurement->metrics["loader_queue_empty_share"] = 0.25;
  EXPECT_EQ(study.at(trial).loader_queue_empty, 0.25);
}

TEST(Bottleneck, TimeOutsideOfTheStepsIsShownSeparately) {
  const LoaderStudy study;
  TrialRecord trial = with_parts(study.trials[0], {{"data", 0.002}, {"compute", 0.002}});
  trial.measurement->seconds_per_sample = 0.01;
  trial.measurement->step_seconds_per_sample = 0.008;
  trial.measurement->startup_s = 10.0;
  const Bottleneck bottleneck = study.at(trial, 9000.0);
  EXPECT_NEAR(bottleneck.interruptions_share, 0.2, 1e-9);
  EXPECT_NEAR(*bottleneck.startup_share, 0.1, 1e-9);
  EXPECT_NEAR(bottleneck.unreported_share, 0.5, 1e-9);
  EXPECT_EQ(in_words(bottleneck).finding,
            "50 % of a step lies outside the parts that the program reports.");
}

/// A random program whose loading and computing add up or overlap.
struct RandomProgram {
  double load_s = 0.0;
  double compute_s = 0.0;
  double batch_s = 0.0;
  double bf16 = 1.0;
  bool overlaps = false;

  explicit RandomProgram(Rng& rng)
      : load_s(3e-4 * std::exp(0.7 * rng.normal())),
        compute_s(2e-4 * std::exp(0.5 * rng.normal())),
        batch_s(4e-3 * std::exp(0.5 * rng.normal())),
        bf16(0.5 + 0.5 * rng.uniform()),
        overlaps(rng.uniform() < 0.5) {}

  [[nodiscard]] double seconds(const Configuration& c) const {
    const double workers = number_in(c, "workers");
    const double load = load_s / std::max(1.0, workers);
    const double compute = (compute_s + batch_s / number_in(c, "batch_size")) *
                           (is_text(c, "precision", "bf16") ? bf16 : 1.0);
    return overlaps && workers > 0.0 ? std::max(load, compute) : load + compute;
  }
};

/// A search measures mostly near the fastest configurations and soon leaves the baseline. Intervals
/// are widest there, and most often wrong.
TEST(Bottleneck, IntervalsCoverTheTruthAfterAGreedySearch) {
  Parameter batch_size = whole_parameter("batch_size", 16.0, 512.0);
  batch_size.scale = Scale::log2;
  const SearchSpace space = space_of(
      {batch_size, whole_parameter("workers", 0.0, 8.0),
       text_parameter("precision", {Value{std::string("fp32")}, Value{std::string("bf16")}})});
  const Configuration baseline({{"batch_size", Value{std::int64_t{32}}},
                                {"workers", Value{std::int64_t{0}}},
                                {"precision", Value{std::string("fp32")}}});
  int counts[2] = {0, 0};
  int held[2] = {0, 0};
  int wrongly_matter = 0;
  for (std::uint64_t study = 0; study < 20; ++study) {
    Rng rng(study, "programs");
    const RandomProgram program(rng);
    std::vector<TrialRecord> trials;
    std::size_t best = 0;
    const auto measure = [&](const Configuration& configuration) {
      trials.push_back(measured_trial(std::ssize(trials) + 1, configuration));
      Measurement& measurement = *trials.back().measurement;
      measurement.seconds_per_sample =
          program.seconds(configuration) * std::exp(0.015 * rng.normal());
      measurement.half_width_s = 0.03 * measurement.seconds_per_sample;
      const double best_s = trials[best].measurement->seconds_per_sample;
      if (measurement.seconds_per_sample < best_s) best = trials.size() - 1;
    };
    measure(baseline);
    while (trials.size() < 40) {
      const auto near = neighbours_of(space, trials[best].configuration);
      measure(trials.size() > 13 && rng.uniform() < 0.8 ? near[rng.below(near.size())]
                                                        : *space.sample(rng));
    }
    const TrialSamples samples = step_time_samples(space, trials);
    const auto model = EffectsModel::fit(space, samples.samples);
    for (const std::size_t place : {0U, 1U}) {
      const Configuration at = trials[place == 0 ? 0 : best].configuration;
      const Bottleneck bottleneck = bottleneck_of(
          space, Json::object(), trials[place == 0 ? 0 : best], samples, &*model, std::nullopt);
      for (const ParameterResponse& response : bottleneck.responses) {
        Configuration slow = at;
        Configuration fast = at;
        slow.set(response.parameter, response.worst);
        fast.set(response.parameter, response.best);
        const double truth = program.seconds(slow) / program.seconds(fast);
        ++counts[place];
        held[place] += response.range.low <= truth && truth <= response.range.high ? 1 : 0;
        wrongly_matter += response.matters() && truth < 1.02 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(counts[0], 0);
  EXPECT_GT(counts[1], 0);
  EXPECT_GE(held[1], 0.9 * counts[1]) << "at the best configuration";
  EXPECT_GE(held[0], 0.75 * counts[0]) << "at the baseline";
  EXPECT_LE(wrongly_matter, 1);
}

TEST(StepStages, PartsAndParametersAreKnownByTheirNames) {
  EXPECT_EQ(stage_of_part("data"), StepStage::data);
  EXPECT_EQ(stage_of_part("Data-Loading"), StepStage::data);
  EXPECT_EQ(stage_of_part("batch_to_device"), StepStage::host_to_device);
  EXPECT_EQ(stage_of_part("all_reduce"), StepStage::communication);
  EXPECT_EQ(stage_of_part("optimizer"), StepStage::optimizer);
  EXPECT_EQ(to_text(StepStage::optimizer), "optimizer");
  EXPECT_FALSE(stage_of_part("other"));
  const Json none = Json::object();
  EXPECT_EQ(stage_of_parameter("num_workers", none), StepStage::data);
  EXPECT_EQ(stage_of_parameter("use_amp", none), StepStage::compute);
  EXPECT_EQ(stage_of_parameter("optimiser_kernel", none), StepStage::optimizer);
  EXPECT_FALSE(stage_of_parameter("samples", none)) << "holds \"amp\", but not as a word";
  EXPECT_FALSE(stage_of_parameter("batch_size", none)) << "acts on all stages";
  const Json hooked = Json::parse(R"({"hooks": {"python": {"num_workers": "{w}"}}})");
  EXPECT_EQ(stage_of_parameter("w", hooked), StepStage::data)
      << "the stage follows from the knob that the parameter sets";
  EXPECT_FALSE(stage_of_parameter("v", hooked));
}

}  // namespace
}  // namespace steptune
