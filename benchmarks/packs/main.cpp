// SPDX-License-Identifier: Apache-2.0
// packs: what a tuning on SageMaker takes and finds by how many trials a job runs in turn,
// rehearsed with several seeds of the searcher and of what differs from day to day.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/rehearsal/rehearsal.hpp"

namespace steptune {
namespace {

constexpr std::uint64_t k_most_configurations = 1'000'000;
constexpr double k_wall_time_s = 1'795'000'000.0;

struct Options {
  std::string study;
  std::string seconds_per_sample;
  std::vector<int> trials_per_job{1, 2, 4, 6, 8};
  int seeds = 40;
};

struct Totals {
  double trials = 0.0;
  double cold = 0.0;
  double warm = 0.0;
  double duration_s = 0.0;
  double usd = 0.0;
  double not_training_usd = 0.0;
  double regret = 0.0;
  double worst_regret = 0.0;
};

/// What a sample costs with a configuration, by the model.
double usd_per_sample(const StudySpec& study, const SpeedModel& speed,
                      const Configuration& configuration) {
  return usd_per_hour(study, configuration) * speed(configuration).seconds_per_sample;
}

double least_usd_per_sample(const StudySpec& study, const SpeedModel& speed) {
  double least = INFINITY;
  const auto all = study.space.enumerate(k_most_configurations);
  if (!all) return least;
  for (const Configuration& configuration : *all)
    least = std::min(least, usd_per_sample(study, speed, configuration));
  return least;
}

Result<Totals> rehearse_all(const Options& options, Json document, int trials_per_job) {
  document["runner"]["trials_per_job"] = trials_per_job;
  Totals totals;
  std::optional<double> least;
  for (int seed = 1; seed <= options.seeds; ++seed) {
    document["search"]["seed"] = seed;
    const auto study = study_from_json(document, options.study, machine_facts());
    if (!study) return tl::unexpected(study.error());
    const auto speed = expressed_speed(*study, options.seconds_per_sample);
    if (!speed) return tl::unexpected(speed.error());
    const auto tuning =
        rehearse_tuning(*study, *speed, static_cast<std::uint64_t>(seed), k_wall_time_s);
    if (!tuning) return tl::unexpected(tuning.error());
    totals.trials += tuning->trials;
    totals.cold += tuning->bill.cold_starts;
    totals.warm += tuning->bill.warm_starts;
    totals.duration_s += tuning->duration_s;
    totals.usd += tuning->bill.usd;
    totals.not_training_usd += tuning->bill.not_training_usd;
    if (!tuning->recommended) continue;
    // The same for every seed.
    if (!least) least = least_usd_per_sample(*study, *speed);
    const double regret = usd_per_sample(*study, *speed, *tuning->recommended) / *least - 1.0;
    totals.regret += regret;
    totals.worst_regret = std::max(totals.worst_regret, regret);
  }
  return totals;
}

int run(const Options& options) {
  const auto document = read_json_file(options.study);
  if (!document) {
    fmt::print(stderr, "packs: {}\n", document.error().text());
    return 2;
  }
  fmt::print(
      "per job  trials   cold   warm  not warm  duration   bill  not training   dearer than "
      "the best (worst)\n");
  for (const int count : options.trials_per_job) {
    const auto totals = rehearse_all(options, *document, count);
    if (!totals) {
      fmt::print(stderr, "packs: {}\n", totals.error().text());
      return 1;
    }
    const double seeds = options.seeds;
    fmt::print(
        "{:7} {:7.1f} {:6.1f} {:6.1f} {:8.0f}% {:8.0f} s ${:5.2f} {:12.0f}% {:12.1f}% ({:.1f}%)\n",
        count, totals->trials / seeds, totals->cold / seeds, totals->warm / seeds,
        100.0 * totals->cold / totals->trials, totals->duration_s / seeds, totals->usd / seeds,
        100.0 * totals->not_training_usd / totals->usd, 100.0 * totals->regret / seeds,
        100.0 * totals->worst_regret);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace steptune

int main(int argc, char** argv) {
  steptune::Options options;
  CLI::App app("What trials that run in turn in a job save on SageMaker, and what they cost");
  app.add_option("STUDY", options.study, "Study file with the runner \"sagemaker\"")->required();
  app.add_option("--seconds-per-sample", options.seconds_per_sample,
                 "Expression over the parameters")
      ->required();
  app.add_option("--trials-per-job", options.trials_per_job, "Which counts to compare");
  app.add_option("--seeds", options.seeds, "Rehearsals of each");
  CLI11_PARSE(app, argc, argv);
  return steptune::run(options);
}
