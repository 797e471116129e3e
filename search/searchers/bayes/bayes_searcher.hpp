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
  /// `space` outlives the searcher; one or two objectives.
  BayesSearcher(const SearchSpace& space, const SearcherOptions& options);

  void observe(const Observation& observation) override;
  void observe_earlier(std::size_t study, const Observation& observation) override;
  [[nodiscard]] std::vector<std::string> take_warnings() override;
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override;
  [[nodiscard]] std::optional<StopDecision> should_stop(const TrialProgress& progress) override;
  [[nodiscard]] std::string why_done() const override { return why_done_; }

 private:
  struct Measured {
    Point point;
    std::size_t row = 0;            ///< of its last value in the learners of the objectives
    double fidelity = 1.0;          ///< of its last value
    bool winner = false;            ///< complete and feasible
    bool partial = false;           ///< stopped early
    std::vector<CurvePoint> curve;  ///< before its last value; empty once it was learned from
  };
  /// What candidates are ranked by, and where the search for the best one starts.
  struct CandidateRanking {
    Acquisition acquisition;
    std::vector<Point> promising;  ///< the trials that are best, or would be at full length
  };

  /// Nothing where the space does not have one of the values.
  [[nodiscard]] std::optional<Point> encode(const Configuration& configuration) const;
  [[nodiscard]] std::vector<Point> encode_running(std::span<const Configuration> running) const;
  [[nodiscard]] Suggestion to_suggestion(const Point& point, const char* origin) const;
  [[nodiscard]] int wanted_initial_points() const;
  [[nodiscard]] bool needs_initial_point(std::size_t running) const;
  /// The more is known, the less beliefs differ, and the more each of them costs.
  [[nodiscard]] std::size_t most_beliefs() const;
  /// Whether to start it again may be worth something: it was stopped, and no other trial of its
  /// configuration went to its end.
  [[nodiscard]] bool is_open(const Measured& measured) const;
  /// Whether learning curves are worth learning: once any trial was stopped,
  /// where there is one objective.
  [[nodiscard]] bool learns_curves() const;
  void learn_curves();
  /// Targets of `model`: what is believed of full trials of those that were stopped, in order.
  [[nodiscard]] std::vector<double> full_targets(const ObjectiveModel& model) const;
  /// The highest probability that is believed of `points`; 1 where there are none.
  [[nodiscard]] double likeliest_of(const std::vector<Point>& points,
                                    const FeasibilityClassifier& feasibility) const;
  [[nodiscard]] CandidateRanking rank_candidates(const std::vector<Point>& running, Rng& rng);
  [[nodiscard]] std::vector<Acquisition::EnsembleMember> make_ensemble(const Matrix& pending);
  [[nodiscard]] std::vector<Point> promising_points(
      const std::vector<Acquisition::EnsembleMember>& ensemble) const;

  /// A stopped trial that might be started again, and what its best rule of stopping would gain per
  /// price.
  struct Restart {
    Point point;
    double log_rate = 0.0;
  };
  /// What decides which trials are worth their price.
  struct StoppingModel {
    LearningCurveModel curves;
    double best = 0.0;  ///< target that improvement is measured from

    [[nodiscard]] double log_rate(const Point& point, double reached, double paid) const {
      return curves.log_stopping_rate(point, best, reached, paid);
    }
  };

  /// Space-filling; with prices, of the next few points the first one that costs least: so the
  /// program's parameters are tried where a machine's start is shared.
  [[nodiscard]] std::optional<Point> initial_point(
      const SuggestRequest& request,
      const std::function<bool(std::span<const double>)>& admissible) const;
  /// What the candidates are that `ranking`, which outlives it, is about.
  [[nodiscard]] CandidateSearch candidate_search(
      const CandidateRanking& ranking,
      const std::function<bool(std::span<const double>)>& admissible) const;
  [[nodiscard]] std::optional<Point> best_new_point(
      const std::function<bool(std::span<const double>)>& admissible);
  /// Nothing while no trial was stopped, with two objectives, or where an earlier study is
  /// believed.
  [[nodiscard]] std::optional<StoppingModel> stopping_model();
  /// The stopped trial most worth starting again; nothing where none is worth more than nothing.
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
  PointSet finished_;  ///< without those of which all trials were stopped early
  std::vector<ObjectiveLearner> objectives_;
  FeasibilityLearner feasibility_;
  FeasibilityLearner crashes_;  ///< the same without the trials that ran out of memory
  MemoryModel memory_;
  std::vector<Measured> measured_;
  double least_fidelity_ = 1.0;  ///< at which any trial was looked at on its way
  std::size_t observed_ = 0;
  std::size_t failed_ = 0;
  std::size_t out_of_memory_ = 0;
  std::size_t earlier_trials_ = 0;
  bool told_of_failures_ = false;
  std::string why_done_ = k_all_tried;
};

}  // namespace steptune::bayes
