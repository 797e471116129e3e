// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "search/observation.hpp"
#include "search/space/search_space.hpp"
#include "search/stop_decision.hpp"

namespace steptune {

/// How to interpret one objective's values.
struct ObjectiveTraits {
  bool positive = false;  ///< a time, cost or memory figure: positive, with multiplicative effects
};

/// What the searcher `scaling` is asked.
struct ScalingSearch {
  std::string over;             ///< the parameter that counts machines
  double min_efficiency = 0.7;  ///< that another machine is to pay, in (0, 1]
  std::size_t objective = 0;    ///< the one that is a time
  /// That this objective is to keep, in its unit: the least count that does is looked for, too,
  /// where it lies beyond the knee as far as the laws of scaling let one.
  std::optional<double> deadline{};
};

struct SearcherOptions {
  std::uint64_t seed = 0;
  std::vector<ObjectiveTraits> objectives{ObjectiveTraits{true}};  ///< one or two for `bayes`
  /// Threads for the searcher's own thinking; suggestions do not depend on it.
  int threads = 1;
  /// Space-filling suggestions before the model takes over; nothing: from the number of parameters.
  std::optional<int> initial_points;
  std::optional<ScalingSearch> scaling;  ///< for `scaling`, which needs it
};

struct SuggestRequest {
  std::int64_t trial = 0;                  ///< number of the trial to be; keys the randomness
  std::span<const Configuration> running;  ///< trials under way: not to be suggested again
  /// Expected price of trying a configuration, if prices differ (an instance type that starts
  /// cold); empty: all cost the same. Infinite: not while there is anything else.
  std::function<double(const Configuration&)> price;
};

struct Suggestion {
  Configuration configuration;
  std::string origin;  ///< how it came about: `sobol`, `random`, `grid`, `bayes`
  /// Expected improvement of the first objective over the best so far, as a share of that best
  /// (0.03: 3 %); nothing where the searcher has no model yet.
  std::optional<double> expected_improvement;
};

/// A trial under way that has come to a point where it may be stopped.
struct TrialProgress {
  const Configuration& configuration;
  std::span<const Milestone> milestones;  ///< at rising fidelities; the last one is the present
};

/// Why a searcher has nothing more to suggest, unless it knows better.
inline constexpr const char* k_all_tried = "every configuration of the search space has been tried";

/// Proposes configurations. Not thread safe. Everything it knows comes through `observe`, so that
/// feeding a new searcher the same observations in the same order makes it continue identically:
/// same seed, same observations, same requests, same suggestions.
class Searcher {
 public:
  virtual ~Searcher() = default;

  /// Learns from a finished trial. Observations of trials that the searcher did not suggest
  /// (baseline, hints) are welcome. Non-finite values are a programmer's error.
  virtual void observe(const Observation& observation) = 0;

  /// Learns from a trial of another study (number `study`, counted from 0) of the same objectives
  /// in a space that may differ: a hint where to look first, worth as much as it turns out to
  /// predict. What was tried there is still to be tried here. By default nothing is learnt.
  virtual void observe_earlier(std::size_t /*study*/, const Observation& /*observation*/) {}

  /// What people should know of the searcher's state since the last call, each once.
  [[nodiscard]] virtual std::vector<std::string> take_warnings() { return {}; }

  /// A configuration of the space that satisfies its constraints and is neither running nor
  /// observed, unless all that was observed of it are trials that were stopped early (`partial`):
  /// then to start it again may be worth more than anything new. Nothing when the space is
  /// exhausted, as far as can be told, or nothing is worth trying before a running trial has ended.
  [[nodiscard]] virtual Result<std::optional<Suggestion>> suggest(
      const SuggestRequest& request) = 0;

  /// Whether a running trial is no longer worth its price; nothing where the searcher knows too
  /// little to say or has no model: then the scheduler alone decides. Leaves the model as it is.
  [[nodiscard]] virtual std::optional<StopDecision> should_stop(const TrialProgress& /*progress*/) {
    return std::nullopt;
  }

  /// For people: why `suggest` has nothing more.
  [[nodiscard]] virtual std::string why_done() const { return k_all_tried; }

  /// False if the next suggestion does not depend on what is observed: then it may be asked for
  /// long before it is tried.
  [[nodiscard]] virtual bool learns() const { return true; }
};

/// The searchers by name: `random`, `sobol`, `grid`, `scaling`, `bayes`. `space` outlives the
/// searcher.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_searcher(const std::string& name,
                                                              const SearchSpace& space,
                                                              const SearcherOptions& options);
[[nodiscard]] const std::vector<std::string>& searcher_names();

}  // namespace steptune
