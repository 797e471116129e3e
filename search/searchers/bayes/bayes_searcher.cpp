// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/bayes_searcher.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "search/searchers/basic_searchers.hpp"
#include "search/searchers/bayes/learner.hpp"
#include "search/searchers/visited.hpp"

namespace steptune::bayes {
namespace {

// Number of best trials whose neighbourhoods are candidates; with two objectives, half for each.
constexpr std::size_t k_promising = 4;
// Most points of the initial design, the baseline included, if an earlier study is used.
constexpr int k_points_beside_earlier = 2;
// Number of trials at which the thresholds of feasibility reach half of their final values.
constexpr double k_trials_to_half = 8.0;
// Used as the logarithm of an infinite price. Such candidates rank, in the order of their scores,
// after all others that are likely to be feasible.
constexpr double k_log_price_of_last = 1e4;
// A stopped trial is restarted only if its expected gain exceeds this share of the best value. A
// trial that is far slower than the best would be stopped early again.
constexpr double k_least_gain_of_restart = 1e-4;

bool ran(ObservationKind kind) {
  return kind != ObservationKind::failed && kind != ObservationKind::out_of_memory;
}

bool has_values(const Observation& observation, std::size_t objectives) {
  return ran(observation.kind) && observation.values.size() == objectives &&
         all_finite(observation.values);
}

/// Returns the learning curve without its last value.
std::vector<CurvePoint> curve_before(const Observation& observation) {
  std::vector<Milestone> milestones = observation.milestones;
  milestones.push_back({observation.fidelity, observation.values, observation.standard_errors});
  std::vector<CurvePoint> curve = learning_curve_of(milestones);
  curve.pop_back();
  return curve;
}

double standard_error_of(const Observation& observation, std::size_t objective) {
  return objective < observation.standard_errors.size() ? observation.standard_errors[objective]
                                                        : 0.0;
}

}  // namespace

BayesSearcher::BayesSearcher(const SearchSpace& space, const SearcherOptions& options)
    : space_(space),
      options_(options),
      feature_map_(space),
      pool_(space, feature_map_),
      initial_design_(space, options.seed),
      memory_rule_(space),
      feasibility_(feature_map_.groups(), feature_map_.groups().count - 1),
      crashes_(feasibility_),
      memory_(feature_map_.groups(), feature_map_.groups().count - 1,
              memory_terms(space, feature_map_, options.memory_terms)) {
  for (const ObjectiveTraits& traits : options.objectives) {
    objectives_.emplace_back(feature_map_.groups(), feature_map_.groups().count - 1,
                             traits.positive);
  }
}

void BayesSearcher::observe(const Observation& observation) {
  ++observed_;
  auto encoded = encode(observation.configuration);
  if (!encoded) return;
  Point point = *std::move(encoded);
  seen_.insert(point);
  if (observation.kind != ObservationKind::partial) finished_.insert(point);
  if (observation.kind == ObservationKind::out_of_memory) memory_rule_.add(point);

  std::vector<double> row(feature_map_.width());
  feature_map_.write(point, row);
  const bool feasible = ran(observation.kind) && observation.kind != ObservationKind::infeasible;
  if (!feasible) ++failed_;
  feasibility_.add(row, feasible);
  if (observation.kind == ObservationKind::out_of_memory) {
    ++out_of_memory_;
    memory_.add_out_of_memory(row);
  } else {
    crashes_.add(row, feasible);
  }
  const double peak_bytes = observation.peak_memory_bytes.value_or(0.0);
  if (ran(observation.kind) && peak_bytes > 0.0 && std::isfinite(peak_bytes)) {
    memory_.add_peak(row, peak_bytes);
    if (observation.memory_limit_bytes) memory_.set_limit(*observation.memory_limit_bytes);
  }

  if (!has_values(observation, objectives_.size())) return;
  Measured measured;
  measured.row = objectives_[0].values().size();
  measured.fidelity = observation.fidelity;
  measured.winner = observation.kind == ObservationKind::complete;
  measured.partial = observation.kind == ObservationKind::partial;
  // If a violated guard ended the trial, its curve would not show how values develop up to a full
  // trial.
  if (measured.winner || measured.partial) measured.curve = curve_before(observation);
  measured.point = std::move(point);
  feature_map_.write(measured.point, row, observation.fidelity);
  for (std::size_t k = 0; k < objectives_.size(); ++k) {
    objectives_[k].add(row, observation.values[k], standard_error_of(observation, k));
  }
  measured_.push_back(std::move(measured));
  learn_curves();
}

void BayesSearcher::observe_earlier(std::size_t study, const Observation& observation) {
  if (!has_values(observation, objectives_.size())) return;
  const auto point = encode(observation.configuration);
  if (!point) return;
  std::vector<double> row(feature_map_.width());
  feature_map_.write(*point, row, observation.fidelity);
  for (std::size_t k = 0; k < objectives_.size(); ++k) {
    objectives_[k].add_earlier(study, row, observation.values[k],
                               standard_error_of(observation, k));
  }
  ++earlier_trials_;
}

std::vector<std::string> BayesSearcher::take_warnings() {
  const auto wanted = static_cast<std::size_t>(wanted_initial_points());
  if (has_named_failures_ || observed_ < wanted || !measured_.empty()) return {};
  has_named_failures_ = true;
  return {fmt::format(
      "nothing-measured: all {} trials so far failed, so there is no model of the objective yet; "
      "configurations unlike the failed ones are tried next",
      observed_)};
}

std::optional<Point> BayesSearcher::encode(const Configuration& configuration) const {
  Point point = space_.encode(configuration);
  const bool inside =
      std::ranges::none_of(point, [](double coordinate) { return std::isnan(coordinate); });
  return inside ? std::optional(std::move(point)) : std::nullopt;
}

std::vector<Point> BayesSearcher::encode_running(std::span<const Configuration> running) const {
  std::vector<Point> points;
  for (const Configuration& configuration : running) {
    if (auto point = encode(configuration)) points.push_back(*std::move(point));
  }
  return points;
}

int BayesSearcher::wanted_initial_points() const {
  int wanted = options_.initial_points.value_or(initial_design_.default_size());
  // An earlier study already covers the space, so few random points suffice.
  if (!options_.initial_points && earlier_trials_ >= k_fewest_examples) {
    wanted = std::min(wanted, k_points_beside_earlier);
  }
  return std::max(1, wanted);
}

bool BayesSearcher::needs_initial_point(std::size_t running) const {
  const auto wanted = static_cast<std::size_t>(wanted_initial_points());
  if (observed_ + running < wanted) return true;
  // With fewer than two measurements, a model of the objective is a guess: try more initial points,
  // up to twice the wanted number.
  return measured_.size() < 2 && observed_ + running < 2 * wanted;
}

std::size_t BayesSearcher::most_models() const {
  if (objectives_.size() > 1) return 1;
  if (observed_ < 100) return 3;
  return observed_ < 180 ? 2 : 1;
}

std::vector<double> BayesSearcher::full_targets(const ObjectiveModel& model) const {
  std::vector<Point> stopped;
  for (const Measured& measured : measured_) {
    if (measured.partial) stopped.push_back(measured.point);
  }
  if (stopped.empty()) return {};
  return model.predict(feature_map_.rows(stopped), 0, stopped.size()).means;
}

std::vector<Point> BayesSearcher::promising_points(
    const std::vector<Acquisition::EnsembleMember>& ensemble) const {
  std::vector<Point> points;
  for (std::size_t k = 0; !ensemble.empty() && k < objectives_.size(); ++k) {
    const ObjectiveModel& model = ensemble[0].objectives[k];
    const std::vector<double> full = full_targets(model);
    auto next_full = full.begin();
    std::vector<std::pair<double, const Measured*>> trials;
    for (const Measured& measured : measured_) {
      if (measured.winner) {
        trials.emplace_back(objectives_[k].values()[measured.row], &measured);
      } else if (measured.partial) {
        trials.emplace_back(model.transform().backward(*next_full++), &measured);
      }
    }
    std::ranges::stable_sort(trials,
                             [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < std::min(k_promising / objectives_.size(), trials.size()); ++i) {
      points.push_back(trials[i].second->point);
    }
  }
  return points;
}

std::vector<Acquisition::EnsembleMember> BayesSearcher::make_ensemble(const Matrix& pending) {
  std::vector<Acquisition::EnsembleMember> ensemble;
  if (measured_.empty()) return ensemble;
  std::vector<ObjectiveModel> models = objectives_[0].models(pending, most_models());
  if (objectives_.size() > 1) {
    Acquisition::EnsembleMember& member = ensemble.emplace_back();
    member.objectives.push_back(std::move(models[0]));
    member.objectives.push_back(std::move(objectives_[1].models(pending, 1)[0]));
  } else {
    for (ObjectiveModel& model : models) {
      Acquisition::EnsembleMember& member = ensemble.emplace_back();
      member.weight = model.weight();
      member.objectives.push_back(std::move(model));
    }
  }
  for (Acquisition::EnsembleMember& member : ensemble) {
    for (std::size_t k = 0; k < objectives_.size(); ++k) {
      const std::vector<double> all = objectives_[k].targets(member.objectives[k]);
      auto& targets = member.feasible_targets.emplace_back();
      for (const Measured& measured : measured_) {
        if (measured.winner) targets.push_back(all[measured.row]);
      }
      if (!targets.empty()) continue;
      // No trial is complete, so use the values that stopped trials are expected to reach.
      targets = full_targets(member.objectives[k]);
    }
  }
  return ensemble;
}

double BayesSearcher::likeliest_of(const std::vector<Point>& points,
                                   const FeasibilityClassifier& feasibility) const {
  if (points.empty()) return 1.0;
  const Matrix rows = feature_map_.rows(points);
  const auto logs = feasibility.log_probabilities(rows, 0, rows.rows());
  return std::exp(*std::ranges::max_element(logs));
}

BayesSearcher::CandidateRanking BayesSearcher::rank_candidates(const std::vector<Point>& running,
                                                               Rng& rng) {
  Acquisition::Inputs inputs;
  inputs.ensemble = make_ensemble(feature_map_.rows(running));
  std::vector<Point> promising = promising_points(inputs.ensemble);
  inputs.memory = memory_.forecast();
  if (failed_ > (inputs.memory ? out_of_memory_ : 0)) {
    FeasibilityLearner& outcomes = inputs.memory ? crashes_ : feasibility_;
    inputs.feasibility = outcomes.classifier();
  }
  if (failed_ > 0 || inputs.memory) {
    const auto drawn = rng.below(3);
    if (inputs.memory) {
      constexpr double k_thresholds[] = {0.5, 0.7, 0.9};
      inputs.feasibility_threshold = k_thresholds[drawn];
    } else {
      constexpr double k_thresholds[] = {0.7, 0.85, 0.95};
      // With few trials, hardly any candidate is predicted to be feasible, and a failure teaches as
      // much as a success. So start with low thresholds.
      const auto trials = static_cast<double>(observed_);
      inputs.feasibility_threshold = k_thresholds[drawn] * trials / (trials + k_trials_to_half) *
                                     likeliest_of(promising, *inputs.feasibility);
    }
    inputs.takes_risks = drawn == 0 && !inputs.memory;
  }
  return {Acquisition(std::move(inputs)), std::move(promising)};
}

CandidateSearch BayesSearcher::candidate_search(
    const CandidateRanking& ranking,
    const std::function<bool(std::span<const double>)>& admissible) const {
  return {space_,
          feature_map_,
          pool_,
          ranking.acquisition,
          admissible,
          {},
          ranking.promising,
          feasibility_.size(),
          options_.threads};
}

std::optional<Point> BayesSearcher::best_new_point(
    const std::function<bool(std::span<const double>)>& admissible) {
  Rng rng(options_.seed, "bayes/rival", observed_);
  const CandidateRanking ranking = rank_candidates({}, rng);
  auto best = find_best_candidate(candidate_search(ranking, admissible), rng);
  if (!best) return std::nullopt;
  return std::move(best->point);
}

std::optional<Point> BayesSearcher::initial_point(
    const SuggestRequest& request,
    const std::function<bool(std::span<const double>)>& admissible) const {
  if (!request.price) return initial_design_.next(admissible);
  // Take the cheapest of the next 16 points.
  std::optional<Point> cheapest;
  double least = 0.0;
  PointSet checked;
  for (int tries = 0; tries < 16; ++tries) {
    auto point = initial_design_.next([&](std::span<const double> candidate) {
      return !checked.contains(candidate) && admissible(candidate);
    });
    if (!point) break;
    checked.insert(*point);
    const double price = request.price(space_.decode(*point));
    if (cheapest && !(price < least)) continue;
    cheapest = *std::move(point);
    least = price;
  }
  return cheapest;
}

Result<std::optional<Suggestion>> BayesSearcher::suggest(const SuggestRequest& request) {
  const std::vector<Point> running = encode_running(request.running);
  PointSet busy;
  for (const Point& point : running)
    busy.insert(point);
  bool lacks_memory = false;
  const auto admissible = [&](std::span<const double> point) {
    if (seen_.contains(point) || busy.contains(point)) return false;
    if (!memory_rule_.excludes(point)) return true;
    lacks_memory = true;
    return false;
  };
  if (needs_initial_point(running.size())) {
    const auto forecast = memory_.has_terms() ? memory_.forecast() : std::nullopt;
    const auto probably_fits = [&](std::span<const double> point) {
      if (!admissible(point)) return false;
      return !forecast ||
             forecast->log_probabilities(feature_map_.rows(point), 0, 1)[0] >= std::log(0.5);
    };
    if (const auto point = initial_point(request, probably_fits)) {
      return Suggestion{space_.decode(*point), "sobol", std::nullopt};
    }
  }
  Rng rng(options_.seed, "bayes/suggest", static_cast<std::uint64_t>(request.trial));
  const CandidateRanking ranking = rank_candidates(running, rng);
  CandidateSearch search = candidate_search(ranking, admissible);
  if (request.price) {
    search.log_price = [&](std::span<const double> point) {
      const double price = request.price(space_.decode(Point(point.begin(), point.end())));
      if (price == k_infinity) return k_log_price_of_last;
      return price > 0.0 && std::isfinite(price) ? std::log(price) : 0.0;
    };
  }
  std::optional<Point> chosen;
  if (auto best = find_best_candidate(search, rng)) {
    chosen = std::move(best->point);
  } else if (auto drawn = draw_unvisited(space_, admissible, rng)) {
    // If tight constraints leave few points, the search may miss them all.
    chosen = space_.encode(*drawn);
  } else {
    why_done_ = std::move(drawn.error());
  }
  if (const auto model = stopping_model()) {
    const auto idle = [&](std::span<const double> point) { return !busy.contains(point); };
    const auto restart = best_restart(*model, idle);
    const auto gain = [&] {
      return ranking.acquisition.improvement_share(feature_map_.rows(restart->point), 0);
    };
    if (restart && (!chosen || restart->log_rate > model->log_rate(*chosen, 0.0, 0.0)) &&
        gain().value_or(1.0) >= k_least_gain_of_restart) {
      chosen = restart->point;
    }
  }
  if (!chosen) {
    if (lacks_memory) {
      why_done_ += ", except those that need at least as much memory as one that ran out of it";
    }
    return std::optional<Suggestion>();
  }
  return Suggestion{space_.decode(*chosen), "bayes",
                    ranking.acquisition.improvement_share(feature_map_.rows(*chosen), 0)};
}

}  // namespace steptune::bayes

namespace steptune {

Result<std::unique_ptr<Searcher>> make_bayes_searcher(const SearchSpace& space,
                                                      const SearcherOptions& options) {
  if (options.objectives.empty() || options.objectives.size() > k_max_objectives) {
    return fail(ErrorKind::usage, "the bayes searcher optimizes one objective or two", {},
                "name at most two objectives, or choose another searcher");
  }
  return std::make_unique<bayes::BayesSearcher>(space, options);
}

}  // namespace steptune
