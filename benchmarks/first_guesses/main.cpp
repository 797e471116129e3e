// SPDX-License-Identifier: Apache-2.0
// first_guesses: compares searches with and without an expert's first guesses. Both start from the
// same baseline. Counts trials and seconds until a trial is within 5 % of the best, on made-up
// programs and recorded tables. With --programs, counts seconds until a trial is within 10 % of the
// best, on made-up programs that the hook has surveyed.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/first_guesses/programs.hpp"
#include "benchmarks/search_quality/step_time_model.hpp"
#include "benchmarks/search_quality/step_time_problem.hpp"
#include "benchmarks/search_quality/table_problem.hpp"
#include "common/json.hpp"
#include "common/median.hpp"
#include "common/rng.hpp"
#include "tuner/knobs/first_guesses.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune::search_quality {
namespace {

constexpr double k_near = 0.05;
constexpr double k_never = std::numeric_limits<double>::infinity();
/// Seconds that a trial of a made-up program measures after its start-up.
constexpr double k_window_s = 5.0;

struct Options {
  std::string searcher = "bayes";
  std::vector<std::string> tables;
  std::string seconds_column;
  int members = 20;
  std::uint64_t family_seed = 0;
  int seeds = 5;
  int trials = 60;
  bool programs = false;
  double noise = 0.03;    ///< relative standard error of a trial with --programs
  double time_s = 180.0;  ///< tuning time with --programs
};

struct Job {
  Problem problem;
  GuessMachine machine;
  std::optional<Configuration> baseline;  ///< nullopt: drawn at random for each seed
  /// Returns the seconds of a trial from its start to its end. May be empty.
  std::function<double(const Configuration&)> trial_s;
};

/// Number and seconds of all trials up to the first trial that is within 5 % of the best.
struct Effort {
  double trials = k_never;
  double seconds = k_never;
};

Result<Configuration> baseline_of(const Job& job, std::uint64_t seed) {
  if (job.baseline) return *job.baseline;
  const Problem& problem = job.problem;
  Rng rng(seed, "baseline");
  for (;;) {
    auto drawn = problem.space->sample(rng);
    if (!drawn) return fail(ErrorKind::internal, "no configuration satisfies the constraints");
    if (problem.evaluate(*drawn, problem.fidelities.size() - 1)) return *std::move(drawn);
  }
}

Result<Effort> effort_to_near(const Job& job, const Options& options, std::uint64_t seed,
                              bool guided) {
  const Problem& problem = job.problem;
  SearcherOptions settings;
  settings.seed = seed;
  settings.objectives = problem.objectives;
  auto made = make_searcher(options.searcher, *problem.space, settings);
  if (!made) return tl::unexpected(made.error());
  auto baseline = baseline_of(job, seed);
  if (!baseline) return tl::unexpected(baseline.error());
  Configuration configuration = *std::move(baseline);
  auto searcher = *std::move(made);
  if (guided) {
    searcher = with_first_guesses(std::move(searcher), *problem.space, configuration, job.machine,
                                  problem.objectives);
  }
  double seconds = 0.0;
  for (int trial = 1; trial <= options.trials; ++trial) {
    if (trial > 1) {
      auto suggestion = searcher->suggest({trial, {}, {}});
      if (!suggestion) return tl::unexpected(suggestion.error());
      if (!*suggestion) break;
      configuration = (*suggestion)->configuration;
    }
    const auto values = problem.evaluate(configuration, problem.fidelities.size() - 1);
    if (job.trial_s) seconds += job.trial_s(configuration);
    if (values && problem.regret((*values)[0]) <= k_near)
      return Effort{static_cast<double>(trial), seconds};
    Observation observation;
    observation.trial = trial;
    observation.configuration = configuration;
    observation.kind = values ? ObservationKind::complete : ObservationKind::failed;
    if (values) observation.values = *values;
    if (values) observation.standard_errors.assign(values->size(), 0.0);
    if (problem.tell) problem.tell(seed, observation);
    searcher->observe(observation);
  }
  return Effort{};
}

void print_row(const std::string& name, const std::string& searcher, const char* what,
               const std::vector<double>& without, const std::vector<double>& with) {
  int less = 0;
  int more = 0;
  for (std::size_t i = 0; i < with.size(); ++i) {
    less += with[i] < without[i] ? 1 : 0;
    more += with[i] > without[i] ? 1 : 0;
  }
  fmt::print(
      "{:<20} {:<7} {:<7} without {:>5.0f}  with {:>5.0f}  less in {} of {} runs, more in {}\n",
      name, searcher, what, *median(without), *median(with), less, with.size(), more);
}

Result<void> compare(const std::string& name, const std::vector<Job>& jobs,
                     const Options& options) {
  std::vector<double> trials[2];
  std::vector<double> seconds[2];
  for (const Job& job : jobs) {
    for (int i = 0; i < options.seeds; ++i) {
      for (const bool guided : {false, true}) {
        const auto effort = effort_to_near(job, options, static_cast<std::uint64_t>(i), guided);
        if (!effort) return tl::unexpected(effort.error());
        trials[guided ? 1 : 0].push_back(effort->trials);
        seconds[guided ? 1 : 0].push_back(effort->seconds);
      }
    }
  }
  print_row(name, options.searcher, "trials", trials[0], trials[1]);
  if (jobs.front().trial_s) print_row(name, options.searcher, "seconds", seconds[0], seconds[1]);
  return {};
}

Job made_up_program(std::uint64_t family_seed, std::uint64_t number) {
  const StepTimeModel model = draw_step_time_model(family_seed, number);
  // A configuration that runs out of memory does so at its first step.
  const auto trial_s = [model](const Configuration& configuration) {
    const auto parts = model.parts_of(configuration);
    return parts ? parts->startup_s * model.run_samples + k_window_s : model.startup_s;
  };
  return {step_time_problem(family_seed, number), {model.cpus, 8, true}, std::nullopt, trial_s};
}

/// Reads a recorded table. Its description may have extra keys: `machine` (where it was recorded),
/// `baseline`, and `trial_seconds` (the column with the seconds of each trial).
Result<Job> recorded_program(const std::string& table, std::string seconds_column) {
  auto problem = table_problem(table, {});
  if (!problem) return tl::unexpected(problem.error());
  const auto description = read_json_file(table);
  if (!description) return tl::unexpected(description.error());
  // A table without `machine` was recorded on a rented machine without GPUs, according to its web
  // page.
  Job job{*std::move(problem), {8, 0, false}, std::nullopt, {}};
  if (description->contains("machine")) {
    const Json& machine = (*description)["machine"];
    job.machine = {machine.value("cpus", 1), machine.value("gpus", 0),
                   machine.value("computes_bfloat16", false)};
  }
  if (description->contains("baseline")) {
    auto baseline = configuration_from_json((*description)["baseline"], table + "#/baseline");
    if (!baseline) return tl::unexpected(baseline.error());
    job.baseline = *std::move(baseline);
  }
  seconds_column = description->value("trial_seconds", seconds_column);
  if (seconds_column.empty()) return job;
  TableOptions with_seconds;
  with_seconds.two_objectives = true;
  with_seconds.second = seconds_column;
  auto timed = table_problem(table, with_seconds);
  if (!timed) return tl::unexpected(timed.error());
  // For a combination that the table lacks, assume the median time of the recorded combinations.
  job.trial_s = [evaluate = timed->evaluate,
                 median = timed->log_volume ? std::exp(timed->reference[1]) : timed->reference[1]](
                    const Configuration& configuration) {
    const auto values = evaluate(configuration, 0);
    return values ? (*values)[1] : median;
  };
  return job;
}

/// Share of the tuning time that is spent searching (tuner/loop/budget.hpp).
constexpr double k_search_share = 0.6;
constexpr double k_near_of_program = 0.1;

struct ProgramStudy {
  StudySpec study;
  double trial_s = 0.0;
};

Result<ProgramStudy> study_of(const MadeUpProgram& program, double time_s) {
  ProgramStudy made;
  made.trial_s = 2.0 * program.startup_s;
  DraftOptions wanted;
  wanted.name = "made-up";
  wanted.argv = {"python3", "train.py"};
  wanted.facts = made_up_facts();
  wanted.numeric = false;
  wanted.trials = k_search_share * time_s / made.trial_s;
  auto draft = draft_study(program.survey, wanted);
  if (!draft) return tl::unexpected(draft.error());
  auto study = study_from_json(draft->document, "/made-up.study.json", made_up_facts());
  if (!study) return tl::unexpected(study.error());
  made.study = *std::move(study);
  return made;
}

/// Returns the seconds of all trials until the search is near the best. It is near if the
/// configuration with the lowest measured time has a true time within 10 % of the lowest true time.
Result<double> seconds_to_near(const MadeUpProgram& program, const Options& options,
                               std::uint64_t seed) {
  const auto made = study_of(program, options.time_s);
  if (!made) return tl::unexpected(made.error());
  const StudySpec& study = made->study;
  SearcherOptions settings;
  settings.seed = seed;
  auto inner = make_searcher(options.searcher, study.space, settings);
  if (!inner) return tl::unexpected(inner.error());
  const auto searcher = with_first_guesses(*std::move(inner), study.space, study.baseline,
                                           {static_cast<int>(made_up_facts().at("cpus")), 0, false},
                                           settings.objectives, study.parameter_roles);
  Rng rng(seed, program.name);
  Configuration configuration = study.baseline;
  double seconds = 0.0;
  double least = k_never;
  for (std::int64_t trial = 1; seconds < k_search_share * options.time_s; ++trial) {
    if (trial > 1) {
      auto suggestion = searcher->suggest({trial, {}, {}});
      if (!suggestion) return tl::unexpected(suggestion.error());
      if (!*suggestion) break;
      configuration = (*suggestion)->configuration;
    }
    seconds += made->trial_s;
    const double truth = program.step_s(configuration);
    const double value = truth * std::exp(options.noise * rng.normal());
    if (value < least && truth <= (1.0 + k_near_of_program) * program.best_s) return seconds;
    least = std::min(least, value);
    Observation observation;
    observation.trial = trial;
    observation.configuration = configuration;
    observation.values = {value};
    observation.standard_errors = {options.noise * value};
    searcher->observe(observation);
  }
  return k_never;
}

Result<void> run_programs(const Options& options) {
  for (const MadeUpProgram& program : made_up_programs()) {
    std::vector<double> seconds;
    int reached = 0;
    for (int i = 0; i < options.seeds; ++i) {
      const auto took = seconds_to_near(program, options, static_cast<std::uint64_t>(i));
      if (!took) return tl::unexpected(took.error());
      seconds.push_back(*took);
      reached += *took < k_never ? 1 : 0;
    }
    fmt::print("{:<26} {:>6.0f} s  reached in {} of {} runs\n", program.name, *median(seconds),
               reached, options.seeds);
  }
  return {};
}

Result<void> run(const Options& options) {
  if (options.programs) return run_programs(options);
  std::vector<Job> family;
  for (int i = 0; i < options.members; ++i) {
    family.push_back(made_up_program(options.family_seed, static_cast<std::uint64_t>(i)));
  }
  if (!family.empty()) {
    if (auto done = compare("step times", family, options); !done) return done;
  }
  for (const std::string& table : options.tables) {
    auto job = recorded_program(table, options.seconds_column);
    if (!job) return tl::unexpected(job.error());
    const std::string name = job->problem.name;
    if (auto done = compare(name, {*std::move(job)}, options); !done) return done;
  }
  return {};
}

}  // namespace
}  // namespace steptune::search_quality

int main(int argc, char** argv) {
  using namespace steptune::search_quality;
  Options options;
  CLI::App app(
      "Trials and their seconds to within 5 % of the best, with and without first guesses");
  app.add_option("--searcher", options.searcher, "bayes, random or sobol")->capture_default_str();
  app.add_option("--table", options.tables, "description (.json) of a recorded table; repeatable");
  app.add_option("--trial-seconds", options.seconds_column,
                 "column with the seconds of a trial, for tables whose description names none");
  app.add_option("--step-times", options.members,
                 "number of programs from the synthetic family of step times")
      ->capture_default_str();
  app.add_option("--family-seed", options.family_seed, "seed that draws these programs")
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "number of seeds for each program")
      ->capture_default_str();
  app.add_option("--trials", options.trials, "most trials of a run")->capture_default_str();
  app.add_flag("--programs", options.programs,
               "use made-up programs that the hook has surveyed, on two CPUs");
  app.add_option("--noise", options.noise, "with --programs: relative standard error of a trial")
      ->capture_default_str();
  app.add_option("--time", options.time_s, "with --programs: tuning time in seconds")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto done = run(options);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().text());
  return 1;
}
