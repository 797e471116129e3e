// SPDX-License-Identifier: Apache-2.0
// Tests that 95 % intervals cover the true time although trials end as soon as theirs is tight.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/simulation/simulated_study.hpp"
#include "trial_runner/replay/replay_runner.hpp"

namespace steptune::simulation {
namespace {

constexpr double k_seconds_per_sample = 0.1;

/// Returns the measurements of some 300 trials that differ only by noise.
std::vector<Measurement> measurements_of(const StepNoise& noise, const Json& measure) {
  Json document = study_document();
  document["command"] = Json::array({"train", "{run}"});
  document["parameters"] = Json::parse(R"({"run": {"type": "int", "low": 1, "high": 300}})");
  document["baseline"] = Json::parse(R"({"run": 1})");
  document["planned_run"] = Json::parse(R"({"samples": 1e6, "batch_size": 1})");
  document["search"]["searcher"] = "grid";
  document["budget"]["trials"] = 300;
  document["search"]["worth"] = 0.0;
  document["measure"] = measure;
  document["measure"]["confirm_pairs"] = 0;
  const DatabaseFolder folder;
  SimulatedRun run(folder.path(), document, train);
  ReplayOptions options;
  options.noise = noise;
  ReplayRunner runner(run.clock, synthetic_replay_model([](const Configuration&) {
                        return std::optional(k_seconds_per_sample);
                      }),
                      options);
  const auto result = run.run_on(runner);
  EXPECT_TRUE(result) << result.error().text();
  std::vector<Measurement> measurements;
  for (const TrialRecord& trial : run.trials()) {
    if (trial.status == TrialStatus::completed) measurements.push_back(*trial.measurement);
  }
  // A few trials may seem to drift by chance.
  EXPECT_GE(measurements.size(), 295U);
  return measurements;
}

double share_covered(const std::vector<Measurement>& measurements) {
  int covered = 0;
  for (const Measurement& m : measurements)
    covered += std::abs(m.seconds_per_sample - k_seconds_per_sample) <= m.half_width_s ? 1 : 0;
  return covered / static_cast<double>(measurements.size());
}

TEST(TrialsThatEndByThemselves, HaveIntervalsThatCoverTheTrueTime) {
  for (const double step : {0.02, 0.05}) {
    for (const double correlation : {0.0, 0.3}) {
      StepNoise noise;
      noise.step = step;
      noise.correlation = correlation;
      noise.warmup_steps = 5.0;
      EXPECT_GE(share_covered(measurements_of(noise, Json::object())), 0.89)
          << step << ' ' << correlation;
    }
  }
}

/// Returns the mean number of steps of the search's trials. Their steps hardly vary, but the
/// baseline's steps vary by `noise`.
double mean_steps_beside(double noise) {
  const DatabaseFolder folder;
  SimulatedRun run(folder.path(), study_document(), [&](const TrialSpec& spec) {
    TrialScript script = train(spec);
    // All configurations have the same speed, so no trial ends early for being slower.
    script.seconds_per_step = 0.1;
    script.samples_per_step = to_number(*spec.configuration.find("batch_size"));
    script.noise = spec.key.trial == 1 ? noise : 0.001;
    return script;
  });
  EXPECT_TRUE(run.run());
  double steps = 0.0, count = 0.0;
  for (const TrialRecord& trial : run.trials()) {
    if (trial.purpose != TrialPurpose::search || trial.status != TrialStatus::completed) continue;
    steps += trial.measurement->window_steps;
    count += 1.0;
  }
  EXPECT_GT(count, 5.0);
  return steps / count;
}

TEST(TrialsThatEndByThemselves, TakeLongerIfTheBaselineVaried) {
  EXPECT_GT(mean_steps_beside(0.2), 1.3 * mean_steps_beside(0.001));
}

TEST(TrialsThatEndByThemselves, RunForAsManyStepsAsTheStudySays) {
  const StepNoise noise{.step = 0.001, .correlation = 0.0, .warmup_slowdown = 0.0};
  const auto fewest_steps = [&](const char* measure) {
    double fewest = std::numeric_limits<double>::infinity();
    for (const Measurement& m : measurements_of(noise, Json::parse(measure)))
      fewest = std::min(fewest, m.total_samples);
    return fewest;
  };
  EXPECT_GE(fewest_steps("{}"), 30.0);
  const double fewer = fewest_steps(R"({"min_window_steps": 12})");
  EXPECT_GE(fewer, 12.0);
  EXPECT_LT(fewer, 30.0);
}

}  // namespace
}  // namespace steptune::simulation
