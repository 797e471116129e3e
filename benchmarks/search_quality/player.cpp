// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/player.hpp"

#include "search/early_stopping.hpp"
#include "search/scheduler.hpp"

namespace steptune::search_quality {
namespace {

class OwnProposer final : public Proposer {
 public:
  explicit OwnProposer(std::unique_ptr<Searcher> searcher) : searcher_(std::move(searcher)) {}

  Result<std::optional<Configuration>> propose(std::int64_t trial) override {
    auto suggestion = searcher_->suggest({trial, {}, {}});
    if (!suggestion) return tl::unexpected(suggestion.error());
    if (!*suggestion) return std::optional<Configuration>{};
    return (*suggestion)->configuration;
  }

  Searcher* searcher() override { return searcher_.get(); }

  Result<void> learn(const Observation& observation) override {
    searcher_->observe(observation);
    return {};
  }

 private:
  std::unique_ptr<Searcher> searcher_;
};

Observation observation_of(std::int64_t trial, const Evaluation& evaluation) {
  Observation observation;
  observation.trial = trial;
  observation.configuration = evaluation.configuration;
  observation.fidelity = evaluation.fidelity;
  observation.milestones = evaluation.milestones;
  if (!evaluation.values) {
    observation.kind = ObservationKind::failed;
    observation.fidelity = 1.0;
    return observation;
  }
  observation.kind =
      evaluation.fidelity < 1.0 ? ObservationKind::partial : ObservationKind::complete;
  observation.values = *evaluation.values;
  observation.standard_errors.assign(observation.values.size(), 0.0);
  return observation;
}

/// Plays at most `trials` trials. Ends earlier if `run` returns true: the goal is reached.
template <typename Run>
Result<Trajectory> play_trials(const Problem& problem, Proposer& proposer, std::uint64_t seed,
                               int trials, const Clock& clock, const Run& run) {
  Trajectory trajectory;
  trajectory.seed = seed;
  double learning_ms = 0.0;
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    const double asked_s = clock.now_s();
    auto configuration = proposer.propose(trial);
    if (!configuration) return tl::unexpected(configuration.error());
    if (!*configuration) break;
    const double proposed_s = clock.now_s();
    if (auto checked = problem.space->check(**configuration); !checked) {
      return fail(ErrorKind::internal, "an impossible proposal: " + checked.error().text());
    }
    Evaluation evaluation;
    evaluation.configuration = **std::move(configuration);
    evaluation.suggest_ms =
        proposer.thought_ms().value_or((proposed_s - asked_s) * 1e3 + learning_ms);
    const bool enough = run(trial, evaluation);
    const double learning_from_s = clock.now_s();
    Observation observation = observation_of(trial, evaluation);
    if (problem.tell) problem.tell(seed, observation);
    if (auto learnt = proposer.learn(observation); !learnt) {
      return tl::unexpected(learnt.error());
    }
    learning_ms = (clock.now_s() - learning_from_s) * 1e3;
    trajectory.evaluations.push_back(std::move(evaluation));
    if (enough) break;
  }
  return trajectory;
}

}  // namespace

Result<std::unique_ptr<Proposer>> own_proposer(const std::string& searcher, const Problem& problem,
                                               std::uint64_t seed,
                                               std::optional<int> initial_points,
                                               std::span<const Observation> earlier) {
  SearcherOptions options;
  options.seed = seed;
  options.initial_points = initial_points;
  options.objectives = problem.objectives;
  auto made = make_searcher(searcher, *problem.space, options);
  if (!made) return tl::unexpected(made.error());
  for (const Observation& observation : earlier)
    (*made)->observe_earlier(0, observation);
  return std::make_unique<OwnProposer>(*std::move(made));
}

Result<Trajectory> play(const Problem& problem, Proposer& proposer, std::uint64_t seed, int trials,
                        const Clock& clock) {
  const std::size_t full = problem.fidelities.size() - 1;
  return play_trials(problem, proposer, seed, trials, clock,
                     [&](std::int64_t, Evaluation& evaluation) {
                       evaluation.values = problem.evaluate(evaluation.configuration, full);
                       return evaluation.values && problem.enough_regret &&
                              problem.regret((*evaluation.values)[0]) <= *problem.enough_regret;
                     });
}

Result<Trajectory> play_asha(const Problem& problem, Proposer& proposer, std::uint64_t seed,
                             int trials, double goal, const Clock& clock) {
  const auto& fidelities = problem.fidelities;
  auto made = make_scheduler("asha", {3.0, fidelities.front(), fidelities.back()});
  if (!made) return tl::unexpected(made.error());
  Scheduler& asha = **made;
  return play_trials(
      problem, proposer, seed, trials, clock, [&](std::int64_t trial, Evaluation& evaluation) {
        evaluation.cost = 0.0;
        EarlyStopping early_stopping({3.0, fidelities.front(), fidelities.back()});
        const auto decide = [&](const TrialEstimate& estimate) {
          Searcher* searcher = proposer.searcher();
          if (searcher == nullptr) return asha.on_estimate(estimate);
          StopDecision decision =
              early_stopping.decide(estimate, evaluation.configuration, asha, *searcher);
          evaluation.milestones.assign(early_stopping.milestones().begin(),
                                       early_stopping.milestones().end());
          return decision;
        };
        for (std::size_t level = 0; level < fidelities.size(); ++level) {
          evaluation.values = problem.evaluate(evaluation.configuration, level);
          if (!evaluation.values) return false;
          evaluation.fidelity = fidelities[level];
          evaluation.cost = fidelities[level];
          TrialEstimate estimate;
          estimate.trial = trial;
          estimate.resource = fidelities[level];
          estimate.values = *evaluation.values;
          estimate.half_widths.assign(estimate.values.size(), 0.0);
          if (decide(estimate).stop) return false;
        }
        return problem.regret((*evaluation.values)[0]) <= goal;
      });
}

}  // namespace steptune::search_quality
