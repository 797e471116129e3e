// SPDX-License-Identifier: Apache-2.0
// suggest_latency: measures the time that a searcher takes per trial, for `suggest` and `observe`
// together, by the number of earlier observations. Eight mixed dimensions (3 integers, 2 choices of
// 5, 3 floats), one thread; see README.md.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/search_quality/function_problem.hpp"
#include "common/clock.hpp"
#include "common/json.hpp"
#include "common/rng.hpp"
#include "search/searcher.hpp"

namespace {

using namespace steptune;

struct Options {
  std::string searcher = "bayes";
  int repetitions = 50;
  int threads = 1;
  double failing = 0.0;
  std::vector<std::size_t> observed;
  std::string json;
};

struct Row {
  std::size_t observations = 0;
  std::size_t objectives = 1;
  /// Milliseconds for learning from all earlier observations at once, as a resumed study does.
  double first_ms = 0.0;
  double median_ms = 0.0;
  double p99_ms = 0.0;
  double cpu_median_ms = 0.0;  ///< processor time, which other load on the machine hardly changes
  double memory_mb = 0.0;      ///< resident memory of the whole process
};

/// Returns the resident memory of this process; 0 if /proc/self/statm cannot be read.
double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double total_pages = 0.0;
  double resident_pages = 0.0;
  file >> total_pages >> resident_pages;
  return resident_pages * 4096.0 / 1e6;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(
      std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

/// Returns Ackley's function plus 0.1. The second objective, if any, grows with the distance of the
/// encoded configuration from a corner. The share `failing` of the trials fails.
Observation observation_of(const search_quality::Problem& problem, std::int64_t trial,
                           const Configuration& configuration, const Row& row, double failing) {
  Observation observation;
  observation.trial = trial;
  observation.configuration = configuration;
  if (Rng(1, "failures", static_cast<std::uint64_t>(trial)).uniform() < failing) {
    observation.kind = ObservationKind::failed;
    return observation;
  }
  observation.values = {0.1 + (*problem.evaluate(configuration, 0))[0]};
  if (row.objectives == 2) {
    double sum = 1.0;
    for (const double coordinate : problem.space->encode(configuration))
      sum += 0.2 * coordinate * coordinate;
    observation.values.push_back(sum);
  }
  observation.standard_errors.assign(row.objectives, 0.0);
  return observation;
}

Result<Row> measure(const search_quality::Problem& problem, Row row, const Options& options) {
  SearcherOptions searcher_options;
  searcher_options.threads = options.threads;
  searcher_options.objectives.assign(row.objectives, ObjectiveTraits{true});
  auto searcher = make_searcher(options.searcher, *problem.space, searcher_options);
  if (!searcher) return tl::unexpected(searcher.error());
  const SystemClock clock;
  Rng rng(3, "observations");
  std::int64_t trial = 0;
  while (trial < static_cast<std::int64_t>(row.observations)) {
    (*searcher)->observe(
        observation_of(problem, trial, *problem.space->sample(rng), row, options.failing));
    ++trial;
  }
  std::vector<double> times_ms;
  std::vector<double> cpu_ms;
  for (int i = 0; i <= options.repetitions; ++i, ++trial) {
    const std::clock_t started = std::clock();
    const double asked_s = clock.now_s();
    auto suggestion = (*searcher)->suggest({trial, {}, {}});
    if (!suggestion) return tl::unexpected(suggestion.error());
    if (!*suggestion) break;
    double spent_s = clock.now_s() - asked_s;
    const Observation observation =
        observation_of(problem, trial, (*suggestion)->configuration, row, options.failing);
    const double learning_from_s = clock.now_s();
    (*searcher)->observe(observation);
    spent_s += clock.now_s() - learning_from_s;
    if (i == 0) {
      row.first_ms = spent_s * 1e3;
    } else {
      times_ms.push_back(spent_s * 1e3);
      cpu_ms.push_back(static_cast<double>(std::clock() - started) * 1e3 / CLOCKS_PER_SEC);
    }
  }
  row.memory_mb = resident_mb();
  std::sort(times_ms.begin(), times_ms.end());
  std::sort(cpu_ms.begin(), cpu_ms.end());
  row.cpu_median_ms = quantile(cpu_ms, 0.5);
  row.median_ms = quantile(times_ms, 0.5);
  row.p99_ms = quantile(times_ms, 0.99);
  return row;
}

Result<void> run(const Options& options) {
  auto problem = search_quality::function_problem("ackley_mixed8");
  if (!problem) return tl::unexpected(problem.error());
  fmt::print("{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "observed", "objectives", "median ms",
             "p99 ms", "CPU ms", "first ms", "memory MB");
  Json json{{"schema_version", 1},
            {"searcher", options.searcher},
            {"repetitions", options.repetitions},
            {"threads", options.threads},
            {"failing", options.failing},
            {"rows", Json::array()}};
  for (const auto& [observations, objectives] : {std::pair<std::size_t, std::size_t>{50, 1},
                                                 {100, 1},
                                                 {200, 1},
                                                 {500, 1},
                                                 {1000, 1},
                                                 {50, 2},
                                                 {100, 2},
                                                 {200, 2}}) {
    if (!options.observed.empty() && std::find(options.observed.begin(), options.observed.end(),
                                               observations) == options.observed.end()) {
      continue;
    }
    Row wanted;
    wanted.observations = observations;
    wanted.objectives = objectives;
    auto row = measure(*problem, wanted, options);
    if (!row) return tl::unexpected(row.error());
    fmt::print("{:>12}{:>12}{:>12.2f}{:>12.2f}{:>12.2f}{:>12.1f}{:>12.0f}\n", row->observations,
               row->objectives, row->median_ms, row->p99_ms, row->cpu_median_ms, row->first_ms,
               row->memory_mb);
    std::fflush(stdout);
    json["rows"].push_back({{"observations", row->observations},
                            {"objectives", row->objectives},
                            {"median_ms", row->median_ms},
                            {"p99_ms", row->p99_ms},
                            {"cpu_median_ms", row->cpu_median_ms},
                            {"first_ms", row->first_ms},
                            {"memory_mb", row->memory_mb}});
  }
  if (options.json.empty()) return {};
  std::ofstream file(options.json);
  file << dump_json(json, 1) << '\n';
  file.close();
  if (!file) return fail(ErrorKind::usage, "can not be written", options.json);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures the time that a searcher takes per trial"};
  Options options;
  app.add_option("--searcher", options.searcher, "searcher to measure")->capture_default_str();
  app.add_option("--repetitions", options.repetitions, "suggestions measured per row")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "threads that the searcher may use")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--failing", options.failing, "share of trials that fail, at random")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  app.add_option("--observed", options.observed,
                 "only rows with these numbers of earlier observations");
  app.add_option("--json", options.json, "also write the table to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto outcome = run(options);
  if (outcome) return 0;
  fmt::print(stderr, "suggest_latency: {}\n", outcome.error().text());
  return outcome.error().kind == ErrorKind::usage ? 2 : 1;
}
