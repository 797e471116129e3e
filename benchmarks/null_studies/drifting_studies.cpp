// SPDX-License-Identifier: Apache-2.0
// Measures how often a study finds the fastest configuration although the machine becomes slower or
// faster during the search. Compares studies with and without sentinels: further trials of the
// baseline, which show a drift.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/null_studies/simulated_studies.hpp"
#include "common/rng.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::null_studies {
namespace {

struct Options {
  int studies = 100;
  std::uint64_t first_seed = 0;
  int configurations = 40;
  double startup_s = 3.0;
  double share_of_time = 0.0;
  double gap = 0.035;
  bool quiet_only = false;
};

/// Makes a program whose best five configurations differ by `gap` each. The other configurations
/// run at 0.7 to 1.15 times the baseline's speed. The seed decides the order in which they are
/// tried.
Program contest(const Options& options, std::uint64_t seed) {
  Rng rng(seed, "contest");
  Program program;
  program.startup_s = options.startup_s;
  std::vector<double> speeds;
  for (int place = 4; place >= 0; --place)
    speeds.push_back(1.171 * std::pow(1.0 + options.gap, place));
  while (speeds.size() + 1 < static_cast<std::size_t>(options.configurations))
    speeds.push_back(0.7 + 0.45 * rng.uniform());
  for (std::size_t i = speeds.size(); i > 1; --i)
    std::swap(speeds[i - 1], speeds[rng.below(i)]);
  program.speeds = {1.0};
  program.speeds.insert(program.speeds.end(), speeds.begin(), speeds.end());
  return program;
}

struct Cell {
  double studies = 0.0;
  double best = 0.0;  ///< number of studies that recommend the fastest configuration
  /// How much slower than the fastest the recommendation is, as a share; summed over studies.
  double lost = 0.0;
  double searched = 0.0;
  double searched_s = 0.0;
  double sentinels = 0.0;
  double reported_drift = 0.0;
};

bool play(const Options& options, const Machine& machine, const Json& budget, bool sentinels,
          Cell& cell) {
  for (int i = 0; i < options.studies; ++i) {
    const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(i);
    const Program program = contest(options, seed);
    const TemporaryFolder folder("drifting-studies");
    const auto outcome =
        run_study(machine, program, budget, seed, folder.path(), Json{{"sentinels", sentinels}});
    if (!outcome) {
      fmt::print(stderr, "drifting_studies: {}\n", outcome.error().text());
      return false;
    }
    const double fastest = *std::ranges::max_element(program.speeds);
    cell.studies += 1.0;
    cell.best += outcome->truth == fastest ? 1.0 : 0.0;
    cell.lost += fastest / outcome->truth - 1.0;
    cell.searched += static_cast<double>(outcome->searched);
    cell.searched_s += outcome->searched_s;
    cell.sentinels += static_cast<double>(outcome->sentinels);
    cell.reported_drift += outcome->reports_drift ? 1.0 : 0.0;
  }
  return true;
}

struct DriftCase {
  const char* name;
  double change;  ///< relative change of the step time from the search's start to its end
  bool is_sudden;
};
constexpr DriftCase k_drift_cases[] = {
    {"none", 0.0, false},  {"+5 %", 0.05, false},   {"+10 %", 0.1, false},
    {"+20 %", 0.2, false}, {"-15 %", -0.15, false}, {"+15 % at once", 0.15, true},
};

Machine machine_of(const DriftCase& drift, double launch_variation, double search_s) {
  Machine machine;
  machine.launch_variation = launch_variation;
  machine.slowness = [drift, search_s](double elapsed_s) {
    const double share = std::min(1.0, elapsed_s / search_s);
    return 1.0 + drift.change * (drift.is_sudden ? (share > 0.5 ? 1.0 : 0.0) : share);
  };
  return machine;
}

constexpr std::array<std::string_view, 8> k_headings{
    "        drift",  "launches differ by", "with sentinels", "fastest found",
    "behind fastest", "trials searched",    "sentinels run",  "report a drift"};

/// Prints the cells, right-aligned below their headings.
template <typename Cells>
void print_row(const Cells& cells) {
  for (std::size_t column = 0; column < k_headings.size(); ++column)
    fmt::print("{:>{}}{}", cells[column], std::max<std::size_t>(8, k_headings[column].size()),
               column + 1 < k_headings.size() ? "  " : "\n");
}

bool print_all(const Options& options) {
  print_row(k_headings);
  for (const double launch_variation : {0.0, 0.01, 0.03}) {
    Cell quiet;
    const Json all{{"trials", options.configurations}};
    Options few = options;
    few.studies = std::min(options.studies, 20);
    if (!play(few, machine_of(k_drift_cases[0], launch_variation, 1.0), all, false, quiet)) {
      return false;
    }
    const double search_s = quiet.searched_s / quiet.studies;
    Json budget = all;
    if (options.share_of_time > 0.0) budget["time"] = options.share_of_time * search_s;
    for (const DriftCase& drift : k_drift_cases) {
      if (options.quiet_only && drift.change != 0.0) continue;
      for (const bool sentinels : {false, true}) {
        Cell cell;
        const Machine machine = machine_of(drift, launch_variation, search_s);
        if (!play(options, machine, budget, sentinels, cell)) return false;
        print_row(std::array<std::string, k_headings.size()>{
            drift.name, fmt::format("{:.0f} %", 100.0 * launch_variation), sentinels ? "yes" : "no",
            fmt::format("{:.3f}", cell.best / cell.studies),
            fmt::format("{:.1f} %", 100.0 * cell.lost / cell.studies),
            fmt::format("{:.1f}", cell.searched / cell.studies),
            fmt::format("{:.1f}", cell.sentinels / cell.studies),
            fmt::format("{:.2f}", cell.reported_drift / cell.studies)});
        std::fflush(stdout);
      }
    }
  }
  return true;
}

}  // namespace
}  // namespace steptune::null_studies

int main(int argc, char** argv) {
  steptune::null_studies::Options options;
  CLI::App app{
      "Share of simulated studies that find the fastest configuration on a drifting machine"};
  app.add_option("--studies", options.studies, "Studies for each row of the table")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "Seed of the first study")
      ->capture_default_str();
  app.add_option("--configurations", options.configurations, "Size of the search space")
      ->check(CLI::Range(5, 1000))
      ->capture_default_str();
  app.add_option("--startup", options.startup_s, "Seconds until a trial's first step")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--share-of-time", options.share_of_time,
                 "Time budget, as a multiple of a search of all configurations; 0: none")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--gap", options.gap, "Relative difference between neighbours among the best five")
      ->check(CLI::Range(0.0, 0.1))
      ->capture_default_str();
  app.add_flag("--quiet-only", options.quiet_only, "Only machines that do not drift");
  CLI11_PARSE(app, argc, argv);
  return steptune::null_studies::print_all(options) ? 0 : 1;
}
