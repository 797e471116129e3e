// SPDX-License-Identifier: Apache-2.0
// How often a study claims that something is faster: where nothing is, and where something is.
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "benchmarks/null_studies/simulated_studies.hpp"

namespace steptune::null_studies {
namespace {

struct Options {
  int studies = 100;
  std::uint64_t first_seed = 0;
  double step_noise = 0.01;
};

struct Budget {
  const char* name;
  const char* json;
};
constexpr Budget k_budgets[] = {
    {"8 trials", R"({"trials": 8})"},
    {"2 min", R"({"trials": 8, "time": "2m"})"},
    {"6 min", R"({"trials": 8, "time": "6m"})"},
    {"20 min", R"({"trials": 8, "time": "20m"})"},
};

/// Too short for forty configurations: the search and the proof of what it found compete for it.
constexpr Budget k_short_budgets[] = {
    {"3 min", R"({"time": "3m"})"},
    {"6 min", R"({"time": "6m"})"},
};

/// Forty configurations between 0.7 and 1 times as fast as the baseline, but for one.
Program one_of_forty(double speed_up) {
  constexpr int k_others = 38;
  Program program{speed_up, 1.0};
  program.speeds = {1.0};
  for (int i = 0; i < k_others; ++i)
    program.speeds.push_back(0.7 + 0.3 * i / k_others);
  program.speeds.insert(program.speeds.begin() + k_others / 2, speed_up);
  return program;
}

/// Counts over the studies of a cell.
struct Cell {
  int studies = 0;
  int claims = 0;
  int covered = 0;  ///< of the claims: the interval holds the truth
  double seconds = 0.0;
  double trials = 0.0;
};

bool add_study(const Machine& machine, const Program& program, const Budget& budget,
               std::uint64_t seed, Cell& cell) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("null-studies-{}-{}", getpid(), seed);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto outcome =
      run_study(machine, program, *parse_json(budget.json, budget.name), seed, folder);
  std::filesystem::remove_all(folder, error);
  if (!outcome) {
    fmt::print(stderr, "null_studies: {}\n", outcome.error().text());
    return false;
  }
  ++cell.studies;
  cell.seconds += outcome->elapsed_s;
  cell.trials += static_cast<double>(outcome->trials);
  if (outcome->claim != Claim::faster) return true;
  ++cell.claims;
  const SpeedUp& speed_up = outcome->speed_up;
  cell.covered += speed_up.low <= outcome->truth && outcome->truth <= speed_up.high ? 1 : 0;
  return true;
}

bool print_cell(const Options& options, const Program& program, double launch_variation,
                double drift, const Budget& budget) {
  Machine machine{launch_variation, drift, options.step_noise};
  Cell cell;
  for (int i = 0; i < options.studies; ++i) {
    const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(i);
    if (!add_study(machine, program, budget, seed, cell)) return false;
  }
  const double count = cell.studies;
  const std::string coverage =
      cell.claims > 0 ? fmt::format("{:.3f}", cell.covered / static_cast<double>(cell.claims))
                      : "-";
  fmt::print("{:>6.2f} {:>7.0f} % {:>5.0f} % {:>9} {:>9.3f} {:>9} {:>8.0f} s {:>7.1f}\n",
             program.speed_up, 100.0 * launch_variation, 100.0 * drift, budget.name,
             cell.claims / count, coverage, cell.seconds / count, cell.trials / count);
  std::fflush(stdout);
  return true;
}

bool print_all(const Options& options) {
  fmt::print("{:>6} {:>9} {:>7} {:>9} {:>9} {:>9} {:>10} {:>7}\n", "truth", "launches", "drift",
             "budget", "\"faster\"", "interval", "tuning", "runs");
  for (const double launch_variation : {0.0, 0.01, 0.03}) {
    for (const double drift : {-0.01, 0.0, 0.01}) {
      for (const Budget& budget : k_budgets) {
        if (!print_cell(options, {1.0, 1.0}, launch_variation, drift, budget)) return false;
      }
    }
  }
  for (const double speed_up : {1.05, 1.1, 1.3}) {
    for (const Budget& budget : k_budgets) {
      if (!print_cell(options, {speed_up, 1.0}, 0.01, 0.0, budget)) return false;
    }
  }
  fmt::print("one of forty configurations\n");
  for (const double launch_variation : {0.01, 0.03, 0.1}) {
    for (const double speed_up : {1.0, 1.2, 1.5}) {
      for (const Budget& budget : k_short_budgets) {
        if (!print_cell(options, one_of_forty(speed_up), launch_variation, 0.0, budget)) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace
}  // namespace steptune::null_studies

int main(int argc, char** argv) {
  steptune::null_studies::Options options;
  CLI::App app{"Share of simulated studies that claim a faster configuration"};
  app.add_option("--studies", options.studies, "Studies in each cell")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "Seed of the first study in each cell")
      ->capture_default_str();
  app.add_option("--noise", options.step_noise, "Relative standard deviation of a step")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return steptune::null_studies::print_all(options) ? 0 : 1;
}
