// SPDX-License-Identifier: Apache-2.0
// parallel_plans: counts launches until a search finds a parallel plan for a language model that is
// within 5 % of the best. Also counts launches that run out of memory.

#include <algorithm>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/parallel_plans/simulated_search.hpp"

namespace steptune::parallel_plans {
namespace {

struct Options {
  int seeds = 20;
  std::uint64_t first_seed = 0;
  int launches = 100;
  std::vector<std::string> arms;
  std::string spaces = STEPTUNE_SPACES;
};

/// Returns the quantile at `share` as text. nullopt counts as infinite; an infinite quantile is
/// written as "never".
std::string quantile_text(std::vector<std::optional<int>> values, double share) {
  std::ranges::sort(values, [](const auto& a, const auto& b) { return a && (!b || *a < *b); });
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  return values[at] ? fmt::format("{}", *values[at]) : "never";
}

Result<void> run(const TrainingJob& job, const Options& options) {
  const auto plan = plan_study(job, options.spaces);
  if (!plan) return tl::unexpected(plan.error());
  const double today_s = launch(job, plan->study.baseline).step_s.value_or(0.0);
  fmt::print(
      "{}: {} legal plans, {:.0f} % of them fit; today's takes {:.2f} times the best one's time\n",
      job.name, plan->plans,
      100.0 * static_cast<double>(plan->fitting) / static_cast<double>(plan->plans),
      today_s / plan->best_s);
  fmt::print("  {:<24}{:>10}{:>12}{:>12}{:>12}\n", "searcher", "median", "nine of 10",
             "out of mem.", "found");
  for (const Arm& arm : arms()) {
    const bool is_wanted =
        options.arms.empty() || std::ranges::find(options.arms, arm.name) != options.arms.end();
    if (!is_wanted) continue;
    std::vector<std::optional<int>> launches;
    double failures = 0.0;
    double solved = 0.0;
    for (int i = 0; i < options.seeds; ++i) {
      const auto seed = options.first_seed + static_cast<std::uint64_t>(i);
      const auto result = simulated_search(*plan, arm, seed, options.launches);
      if (!result) return tl::unexpected(result.error());
      launches.push_back(result->launches);
      failures += result->out_of_memory;
      solved += result->launches ? 1.0 : 0.0;
    }
    fmt::print("  {:<24}{:>10}{:>12}{:>12.1f}{:>12.2f}\n", arm.name, quantile_text(launches, 0.5),
               quantile_text(launches, 0.9), failures / options.seeds, solved / options.seeds);
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace steptune::parallel_plans

int main(int argc, char** argv) {
  using namespace steptune::parallel_plans;
  CLI::App app{"Launches until a parallel plan is within 5 % of the best"};
  Options options;
  app.add_option("--seeds", options.seeds, "number of seeds for each kind of search")
      ->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "the first seed")->capture_default_str();
  app.add_option("--launches", options.launches, "most launches of a search")
      ->capture_default_str();
  app.add_option("--arm", options.arms, "only this kind of search; repeatable");
  app.add_option("--spaces", options.spaces, "folder of the ready-made spaces");
  CLI11_PARSE(app, argc, argv);
  for (const TrainingJob& job : training_jobs()) {
    if (const auto done = run(job, options); !done) {
      fmt::print(stderr, "error: {}\n", done.error().text());
      return 1;
    }
  }
  return 0;
}
