// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "search/searcher.hpp"
#include "search/searchers/bayes/candidate_pool.hpp"
#include "search/searchers/bayes/feature_map.hpp"
#include "search/searchers/bayes/initial_design.hpp"
#include "search/searchers/bayes/memory_rule.hpp"
#include "search/searchers/bayes/objective_learner.hpp"
#include "search/searchers/bayes/point_set.hpp"
#include "search/searchers/bayes/surrogate.hpp"

namespace steptune::bayes {

/// Bayesian optimisation with Gaussian processes over mixed, conditional and constrained spaces,
/// for one objective or two. See docs/algorithms/bayes.md for the method and its sources.
class BayesSearcher final : public Searcher {
 public:
  /// `space` outlives the searcher; one or two objectives.
  BayesSearcher(const SearchSpace& space, const SearcherOptions& options);

  void observe(const Observation& observation) override;
  void observe_earlier(std::size_t study, const Observation& observation) override;
  [[nodiscard]] std::vector<std::string> take_warnings() override;
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override;

 private:
  struct Measured {
    Point point;
    std::size_t row = 0;  ///< in the learners of the objectives
    bool winner = false;  ///< complete and feasible
  };

  [[nodiscard]] std::vector<Point> encode_running(std::span<const Configuration> running) const;
  [[nodiscard]] Suggestion to_suggestion(const Point& point, const char* origin) const;
  [[nodiscard]] int wanted_initial_points() const;
  [[nodiscard]] bool needs_initial_point(std::size_t running) const;
  [[nodiscard]] Surrogate make_surrogate(const std::vector<Point>& running, Rng& rng);
  [[nodiscard]] std::vector<Surrogate::World> make_worlds(const Matrix& pending);
  [[nodiscard]] std::vector<Point> promising_points() const;

  const SearchSpace& space_;
  SearcherOptions options_;
  FeatureMap feature_map_;
  CandidatePool pool_;
  InitialDesign initial_design_;
  MemoryRule memory_rule_;
  PointSet seen_;
  std::vector<ObjectiveLearner> objectives_;
  Learner feasibility_;
  Learner crashes_;  ///< the same without the trials that ran out of memory
  MemoryModel memory_;
  std::vector<Measured> measured_;
  std::size_t observed_ = 0;
  std::size_t failed_ = 0;
  std::size_t out_of_memory_ = 0;
  std::size_t earlier_trials_ = 0;
  bool told_of_failures_ = false;
};

}  // namespace steptune::bayes
