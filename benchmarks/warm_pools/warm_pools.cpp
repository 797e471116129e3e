// SPDX-License-Identifier: Apache-2.0
// Measures the cost and savings of warm pools on a simulated account. Compares billed seconds in
// which nothing trains: of this project's runner, two naive policies and the best possible
// schedule.
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/warm_pools/schedules.hpp"
#include "common/json.hpp"

namespace {

using steptune::Json;
using namespace steptune::bench;

Json to_json(const PoolFigures& figures) {
  return {{"training_s", figures.training_s},
          {"other_billed_s", figures.other_billed_s},
          {"least_other_s", figures.least_other_s},
          {"above_least", figures.other_billed_s / figures.least_other_s - 1.0},
          {"duration_s", figures.duration_s},
          {"cold_starts", figures.cold_starts},
          {"warm_starts", figures.warm_starts},
          {"mean_cold_start_s", figures.mean_cold_start_s},
          {"mean_warm_start_s", figures.mean_warm_start_s}};
}

}  // namespace

int main(int argc, char** argv) {
  int trials = 40;
  int types = 2;
  std::uint64_t seed = 1;
  bool json = false;
  CLI::App app("Billed seconds without training, by schedule of the jobs");
  app.add_option("--trials", trials, "Number of trials")->check(CLI::Range(1, 10'000));
  app.add_option("--types", types, "Number of instance types")->check(CLI::Range(1, 3));
  app.add_option("--seed", seed, "Seed of the workload");
  app.add_flag("--json", json, "Print JSON");
  CLI11_PARSE(app, argc, argv);

  Json document = {{"trials", trials}, {"types", types}, {"seed", seed}};
  if (!json) {
    fmt::print("{:>5}  {:<10} {:>12} {:>10} {:>7} {:>6} {:>6} {:>10}\n", "pools", "policy",
               "not training", "least", "above", "cold", "warm", "duration");
  }
  for (const int pools : {1, 4}) {
    const Workload workload = make_workload(trials, types, pools, seed);
    for (const auto& [name, policy] :
         {std::pair{"ours", Policy::ours}, std::pair{"no pools", Policy::no_pools},
          std::pair{"unordered", Policy::unordered}}) {
      const PoolFigures figures = play(workload, policy);
      document["pools"][std::to_string(pools)][name] = to_json(figures);
      if (json) continue;
      fmt::print("{:>5}  {:<10} {:>10.0f} s {:>8.0f} s {:>6.1f}% {:>6} {:>6} {:>8.0f} s\n", pools,
                 name, figures.other_billed_s, figures.least_other_s,
                 100.0 * (figures.other_billed_s / figures.least_other_s - 1.0),
                 figures.cold_starts, figures.warm_starts, figures.duration_s);
    }
  }
  if (json) fmt::print("{}\n", steptune::dump_json(document, 2));
  return 0;
}
