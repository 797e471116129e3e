// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "search/searcher.hpp"
#include "search/searchers/bayes/candidate_pool.hpp"
#include "search/searchers/bayes/candidate_search.hpp"
#include "search/searchers/bayes/courses.hpp"
#include "search/searchers/bayes/feature_map.hpp"
#include "search/searchers/bayes/initial_design.hpp"
#include "search/searchers/bayes/memory_rule.hpp"
#include "search/searchers/bayes/objective_learner.hpp"
#include "search/searchers/bayes/outcome_learner.hpp"
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
  [[nodiscard]] std::optional<Advice> advise(const TrialProgress& progress) override;

 private:
  struct Measured {
    Point point;
    std::size_t row = 0;   ///< in the learners of the objectives
    bool winner = false;   ///< complete and feasible
    bool partial = false;  ///< stopped early
  };

  /// Nothing where the space does not have one of the values.
  [[nodiscard]] std::optional<Point> encode(const Configuration& configuration) const;
  [[nodiscard]] std::vector<Point> encode_running(std::span<const Configuration> running) const;
  [[nodiscard]] Suggestion to_suggestion(const Point& point, const char* origin) const;
  [[nodiscard]] int wanted_initial_points() const;
  [[nodiscard]] bool needs_initial_point(std::size_t running) const;
  /// The highest probability that is believed of the best trials so far; 1 where there are none.
  [[nodiscard]] double likeliest_of_promising(const Classifier& feasibility) const;
  [[nodiscard]] Surrogate make_surrogate(const std::vector<Point>& running, Rng& rng);
  [[nodiscard]] std::vector<Surrogate::World> make_worlds(const Matrix& pending);
  [[nodiscard]] std::vector<Point> promising_points() const;

  /// A trial that might be started, and what its best rule of stopping would gain per price.
  struct Prospect {
    Point point;
    double log_rate = 0.0;
  };
  /// What is believed about full trials that were not stopped, for advice.
  struct Outlook;

  /// Learns how the trial went on its way, and what all say now about full trials; returns what
  /// this one says if it was stopped and that much is known.
  [[nodiscard]] std::optional<FullValue> learn_course(const Observation& observation,
                                                      const Point& point);
  /// What the candidates are that `surrogate`, which outlives it, is to judge.
  [[nodiscard]] CandidateSearch candidate_search(
      const Surrogate& surrogate,
      const std::function<bool(std::span<const double>)>& admissible) const;
  [[nodiscard]] std::optional<Point> best_new_point(
      const std::function<bool(std::span<const double>)>& admissible);
  [[nodiscard]] std::optional<Outlook> outlook();
  /// The stopped trial most worth repeating at full length; nothing if none is worth more than
  /// nothing.
  [[nodiscard]] std::optional<Prospect> best_repetition(
      const Outlook& outlook, const std::function<bool(std::span<const double>)>& admissible) const;
  [[nodiscard]] double new_log_rate(const Outlook& outlook, const Point& point) const;

  const SearchSpace& space_;
  SearcherOptions options_;
  FeatureMap feature_map_;
  CandidatePool pool_;
  InitialDesign initial_design_;
  MemoryRule memory_rule_;
  PointSet seen_;
  std::vector<ObjectiveLearner> objectives_;
  OutcomeLearner feasibility_;
  OutcomeLearner crashes_;  ///< the same without the trials that ran out of memory
  MemoryModel memory_;
  std::vector<Measured> measured_;
  Courses courses_;
  std::size_t observed_ = 0;
  std::size_t failed_ = 0;
  std::size_t out_of_memory_ = 0;
  std::size_t earlier_trials_ = 0;
  bool told_of_failures_ = false;
};

}  // namespace steptune::bayes
