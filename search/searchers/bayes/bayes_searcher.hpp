// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/searcher.hpp"
#include "search/searchers/bayes/acquisition.hpp"
#include "search/searchers/bayes/candidate_pool.hpp"
#include "search/searchers/bayes/candidate_search.hpp"
#include "search/searchers/bayes/feasibility_classifier.hpp"
#include "search/searchers/bayes/feature_map.hpp"
#include "search/searchers/bayes/initial_design.hpp"
#include "search/searchers/bayes/learning_curve.hpp"
#include "search/searchers/bayes/memory_rule.hpp"
#include "search/searchers/bayes/objective_learner.hpp"
#include "search/searchers/point_set.hpp"

namespace steptune::bayes {

/// Bayesian optimization with Gaussian processes over mixed, conditional and constrained spaces,
/// for one objective or two. See docs/algorithms/bayes.md for the method and its sources.
class BayesSearcher final : public Searcher {
 public:
  /// `space` must outlive the searcher. There must be one or two objectives.
  BayesSearcher(const SearchSpace& space, const SearcherOptions& options);

  void observe(const Observation& observation) override;
  void observe_earlier(std::size_t study, const Observation& observation) override;
  [[nodiscard]] std::vector<std::string> take_warnings() override;
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override;
  [[nodiscard]] std::optional<StopDecision> should_stop(
      const Configuration& configuration, std::span<const Milestone> milestones) override;
  [[nodiscard]] std::string why_done() const override { return why_done_; }

 private:
  struct Measured {
    Point point;
    std::size_t row = 0;    ///< index of its last value among the objective learners' examples
    double fidelity = 1.0;  ///< fidelity of its last value
    bool winner = false;    ///< complete and feasible
    bool partial = false;   ///< stopped early
    std::vector<CurvePoint> curve;  ///< values before the last one; emptied once learned
  };
  /// A ranking of candidates, and points near which the search for the best candidate starts.
  struct CandidateRanking {
    Acquisition acquisition;
    /// Points of the trials that are best, or that are expected to be best at full length.
    std::vector<Point> promising;
  };

  /// Returns nullopt if a value is not in the space.
  [[nodiscard]] std::optional<Point> encode(const Configuration& configuration) const;
  [[nodiscard]] std::vector<Point> encode_running(std::span<const Configuration> running) const;
  [[nodiscard]] int wanted_initial_points() const;
  [[nodiscard]] bool needs_initial_point(std::size_t running) const;
  /// Returns the number of models to use. With more trials, returns a smaller number, because
  /// models then agree more and each costs more time.
  [[nodiscard]] std::size_t most_models() const;
  /// True if a restart of this trial may be worthwhile: it was stopped early, and no other trial of
  /// its configuration ran to its end.
  [[nodiscard]] bool is_open(const Measured& measured) const;
  /// True if learning curves are learned: there is one objective, and some trial was stopped early.
  [[nodiscard]] bool learns_curves() const;
  void learn_curves();
  /// Returns the values that stopped trials are expected to reach at full length, in order, as
  /// targets of `model`.
  [[nodiscard]] std::vector<double> full_targets(const ObjectiveModel& model) const;
  /// Returns the highest probability of being feasible among `points`; 1 if there are none.
  [[nodiscard]] double likeliest_of(const std::vector<Point>& points,
                                    const FeasibilityClassifier& feasibility) const;
  [[nodiscard]] CandidateRanking rank_candidates(const std::vector<Point>& running, Rng& rng);
  [[nodiscard]] std::vector<Acquisition::EnsembleMember> make_ensemble(const Matrix& pending);
  [[nodiscard]] std::vector<Point> promising_points(
      const std::vector<Acquisition::EnsembleMember>& ensemble) const;

  /// A stopped trial that may be restarted. `log_rate` is the logarithm of its expected gain per
  /// price if it is stopped by the best rule.
  struct Restart {
    Point point;
    double log_rate = 0.0;
  };
  /// Model that decides which trials are worth their price.
  struct StoppingModel {
    LearningCurveModel curves;
    double best = 0.0;  ///< target from which improvement is measured

    [[nodiscard]] double log_rate(const Point& point, double reached, double paid) const {
      return curves.log_stopping_rate(point, best, reached, paid);
    }
  };

  /// Returns a space-filling point. If prices differ, returns the cheapest of the next few points.
  /// The program's parameters are then tried on machines that are already running.
  [[nodiscard]] std::optional<Point> initial_point(
      const SuggestRequest& request,
      const std::function<bool(std::span<const double>)>& admissible) const;
  /// Sets up a search over `ranking`, which must outlive it.
  [[nodiscard]] CandidateSearch candidate_search(
      const CandidateRanking& ranking,
      const std::function<bool(std::span<const double>)>& admissible) const;
  [[nodiscard]] std::optional<Point> best_new_point(
      const std::function<bool(std::span<const double>)>& admissible);
  /// Returns nullopt if no trial was stopped early, if there are two objectives, or if a model uses
  /// an earlier study.
  [[nodiscard]] std::optional<StoppingModel> stopping_model();
  /// Returns the stopped trial that is most worth restarting; nullopt if there is none.
  [[nodiscard]] std::optional<Restart> best_restart(
      const StoppingModel& model,
      const std::function<bool(std::span<const double>)>& admissible) const;

  const SearchSpace& space_;
  SearcherOptions options_;
  FeatureMap feature_map_;
  CandidatePool pool_;
  InitialDesign initial_design_;
  MemoryRule memory_rule_;
  PointSet seen_;
  PointSet finished_;  ///< configurations with a trial that was not stopped early
  std::vector<ObjectiveLearner> objectives_;
  FeasibilityLearner feasibility_;
  FeasibilityLearner crashes_;  ///< like `feasibility_`, but without trials that ran out of memory
  MemoryModel memory_;
  std::vector<Measured> measured_;
  double least_fidelity_ = 1.0;  ///< lowest fidelity of all trials' milestones
  std::size_t observed_ = 0;
  std::size_t failed_ = 0;
  std::size_t out_of_memory_ = 0;
  std::size_t earlier_trials_ = 0;
  bool has_named_failures_ = false;
  std::string why_done_ = k_all_tried;
};

}  // namespace steptune::bayes
