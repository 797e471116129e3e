// SPDX-License-Identifier: Apache-2.0
// Measures how often a study claims a speed-up, for programs with and without a truly faster
// configuration. Also measures how often a second study of the same program confirms the claim of
// the first.
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "benchmarks/null_studies/neighbour_table.hpp"
#include "benchmarks/null_studies/simulated_studies.hpp"

namespace steptune::null_studies {
namespace {

struct Options {
  int studies = 100;
  std::uint64_t first_seed = 0;
  double step_noise = 0.01;
  std::string searcher = "grid";
  std::vector<double> launch_variations{0.0, 0.01, 0.03};
  std::vector<double> drifts{-0.01, 0.0, 0.01};
  double warmup_steps = 2.0;
  double ends_after_steps = 0.0;
  bool stalls = false;
  bool only_null = false;
  bool only_forty = false;
  bool repeats = false;
  std::string turns;  ///< `on` or `off`; empty: off, but the table of neighbours has both
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

/// Budgets too short for forty configurations, so that search and confirmation compete for time.
constexpr Budget k_short_budgets[] = {
    {"3 min", R"({"time": "3m"})"},
    {"6 min", R"({"time": "6m"})"},
};

/// Makes a program of forty configurations. One has the speed `speed_up`; the others have 0.7 to 1
/// times the baseline's speed.
Program one_of_forty(double speed_up) {
  constexpr int k_others = 38;
  Program program{speed_up, 1.0};
  program.speeds = {1.0};
  for (int i = 0; i < k_others; ++i)
    program.speeds.push_back(0.7 + 0.3 * i / k_others);
  program.speeds.insert(program.speeds.begin() + k_others / 2, speed_up);
  return program;
}

/// With `--stalls`, each configuration stalls for 10 steps' time about every 200 steps (1 s every
/// 20 s).
constexpr double k_stall_period_steps = 200.0;
constexpr double k_stall_steps = 10.0;

bool holds(double low, double high, double value) {
  return low <= value && value <= high;
}

/// Counts over the studies of a table cell.
struct Cell {
  int studies = 0;
  int claims = 0;
  int covered = 0;  ///< claims whose interval contains the true speed-up
  double seconds = 0.0;
  double trials = 0.0;
};

/// Runs one study. If it cannot run, prints the error on stderr and returns nullopt.
std::optional<Outcome> play(const Machine& machine, const Program& program, const Budget& budget,
                            std::uint64_t seed) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("null-studies-{}-{}", getpid(), seed);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  auto outcome = run_study(machine, program, *parse_json(budget.json, budget.name), seed, folder);
  std::filesystem::remove_all(folder, error);
  if (outcome) return *std::move(outcome);
  fmt::print(stderr, "null_studies: {}\n", outcome.error().text());
  return std::nullopt;
}

void count(const Outcome& outcome, Cell& cell) {
  ++cell.studies;
  cell.seconds += outcome.elapsed_s;
  cell.trials += static_cast<double>(outcome.trials);
  if (outcome.claim != Claim::faster) return;
  ++cell.claims;
  cell.covered += holds(outcome.speed_up.low, outcome.speed_up.high, outcome.truth) ? 1 : 0;
}

Machine machine_of(const Options& options, double launch_variation, double drift) {
  Machine machine{launch_variation, drift, options.step_noise};
  machine.warmup_steps = options.warmup_steps;
  machine.in_turns = options.turns == "on";
  if (options.stalls) {
    machine.stall_period_steps = k_stall_period_steps;
    machine.stall_steps = k_stall_steps;
  }
  return machine;
}

/// Formats a share as `0.950`, or as `-` if `whole` is 0.
std::string share_text(int part, int whole) {
  return whole > 0 ? fmt::format("{:.3f}", part / static_cast<double>(whole)) : "-";
}

bool print_cell(const Options& options, Program program, double launch_variation, double drift,
                const Budget& budget) {
  program.searcher = options.searcher;
  program.ends_after_steps = options.ends_after_steps;
  const Machine machine = machine_of(options, launch_variation, drift);
  Cell cell;
  for (int i = 0; i < options.studies; ++i) {
    const auto outcome =
        play(machine, program, budget, options.first_seed + static_cast<std::uint64_t>(i));
    if (!outcome) return false;
    count(*outcome, cell);
  }
  const double studies = cell.studies;
  fmt::print("{:>6.2f} {:>7.0f} % {:>5.0f} % {:>9} {:>9.3f} {:>9} {:>8.0f} s {:>7.1f}\n",
             program.speed_up, 100.0 * launch_variation, 100.0 * drift, budget.name,
             cell.claims / studies, share_text(cell.covered, cell.claims), cell.seconds / studies,
             cell.trials / studies);
  std::fflush(stdout);
  return true;
}

bool print_forty(const Options& options) {
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

bool print_claims(const Options& options) {
  fmt::print("{:>6} {:>9} {:>7} {:>9} {:>9} {:>9} {:>10} {:>7}\n", "truth", "launches", "drift",
             "budget", "\"faster\"", "covered", "tuning", "runs");
  if (options.only_forty) return print_forty(options);
  for (const double launch_variation : options.launch_variations) {
    for (const double drift : options.drifts) {
      for (const Budget& budget : k_budgets) {
        if (!print_cell(options, {1.0, 1.0}, launch_variation, drift, budget)) return false;
      }
    }
  }
  if (options.only_null) return true;
  for (const double speed_up : {1.05, 1.1, 1.3}) {
    for (const Budget& budget : k_budgets) {
      if (!print_cell(options, {speed_up, 1.0}, 0.01, 0.0, budget)) return false;
    }
  }
  return print_forty(options);
}

/// Runs `studies` pairs of studies of the same program and prints one row.
bool print_repeats_cell(const Options& options, Program program, double launch_variation,
                        double drift) {
  program.searcher = options.searcher;
  program.ends_after_steps = options.ends_after_steps;
  const Budget& budget = k_budgets[0];
  const Machine machine = machine_of(options, launch_variation, drift);
  Cell cell;
  int both = 0, within_repeat = 0, within_interval = 0;
  for (int i = 0; i < options.studies; ++i) {
    const std::uint64_t seed = options.first_seed + 2 * static_cast<std::uint64_t>(i);
    const auto first = play(machine, program, budget, seed);
    const auto second = play(machine, program, budget, seed + 1);
    if (!first || !second) return false;
    count(*first, cell);
    count(*second, cell);
    if (first->claim != Claim::faster || second->claim != Claim::faster) continue;
    ++both;
    const SpeedUp& promised = first->speed_up;
    const double found = second->speed_up.ratio;
    within_repeat += holds(promised.repeat_low, promised.repeat_high, found) ? 1 : 0;
    within_interval += holds(promised.low, promised.high, found) ? 1 : 0;
  }
  fmt::print("{:>6.2f} {:>7.0f} % {:>5.0f} % {:>9.3f} {:>9} {:>9} {:>7} {:>9}\n", program.speed_up,
             100.0 * launch_variation, 100.0 * drift,
             cell.claims / static_cast<double>(cell.studies), share_text(cell.covered, cell.claims),
             both, share_text(within_repeat, both), share_text(within_interval, both));
  std::fflush(stdout);
  return true;
}

bool print_repeats(const Options& options) {
  fmt::print("{:>6} {:>9} {:>7} {:>9} {:>9} {:>9} {:>7} {:>9}\n", "truth", "launches", "drift",
             "\"faster\"", "covered", "both", "repeat", "interval");
  for (const double speed_up : {1.0, 1.05, 1.3, 2.0}) {
    for (const double launch_variation : options.launch_variations) {
      for (const double drift : options.drifts) {
        if (!print_repeats_cell(options, {speed_up, 1.0}, launch_variation, drift)) return false;
      }
    }
  }
  return true;
}

/// Prints the table that `--neighbour` requests. The table has its own launch variations unless
/// `--launches` is given.
bool print_beside_neighbours(const Options& options, bool are_launches_given,
                             NeighbourTable table) {
  table.studies = options.studies;
  table.first_seed = options.first_seed;
  table.step_noise = options.step_noise;
  table.warmup_steps = options.warmup_steps;
  if (are_launches_given) table.launch_variations = options.launch_variations;
  if (!options.turns.empty()) table.turns = {options.turns == "on"};
  if (!table.speeds.empty()) table.truths = {1.0};
  return print_neighbours(table);
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
  app.add_option("--searcher", options.searcher, "Searcher, as in a study file")
      ->capture_default_str();
  app.add_option("--launches", options.launch_variations,
                 "Relative standard deviations from launch to launch")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--drifts", options.drifts,
                 "Relative slowdown of each launch over the one before it")
      ->check(CLI::Range(-0.5, 0.5))
      ->capture_default_str();
  app.add_option(
         "--warmup-steps", options.warmup_steps,
         "The first step takes twice as long; the excess falls by the factor e in this many "
         "steps")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--ends-after", options.ends_after_steps,
                 "Programs end after this many steps, and no longer run is planned; 0: never")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_flag("--stalls", options.stalls, "All configurations stall for a second at random");
  app.add_flag("--only-null", options.only_null, "Only studies in which nothing is faster");
  app.add_flag("--only-forty", options.only_forty, "Only studies of forty configurations");
  app.add_flag("--repeats", options.repeats,
               "Check if a second study of the same program confirms the first one's promise");
  app.add_option(
         "--turns", options.turns,
         "on: trials of a round take turns of a quarter of a second; off: they run one after the "
         "other (default: off; with --neighbour: one row for each)")
      ->check(CLI::IsMember({"on", "off"}));
  steptune::null_studies::NeighbourTable neighbours;
  add_neighbour_options(app, neighbours);
  CLI11_PARSE(app, argc, argv);
  const bool done = app.count("--neighbour") > 0
                        ? print_beside_neighbours(options, app.count("--launches") > 0, neighbours)
                    : options.repeats ? print_repeats(options)
                                      : print_claims(options);
  return done ? 0 : 1;
}
