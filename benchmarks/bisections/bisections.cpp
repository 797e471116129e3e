// SPDX-License-Identifier: Apache-2.0
// Simulates searches for a slow version, and prints how often each rule names it.
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/bisections/simulated_bisection.hpp"

namespace {

using namespace steptune::bisections;

void print_row(const std::string& rule, BisectionModel model, int searches,
               const std::function<SearchResult(const BisectionModel&)>& search) {
  int found = 0;
  int wrong = 0;
  double runs = 0.0;
  double suspects = 0.0;
  for (int i = 0; i < searches; ++i) {
    ++model.seed;
    const SearchResult result = search(model);
    const bool is_named = result.named.has_value();
    found += is_named && *result.named == result.first_slow ? 1 : 0;
    wrong += is_named && *result.named != result.first_slow ? 1 : 0;
    if (!is_named) suspects += static_cast<double>(result.suspects);
    runs += result.runs;
  }
  const int open = searches - found - wrong;
  const double share = 100.0 / searches;
  fmt::print("{:4.0f} %  {:>5.0f} min  {:7}  {:5.1f} %  {:5.1f} %  {:5.1f} %  {:>8}  {:5.0f}\n",
             100.0 * model.launch_variation, model.time_s / 60.0, rule, share * found,
             share * wrong, share * open, open > 0 ? fmt::format("{:.1f}", suspects / open) : "-",
             runs / searches);
}

}  // namespace

int main(int argc, char** argv) {
  int searches = 500;
  BisectionModel model;
  std::vector<double> variations{0.0, 0.01, 0.03, 0.1};
  std::vector<double> times_s{1800.0, 7200.0};
  CLI::App program("Searches for the slow one of simulated versions.", "bisections");
  program.add_option("--searches", searches, "Number of searches in each row");
  program.add_option("--versions", model.versions, "Versions after the good one");
  program.add_option("--slowdown", model.slowdown, "Relative slowdown of the slow versions");
  program.add_option("--run", model.run_s, "Seconds of one launch");
  program.add_option("--times", times_s, "Longest times of a search, in seconds");
  program.add_option("--variations", variations, "Relative variations of launches");
  CLI11_PARSE(program, argc, argv);

  fmt::print("{:>6}  {:>9}  {:7}  {:>7}  {:>7}  {:>7}  {:>8}  {:>5}\n", "varies", "time", "rule",
             "found", "wrong", "open", "suspects", "runs");
  for (const double variation : variations) {
    model.launch_variation = variation;
    for (const double time_s : times_s) {
      model.time_s = time_s;
      print_row("bisect", model, searches, bisect);
    }
    print_row("plain", model, searches, bisect_plainly);
  }
  return 0;
}
