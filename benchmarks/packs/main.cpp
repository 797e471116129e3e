// SPDX-License-Identifier: Apache-2.0
// packs: rehearses a study on SageMaker with different numbers of trials per job. Prints the cost
// and the result for each number. Repeats each rehearsal with several seeds. A seed decides the
// searcher's choices and how speeds vary from day to day.

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
  int first_seed = 1;
  int seeds = 40;
};

struct Totals {
  double trials = 0.0;
  double cold = 0.0;
  double warm = 0.0;
  double duration_s = 0.0;
  double starting_s = 0.0;
  double training_s = 0.0;
  double usd = 0.0;
  double not_training_usd = 0.0;
  double regret = 0.0;
  double worst_regret = 0.0;
};

/// Returns the cost of a sample under a configuration, by the speed model.
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

/// One way to distribute trials to SageMaker jobs.
struct PackingOption {
  std::string name;
  int trials_per_job = 1;
  bool pools = true;
};

/// Rehearses one study for each seed. Adds the figures of the cheapest possible schedule of the
/// same jobs to `least`.
Result<Totals> rehearse_all(const Options& options, Json document, const PackingOption& option,
                            Totals& least) {
  document["runner"]["trials_per_job"] = option.trials_per_job;
  if (!option.pools) document["runner"]["keep_alive"] = 0;
  Totals totals;
  std::optional<double> best;
  for (int seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
    document["search"]["seed"] = seed;
    const auto study = study_from_json(document, options.study, detected_facts());
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
    totals.starting_s += tuning->bill.starting_s;
    totals.training_s += tuning->bill.training_s;
    totals.usd += tuning->bill.usd;
    totals.not_training_usd += tuning->bill.not_training_usd;
    if (const auto& bill = tuning->bill.least) {
      least.trials += tuning->trials;
      least.cold += bill->cold_starts;
      least.warm += tuning->bill.cold_starts + tuning->bill.warm_starts - bill->cold_starts;
      least.duration_s += bill->duration_s;
      least.training_s += tuning->bill.training_s;
      least.usd += bill->usd;
      least.not_training_usd += bill->not_training_usd;
    }
    if (!tuning->recommended) continue;
    // The best cost is the same for every seed.
    if (!best) best = least_usd_per_sample(*study, *speed);
    const double regret = usd_per_sample(*study, *speed, *tuning->recommended) / *best - 1.0;
    totals.regret += regret;
    totals.worst_regret = std::max(totals.worst_regret, regret);
  }
  return totals;
}

void print(const std::string& name, const Totals& totals, double seeds) {
  const std::string starting =
      totals.starting_s > 0.0 ? fmt::format("{:.0f} s", totals.starting_s / seeds) : "-";
  fmt::print("{:9} {:6.1f} {:6.1f} {:6.1f} {:8.0f}% {:7.0f} s {:>9} {:7.0f} s ${:5.2f} {:12.0f}%",
             name, totals.trials / seeds, totals.cold / seeds, totals.warm / seeds,
             100.0 * totals.cold / totals.trials, totals.duration_s / seeds, starting,
             totals.training_s / seeds, totals.usd / seeds,
             100.0 * totals.not_training_usd / totals.usd);
}

int run(const Options& options) {
  const auto document = read_json_file(options.study);
  if (!document) {
    fmt::print(stderr, "packs: {}\n", document.error().text());
    return 2;
  }
  fmt::print(
      "per job   trials   cold   warm  not warm  duration   starting   training   bill  not "
      "training"
      "   dearer than the best (worst)\n");
  std::vector<PackingOption> packing_options{{"no pools", 1, false}};
  for (const int count : options.trials_per_job)
    packing_options.push_back({std::to_string(count), count, true});
  const double seeds = options.seeds;
  for (const PackingOption& option : packing_options) {
    Totals least;
    const auto totals = rehearse_all(options, *document, option, least);
    if (!totals) {
      fmt::print(stderr, "packs: {}\n", totals.error().text());
      return 1;
    }
    print(option.name, *totals, seeds);
    fmt::print(" {:12.1f}% ({:.1f}%)\n", 100.0 * totals->regret / seeds,
               100.0 * totals->worst_regret);
    if (option.pools && option.trials_per_job == 1) {
      print("1, least", least, seeds);
      fmt::print("\n");
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace steptune

int main(int argc, char** argv) {
  steptune::Options options;
  CLI::App app("Costs and results on SageMaker by the number of trials per job");
  app.add_option("STUDY", options.study, "Study file with the runner \"sagemaker\"")->required();
  app.add_option("--seconds-per-sample", options.seconds_per_sample,
                 "Seconds of a sample, as an expression over the parameters")
      ->required();
  app.add_option("--trials-per-job", options.trials_per_job,
                 "Numbers of trials per job to compare");
  app.add_option("--first-seed", options.first_seed, "Seed of the first rehearsal of each number");
  app.add_option("--seeds", options.seeds, "Rehearsals of each number");
  CLI11_PARSE(app, argc, argv);
  return steptune::run(options);
}
