// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/parallel_plans/simulated_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "common/rng.hpp"
#include "search/searcher.hpp"
#include "tuner/init/overrides.hpp"
#include "tuner/init/ready_space.hpp"
#include "tuner/init/study_guess.hpp"

namespace steptune::parallel_plans {
namespace {

constexpr double k_goal = 1.05;
constexpr double k_noise = 0.01;
constexpr std::uint64_t k_most_plans = 4'000'000;

std::string word(double number) {
  return fmt::format("{:.0f}", number);
}

std::vector<std::string> command_of(const TrainingJob& job) {
  std::vector<std::string> argv = {"torchrun",
                                   "--nproc-per-node",
                                   word(job.gpus_per_node),
                                   "--nnodes",
                                   word(job.nodes),
                                   "pretrain_gpt.py",
                                   "--num-layers",
                                   word(job.layers),
                                   "--hidden-size",
                                   word(job.hidden),
                                   "--num-attention-heads",
                                   word(job.heads),
                                   "--num-query-groups",
                                   word(job.groups),
                                   "--seq-length",
                                   word(job.sequence),
                                   "--micro-batch-size",
                                   "1",
                                   "--global-batch-size",
                                   word(job.global_batch),
                                   "--sequence-parallel",
                                   "--use-flash-attn",
                                   "--use-distributed-optimizer",
                                   "--recompute-granularity",
                                   "full",
                                   "--recompute-method",
                                   "uniform",
                                   "--recompute-num-layers",
                                   "1"};
  argv.insert(argv.end(), job.plan.begin(), job.plan.end());
  return argv;
}

/// Returns the options of the space, and the options that turn on activation recomputation.
std::vector<ProgramOption> options_of_space(const ReadySpace& space) {
  std::vector<ProgramOption> options = declared_options(space);
  for (const char* name : {"--recompute-granularity", "--recompute-method",
                           "--recompute-num-layers", "--recompute-activations"}) {
    ProgramOption option;
    option.name = name;
    if (option.name == "--recompute-activations") option.form = OptionForm::flag;
    options.push_back(option);
  }
  return options;
}

Result<StudySpec> study_of(const TrainingJob& job, const std::filesystem::path& spaces) {
  auto space = read_ready_space(spaces / "megatron.json");
  if (!space) return tl::unexpected(space.error());
  std::erase_if(space->knobs, [](const SpaceKnob& knob) {
    return knob.parameter == "workers" || knob.parameter == "precision";
  });
  GuessInput input;
  input.name = "plans";
  input.space = &*space;
  input.program.argv = command_of(job);
  input.program.options = options_of_space(*space);
  input.machine = {{"cpus", 64.0}, {"gpus", job.gpus_per_node}, {"memory_gb", 1000.0}};
  const auto guess = guess_study(input);
  if (!guess) return tl::unexpected(guess.error());
  return study_from_json(guess->document, "/plans/plans.study.json", input.machine);
}

}  // namespace

Result<PlanStudy> plan_study(const TrainingJob& job, const std::filesystem::path& spaces) {
  auto study = study_of(job, spaces);
  if (!study) return tl::unexpected(study.error());
  PlanStudy plan{job, *std::move(study), 0, 0, std::numeric_limits<double>::infinity()};
  if (!launch(job, plan.study.baseline).step_s) {
    return fail(ErrorKind::internal, job.name + ": today's plan runs out of memory");
  }
  const auto points = plan.study.space.enumerate_points(k_most_plans);
  if (!points) return fail(ErrorKind::internal, job.name + ": too many plans to enumerate");
  const std::size_t width = plan.study.space.parameters().size();
  const std::span<const double> all(*points);
  for (std::size_t row = 0; row < all.size(); row += width) {
    const auto point = all.subspan(row, width);
    const Launch each = launch(job, plan.study.space.decode(Point(point.begin(), point.end())));
    ++plan.plans;
    if (!each.step_s) continue;
    ++plan.fitting;
    plan.best_s = std::min(plan.best_s, *each.step_s);
  }
  return plan;
}

std::vector<Arm> arms() {
  return {{"random", "random"},
          {"bayes, no peaks", "bayes"},
          {"bayes, peaks", "bayes", true},
          {"bayes, terms", "bayes", true, true},
          {"bayes, terms and size", "bayes", true, true, true}};
}

Result<SearchResult> simulated_search(const PlanStudy& plan, const Arm& arm, std::uint64_t seed,
                                      int most_launches) {
  SearcherOptions options;
  options.seed = seed;
  if (arm.knows_terms) {
    for (const document::Formula& term : plan.study.search.memory_terms)
      options.memory_terms.emplace_back(
          [&term](const Configuration& configuration) { return term.evaluate(configuration); });
  }
  const auto searcher = make_searcher(arm.searcher, plan.study.space, options);
  if (!searcher) return tl::unexpected(searcher.error());
  SearchResult result{{}, 0, std::numeric_limits<double>::infinity()};
  Configuration next = plan.study.baseline;
  for (int trial = 0; trial < most_launches; ++trial) {
    const Launch each = launch(plan.job, next);
    Rng rng(seed, "measurement", static_cast<std::uint64_t>(trial));
    Observation observation;
    observation.trial = trial;
    observation.configuration = next;
    if (each.step_s) {
      observation.values = {*each.step_s * std::exp(k_noise * rng.normal())};
      observation.standard_errors = {k_noise * observation.values[0]};
      result.best_s = std::min(result.best_s, *each.step_s);
      if (arm.knows_peaks) {
        observation.peak_memory_bytes = each.peak_bytes * std::exp(k_noise * rng.normal());
      }
      if (arm.knows_limit) observation.memory_limit_bytes = plan.job.memory_bytes;
    } else {
      observation.kind = ObservationKind::out_of_memory;
      ++result.out_of_memory;
    }
    if (result.best_s <= k_goal * plan.best_s) {
      result.launches = trial + 1;
      break;
    }
    (*searcher)->observe(observation);
    auto suggestion = (*searcher)->suggest({trial + 1, {}, {}});
    if (!suggestion) return tl::unexpected(suggestion.error());
    if (!*suggestion) break;
    next = (*suggestion)->configuration;
  }
  return result;
}

}  // namespace steptune::parallel_plans
