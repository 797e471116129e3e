// SPDX-License-Identifier: Apache-2.0
// first_guesses: trials to within 5 % of the best with and without the first guesses of an expert,
// both from the same drawn baseline, on made-up programs and on recorded tables.

#include <algorithm>
#include <cmath>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/search_quality/step_time_model.hpp"
#include "benchmarks/search_quality/step_time_problem.hpp"
#include "benchmarks/search_quality/table_problem.hpp"
#include "common/rng.hpp"
#include "tuner/knobs/first_guesses.hpp"

namespace steptune::search_quality {
namespace {

constexpr double k_near = 0.05;

struct Options {
  std::string searcher = "bayes";
  std::vector<std::string> tables;
  int members = 20;
  std::uint64_t family_seed = 0;
  int seeds = 5;
  int trials = 60;
};

struct Job {
  Problem problem;
  GuessMachine machine;
};

Result<double> trials_to_near(const Job& job, const Options& options, std::uint64_t seed,
                              bool guided) {
  const Problem& problem = job.problem;
  SearcherOptions settings;
  settings.seed = seed;
  settings.objectives = problem.objectives;
  auto made = make_searcher(options.searcher, *problem.space, settings);
  if (!made) return tl::unexpected(made.error());
  Rng rng(seed, "baseline");
  Configuration configuration;
  do {
    const auto drawn = problem.space->sample(rng);
    if (!drawn) return fail(ErrorKind::internal, "no configuration satisfies the constraints");
    configuration = *drawn;
  } while (!problem.evaluate(configuration, problem.fidelities.size() - 1));
  auto searcher = *std::move(made);
  if (guided) {
    searcher = with_first_guesses(std::move(searcher), *problem.space, configuration, job.machine,
                                  problem.objectives);
  }
  for (int trial = 1; trial <= options.trials; ++trial) {
    if (trial > 1) {
      auto suggestion = searcher->suggest({trial, {}, {}});
      if (!suggestion) return tl::unexpected(suggestion.error());
      if (!*suggestion) break;
      configuration = (*suggestion)->configuration;
    }
    const auto values = problem.evaluate(configuration, problem.fidelities.size() - 1);
    if (values && problem.regret((*values)[0]) <= k_near) return trial;
    Observation observation;
    observation.trial = trial;
    observation.configuration = configuration;
    observation.kind = values ? ObservationKind::complete : ObservationKind::failed;
    if (values) observation.values = *values;
    if (values) observation.standard_errors.assign(values->size(), 0.0);
    if (problem.tell) problem.tell(seed, observation);
    searcher->observe(observation);
  }
  return std::numeric_limits<double>::infinity();
}

double median_of(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

Result<void> compare(const std::string& name, const std::vector<Job>& jobs,
                     const Options& options) {
  std::vector<double> without;
  std::vector<double> with;
  for (const Job& job : jobs) {
    for (int i = 0; i < options.seeds; ++i) {
      const auto plain = trials_to_near(job, options, static_cast<std::uint64_t>(i), false);
      if (!plain) return tl::unexpected(plain.error());
      const auto guided = trials_to_near(job, options, static_cast<std::uint64_t>(i), true);
      if (!guided) return tl::unexpected(guided.error());
      without.push_back(*plain);
      with.push_back(*guided);
    }
  }
  int fewer = 0;
  int more = 0;
  for (std::size_t i = 0; i < with.size(); ++i) {
    fewer += with[i] < without[i] ? 1 : 0;
    more += with[i] > without[i] ? 1 : 0;
  }
  fmt::print("{:<20} {:<7} without {:>4}  with {:>4}  fewer in {} of {} runs, more in {}\n", name,
             options.searcher, median_of(without), median_of(with), fewer, with.size(), more);
  return {};
}

Result<void> run(const Options& options) {
  std::vector<Job> family;
  for (int i = 0; i < options.members; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    const StepTimeModel model = draw_step_time_model(options.family_seed, number);
    family.push_back({step_time_problem(options.family_seed, number), {model.cpus, 8, true}});
  }
  if (!family.empty()) {
    if (auto done = compare("step times", family, options); !done) return done;
  }
  for (const std::string& table : options.tables) {
    auto problem = table_problem(table, {});
    if (!problem) return tl::unexpected(problem.error());
    const std::string name = problem->name;
    // Rented machines without GPUs, as their page tells them.
    const std::vector<Job> job{{*std::move(problem), {8, 0, false}}};
    if (auto done = compare(name, job, options); !done) return done;
  }
  return {};
}

}  // namespace
}  // namespace steptune::search_quality

int main(int argc, char** argv) {
  using namespace steptune::search_quality;
  Options options;
  CLI::App app("Trials to within 5 % of the best, with and without first guesses");
  app.add_option("--searcher", options.searcher, "bayes, random or sobol")->capture_default_str();
  app.add_option("--table", options.tables, "description (.json) of a recorded table; repeatable");
  app.add_option("--step-times", options.members, "members of the synthetic family of step times")
      ->capture_default_str();
  app.add_option("--family-seed", options.family_seed, "that they are drawn from")
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "runs of each")->capture_default_str();
  app.add_option("--trials", options.trials, "most trials of a run")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto done = run(options);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().text());
  return 1;
}
