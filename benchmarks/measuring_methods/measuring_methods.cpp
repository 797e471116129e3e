// SPDX-License-Identifier: Apache-2.0
// Simulates comparisons of two commands by several methods, and prints how wide their intervals are
// and how often these contain the truth.
#include <cmath>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/measuring_methods/methods.hpp"
#include "common/median.hpp"

namespace {

using namespace steptune::measuring_methods;

/// Returns the median half-width as a share of the ratio, and the share of intervals that contain
/// the truth. An unknown interval counts as infinitely wide.
std::string cell(Method method, Model model, int comparisons) {
  std::vector<double> half_widths;
  int covered = 0;
  for (int i = 0; i < comparisons; ++i) {
    ++model.seed;
    const Estimate estimate = compare(method, model);
    const bool is_known = std::isfinite(estimate.low) && std::isfinite(estimate.high);
    half_widths.push_back(is_known ? 0.5 * (estimate.high - estimate.low) / estimate.ratio
                                   : steptune::k_infinity);
    covered += !is_known || (estimate.low <= model.ratio && model.ratio <= estimate.high) ? 1 : 0;
  }
  return fmt::format("{:.1f} %, {:.2f}", 100.0 * steptune::median(half_widths).value_or(0.0),
                     static_cast<double>(covered) / comparisons);
}

}  // namespace

int main(int argc, char** argv) {
  int comparisons = 400;
  int neighbours = 2;
  Model model;
  std::vector<double> variations{0.0, 0.01, 0.03, 0.1, 0.15};
  std::vector<double> times_s{30.0, 60.0, 120.0};
  CLI::App program("Half-widths of several methods that compare two commands.",
                   "measuring_methods");
  program.add_option("--comparisons", comparisons, "Comparisons in each cell")
      ->check(CLI::Range(1, 1'000'000));
  program.add_option("--first-seed", model.seed, "Seed before the first comparison of each cell");
  program.add_option("--ratio", model.ratio, "B is so many times as fast as A")
      ->check(CLI::Range(0.1, 10.0));
  program.add_option("--variations", variations, "Variations of launches, as shares");
  program.add_option("--times", times_s, "Times of a comparison, in seconds")
      ->check(CLI::Range(15.0, 1e5));
  program.add_option("--neighbours", neighbours, "Neighbours in the second half of the table")
      ->check(CLI::Range(1, 8));
  program
      .add_option("--slowness", model.neighbour_slowness,
                  "Factor on all times for each busy neighbour")
      ->check(CLI::Range(1.0, 10.0));
  program
      .add_option("--duet-launch", model.duet_launch_s,
                  "Seconds of two simultaneous launches of duet benchmarking")
      ->check(CLI::Range(3.0, 1e5));
  CLI11_PARSE(program, argc, argv);

  std::string rule = "|---|---|---|";
  fmt::print("| neighbours | launches differ by | method |");
  for (const double time_s : times_s) {
    fmt::print(" {:g} s |", time_s);
    rule += "---|";
  }
  fmt::print("\n{}\n", rule);
  for (const int count : {0, neighbours}) {
    model.neighbours = count;
    for (const double variation : variations) {
      model.launch_variation = variation;
      for (const Method method : k_methods) {
        fmt::print("| {} | {:g} % | {} |", count, 100.0 * variation, to_text(method));
        for (const double time_s : times_s) {
          model.time_s = time_s;
          fmt::print(" {} |", cell(method, model, comparisons));
        }
        fmt::print("\n");
      }
    }
  }
  return 0;
}
