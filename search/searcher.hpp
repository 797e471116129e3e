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

/// Properties of one objective's values.
struct ObjectiveTraits {
  /// True for a time, cost or memory figure: positive, with multiplicative effects.
  bool positive = false;
};

/// Task of the searcher `scaling`.
struct ScalingSearch {
  std::string over;             ///< name of the parameter that counts machines
  double min_efficiency = 0.7;  ///< least efficiency, in (0, 1], at which a further machine pays
  std::size_t objective = 0;    ///< index of the objective that is a time
  /// Deadline for this objective, in its unit. If set, also searches for the least count that meets
  /// it, beyond the knee if the scaling laws allow it.
  std::optional<double> deadline{};
};

struct SearcherOptions {
  std::uint64_t seed = 0;
  std::vector<ObjectiveTraits> objectives{ObjectiveTraits{true}};  ///< one or two for `bayes`
  /// Threads for the searcher's computations. Suggestions do not depend on it.
  int threads = 1;
  /// Number of space-filling suggestions before the model is used; nullopt: derived from the number
  /// of parameters.
  std::optional<int> initial_points;
  std::optional<ScalingSearch> scaling;  ///< only for `scaling`, which requires it
};

struct SuggestRequest {
  std::int64_t trial = 0;  ///< number of the new trial; keys the random numbers
  /// Configurations of running trials, which are not suggested again.
  std::span<const Configuration> running;
  /// Expected price of trying a configuration. Empty if all prices are equal. Prices differ, for
  /// example, for an instance type that is not running yet. A configuration of infinite price is
  /// suggested only if there is no other.
  std::function<double(const Configuration&)> price;
};

struct Suggestion {
  Configuration configuration;
  std::string origin;  ///< how it was found: `sobol`, `random`, `grid`, `scaling`, `bayes`
  /// Expected improvement of the first objective over the best so far, as a share of that best
  /// (0.03: 3 %). nullopt if the searcher has no model yet.
  std::optional<double> expected_improvement;
};

/// A running trial that has reached a milestone, at which it may be stopped.
struct TrialProgress {
  const Configuration& configuration;
  /// At rising fidelities; the last one is the current state.
  std::span<const Milestone> milestones;
};

/// Default of `Searcher::why_done`.
inline constexpr const char* k_all_tried = "every configuration of the search space has been tried";

/// Proposes configurations. Not thread-safe. It learns only through `observe` and
/// `observe_earlier`: the same seed, observations and requests give the same suggestions, so a
/// resumed study continues identically.
class Searcher {
 public:
  virtual ~Searcher() = default;

  /// Learns from a finished trial, which the searcher need not have suggested (baseline, hints).
  /// Values must be finite.
  virtual void observe(const Observation& observation) = 0;

  /// Learns from a trial of another study (number `study`, from 0) with the same objectives; its
  /// space may differ. Such trials show where to look first, and count as much as they turn out to
  /// predict. Their configurations remain to be tried. By default nothing is learnt.
  virtual void observe_earlier(std::size_t /*study*/, const Observation& /*observation*/) {}

  /// Returns warnings for the user since the last call, each once.
  [[nodiscard]] virtual std::vector<std::string> take_warnings() { return {}; }

  /// Returns a configuration of the space that satisfies the constraints and is neither running nor
  /// observed. It may return a configuration whose trials were all stopped early (`partial`), if a
  /// restart promises more than a new one. Returns nullopt if no configuration is left, as far as
  /// known, or none is worth trying before a running trial ends.
  [[nodiscard]] virtual Result<std::optional<Suggestion>> suggest(
      const SuggestRequest& request) = 0;

  /// Decides whether a running trial is still worth its price. Returns nullopt if the searcher has
  /// no model or knows too little; the scheduler then decides alone. Does not change the model.
  [[nodiscard]] virtual std::optional<StopDecision> should_stop(const TrialProgress& /*progress*/) {
    return std::nullopt;
  }

  /// Returns why `suggest` has nothing more, for people.
  [[nodiscard]] virtual std::string why_done() const { return k_all_tried; }

  /// False if the next suggestion does not depend on observations, so that it can be requested long
  /// before it is tried.
  [[nodiscard]] virtual bool learns() const { return true; }
};

/// Makes a searcher by name: `random`, `sobol`, `grid`, `scaling`, `bayes`. `space` must outlive
/// it.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_searcher(const std::string& name,
                                                              const SearchSpace& space,
                                                              const SearcherOptions& options);
[[nodiscard]] const std::vector<std::string>& searcher_names();

}  // namespace steptune
