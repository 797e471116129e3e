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

namespace steptune {

/// Properties of one objective's values.
struct ObjectiveTraits {
  /// True for times, costs and memory: values are positive, and effects of parameters multiply.
  bool positive = false;
};

/// Options of the searcher `scaling`.
struct ScalingSearch {
  std::string over;  ///< name of the parameter that counts machines
  /// Least efficiency, in (0, 1], at which a further machine is worth its price.
  double min_efficiency = 0.7;
  std::size_t objective = 0;  ///< index of the objective that is a time
  /// Deadline for this objective, in its unit. If set, also searches for the smallest number of
  /// machines that meets the deadline. Tries numbers beyond the knee if the scaling laws predict
  /// that one of them meets it.
  std::optional<double> deadline{};
};

/// Function that returns one term of the memory that a trial needs, such as `micro_batch / tp`. A
/// negative result counts as 0. May be called from several threads.
using MemoryTerm = std::function<double(const Configuration&)>;

struct SearcherOptions {
  std::uint64_t seed = 0;
  std::vector<ObjectiveTraits> objectives{ObjectiveTraits{true}};  ///< one or two for `bayes`
  /// Threads for the searcher's computations. Suggestions do not depend on their number.
  int threads = 1;
  /// Number of space-filling suggestions before `bayes` uses its model; nullopt: depends on the
  /// numbers of parameters and of earlier studies' trials.
  std::optional<int> initial_points;
  /// For `bayes`: terms of a trial's peak memory, which is nearly a constant plus a multiple of
  /// each term. The constant and the factors are not negative. Empty: no terms are known.
  std::vector<MemoryTerm> memory_terms;
  std::optional<ScalingSearch> scaling;  ///< only for `scaling`, which requires it
};

struct SuggestRequest {
  std::int64_t trial = 0;  ///< number of the new trial; random numbers depend on it
  /// Configurations of running trials, which are not suggested again.
  std::span<const Configuration> running;
  /// Returns the expected price of trying a configuration; empty if all prices are equal. Starting
  /// an instance type that is not running yet, for example, costs more. Only `bayes` compares
  /// prices. `bayes`, `random` and `sobol` try configurations of infinite price last.
  std::function<double(const Configuration&)> price;
};

struct Suggestion {
  Configuration configuration;
  std::string origin;  ///< `sobol`, `random`, `grid`, `scaling`, `bayes`, or `expert` (first guess)
  /// Expected improvement, as a share of the best value so far (0.03: 3 %). With two objectives, as
  /// a share of the dominated area. nullopt if no model suggested the configuration.
  std::optional<double> expected_improvement;
};

/// Default of `Searcher::why_done`.
inline constexpr const char* k_all_tried = "every configuration of the search space has been tried";

/// Proposes configurations. Learns only through `observe` and `observe_earlier`. The same seed,
/// observations and requests give the same suggestions, so a resumed study continues identically.
/// Not thread-safe.
class Searcher {
 public:
  virtual ~Searcher() = default;

  /// Learns from a finished trial. The searcher need not have suggested it: it may be the baseline,
  /// or a trial that the user asked for. Values must be finite.
  virtual void observe(const Observation& observation) = 0;

  /// Learns from a trial of another study (number `study`, from 0) with the same objectives; its
  /// search space may differ. Such trials show where to search first. Their weight depends on how
  /// well they predict this study's trials. Their configurations do not count as tried. By default,
  /// learns nothing.
  virtual void observe_earlier(std::size_t /*study*/, const Observation& /*observation*/) {}

  /// Returns new warnings for the user since the last call.
  [[nodiscard]] virtual std::vector<std::string> take_warnings() { return {}; }

  /// Returns a configuration of the space that satisfies the constraints and is neither running nor
  /// observed. May return a configuration whose trials were all stopped early (`partial`), if a
  /// restart promises more than a new configuration. Returns nullopt if the searcher finds no
  /// further configuration, or if none is worth trying before a running trial ends.
  [[nodiscard]] virtual Result<std::optional<Suggestion>> suggest(
      const SuggestRequest& request) = 0;

  /// Decides if a running trial that has reached a milestone is still worth its remaining price.
  /// `milestones` are in order of fidelity; the last one is the current state. Returns nullopt if
  /// the searcher has no model or knows too little; the scheduler then decides alone. Does not
  /// change the model.
  [[nodiscard]] virtual std::optional<StopDecision> should_stop(
      const Configuration& /*configuration*/, std::span<const Milestone> /*milestones*/) {
    return std::nullopt;
  }

  /// Returns the reason why `suggest` has no further configuration, for people.
  [[nodiscard]] virtual std::string why_done() const { return k_all_tried; }

  /// False if the next suggestion does not depend on observations, so that it can be requested long
  /// before it is tried.
  [[nodiscard]] virtual bool learns() const { return true; }
};

/// Makes a searcher by name: `random`, `sobol`, `grid`, `scaling`, `bayes`. `space` must outlive
/// the searcher.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_searcher(const std::string& name,
                                                              const SearchSpace& space,
                                                              const SearcherOptions& options);
[[nodiscard]] const std::vector<std::string>& searcher_names();

}  // namespace steptune
