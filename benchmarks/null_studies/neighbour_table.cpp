// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/null_studies/neighbour_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "benchmarks/null_studies/simulated_studies.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::null_studies {
namespace {

/// Start-up and step time of a small training program. Measurements of a program with these times
/// were the reason to let trials take turns of a quarter of a second.
constexpr double k_startup_s = 1.5;
constexpr double k_step_s = 0.05;

struct TimeBudget {
  const char* name;
  double time_s;
};
constexpr TimeBudget k_time_budgets[] = {{"3 min", 180.0}, {"6 min", 360.0}};

/// Sums over the studies of a cell.
struct NeighbourCell {
  double studies = 0.0;
  double claims = 0.0;
  double claims_hold = 0.0;  ///< claims whose interval contains the true speed-up
  /// Sum of log(true speed-up of the finalist) / log(best true speed-up).
  double found = 0.0;
  double finalists = 0.0;  ///< studies with an interval for their finalist
  double finalists_hold = 0.0;
  double half_width = 0.0;  ///< sum of the half-widths of the finalists' intervals, in logarithms
  double pairs = 0.0;
  double seconds = 0.0;

  void add(const Outcome& outcome, double best) {
    studies += 1.0;
    seconds += outcome.elapsed_s;
    if (!outcome.finalist) return;
    const SpeedUp& speed_up = outcome.finalist->speed_up;
    pairs += speed_up.pairs;
    if (best > 1.0) found += std::log(outcome.finalist->truth) / std::log(best);
    const bool is_known = std::isfinite(std::log(speed_up.high / speed_up.low));
    const bool holds =
        speed_up.low <= outcome.finalist->truth && outcome.finalist->truth <= speed_up.high;
    if (outcome.claim == Claim::faster) {
      claims += 1.0;
      claims_hold += holds ? 1.0 : 0.0;
    }
    if (!is_known) return;
    finalists += 1.0;
    finalists_hold += holds ? 1.0 : 0.0;
    half_width += 0.5 * std::log(speed_up.high / speed_up.low);
  }
};

/// Formats a mean as `0.950`, or as `-` if nothing was counted.
std::string mean_text(double sum, double count) {
  return count > 0.0 ? fmt::format("{:.3f}", sum / count) : "-";
}

bool print_neighbour_cell(const NeighbourTable& table, double truth, double launch_variation,
                          const TimeBudget& budget, bool in_turns, bool in_rounds) {
  Machine machine{launch_variation, 0.0, table.step_noise};
  machine.neighbours = table.neighbours;
  machine.neighbour_slowness = table.slowness;
  machine.in_turns = in_turns;
  machine.warmup_steps = table.warmup_steps;
  Program program{truth, k_startup_s};
  // Always list the speeds: without a list, all seeds would try the configurations in the same
  // order.
  program.speeds = table.speeds;
  if (program.speeds.empty()) {
    program.speeds.assign(static_cast<std::size_t>(table.configurations), 1.0);
    program.speeds.back() = truth;
  }
  const double best = *std::ranges::max_element(program.speeds);
  program.step_s = k_step_s;
  program.worth = table.worth;
  NeighbourCell cell;
  for (int i = 0; i < table.studies; ++i) {
    const DatabaseFolder folder;
    const auto outcome = run_study(machine, program,
                                   Json{{"trials", program.speeds.size()}, {"time", budget.time_s}},
                                   table.first_seed + static_cast<std::uint64_t>(i), folder.path(),
                                   Json{{"sentinels", in_rounds}});
    if (!outcome) {
      fmt::print(stderr, "null_studies: {}\n", outcome.error().text());
      return false;
    }
    cell.add(*outcome, best);
  }
  fmt::print(
      "{:>6.2f} {:>7.0f} % {:>7} {:>6} {:>6} {:>6.2f} {:>9.3f} {:>9} {:>9} {:>10} {:>6.1f} "
      "{:>7.0f} s\n",
      best, 100.0 * launch_variation, budget.name, in_turns ? "on" : "off",
      !in_turns   ? "-"
      : in_rounds ? "on"
                  : "off",
      cell.found / cell.studies, cell.claims / cell.studies,
      mean_text(cell.claims_hold, cell.claims), mean_text(cell.finalists_hold, cell.finalists),
      mean_text(cell.half_width, cell.finalists), cell.pairs / cell.studies,
      cell.seconds / cell.studies);
  std::fflush(stdout);
  return true;
}

}  // namespace

void add_neighbour_options(CLI::App& app, NeighbourTable& table) {
  app.add_option("--neighbour", table.slowness,
                 "Print a table of studies beside neighbours instead. Each neighbour slows every "
                 "program down by this factor while it is busy; 1: an idle machine")
      ->check(CLI::Range(1.0, 10.0));
  app.add_option("--neighbours", table.neighbours,
                 "With --neighbour: number of neighbours; each is busy for 1 to 6 s, then idle for "
                 "1 to 6 s")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--configurations", table.configurations,
                 "With --neighbour: size of the search space, baseline included; at most one "
                 "configuration is faster")
      ->check(CLI::Range(2, 100))
      ->capture_default_str();
  app.add_option("--truths", table.truths,
                 "With --neighbour: true speed-ups of the last configuration; each has its rows")
      ->check(CLI::Range(0.1, 10.0))
      ->capture_default_str();
  app.add_option("--speeds", table.speeds,
                 "With --neighbour: speed of each configuration, instead of --configurations and "
                 "--truths; the first is the baseline's")
      ->check(CLI::Range(0.1, 100.0));
  app.add_option("--rounds", table.rounds,
                 "With --neighbour: true: search trials, too, take turns where confirming runs do; "
                 "false: they do not, and there are no sentinels. Give both for a row each")
      ->capture_default_str();
  app.add_option("--worth", table.worth, "With --neighbour: least gain that counts")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
}

bool print_neighbours(const NeighbourTable& table) {
  fmt::print("{} neighbour{}, each slows programs down by a factor of {:g} while it is busy\n",
             table.neighbours, table.neighbours == 1 ? "" : "s", table.slowness);
  fmt::print("{:>6} {:>9} {:>7} {:>6} {:>6} {:>6} {:>9} {:>9} {:>9} {:>10} {:>6} {:>9}\n", "best",
             "launches", "budget", "turns", "rounds", "found", "\"faster\"", "covered", "all cov.",
             "half-width", "pairs", "tuning");
  for (const double truth : table.truths) {
    for (const double launch_variation : table.launch_variations) {
      for (const TimeBudget& budget : k_time_budgets) {
        for (const bool in_turns : table.turns) {
          for (const bool in_rounds : table.rounds) {
            if (!print_neighbour_cell(table, truth, launch_variation, budget, in_turns, in_rounds))
              return false;
          }
        }
      }
    }
  }
  return true;
}

}  // namespace steptune::null_studies
