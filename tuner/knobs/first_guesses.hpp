// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/machine/system_files.hpp"
#include "search/observation.hpp"
#include "search/searcher.hpp"
#include "search/space/search_space.hpp"
#include "tuner/knobs/knob_role.hpp"

namespace steptune {

/// What an experienced engineer knows of the machine.
struct GuessMachine {
  int cpus = 1;
  int gpus = 0;
  bool computes_bfloat16 = false;  ///< in hardware
};

/// This machine, of which `cpus` and `gpus` may be used.
[[nodiscard]] GuessMachine guess_machine(const SystemFiles& files, int cpus, int gpus);

/// Most trials, the baseline included, before the searcher goes on by itself.
inline constexpr std::size_t k_guessed_trials = 4;

/// The configurations that an experienced engineer would try first on a machine, one at a time, as
/// what was measured tells: all at once that usually makes training faster (half precision where
/// the hardware computes it, workers and threads for all CPUs, prefetching, a larger batch); where
/// that was faster, a batch of twice the size, or one between it and what ran out of memory or was
/// slower, then fewer workers; where not, the same step by step. Each starts from the best
/// so far, so that what was slower, failed or violated a guard is not built upon. Parameters
/// without a role stay as they are, and so does the instance: which one is cheapest or fastest only
/// measuring tells, and on another one the other guesses would be wrong. Immutable; the space must
/// outlive it.
class FirstGuesses {
 public:
  /// Roles are `declared`, or else told by the parameters' names (`role_of_name`).
  FirstGuesses(const SearchSpace& space, Configuration baseline, const GuessMachine& machine,
               const KnobRoles& declared = {});

  /// Whether any parameter has a role that is guessed at.
  [[nodiscard]] bool knows_anything() const;

  /// The next one that is neither observed nor running and that no trial which ran out of memory
  /// speaks against; nothing once `k_guessed_trials` are known or under way.
  [[nodiscard]] std::optional<Configuration> next(std::span<const Observation> observations,
                                                  std::span<const Configuration> running) const;

 private:
  struct Levers;
  [[nodiscard]] std::optional<Configuration> pull(const Configuration& from, const Levers& levers,
                                                  std::span<const Observation> observations) const;
  [[nodiscard]] std::optional<double> larger_batch(const Configuration& from,
                                                   std::span<const Observation> observations) const;
  /// What did not fit one machine, or was slow on it, says nothing of another.
  [[nodiscard]] bool on_one_instance(const Configuration& a, const Configuration& b) const;
  /// Of memory, by the directions that the parameters declare, as far as these say.
  [[nodiscard]] bool needs_as_much(const Configuration& guess, const Configuration& other) const;
  [[nodiscard]] const Parameter* of(KnobRole role) const;
  void share_cpus(Configuration& configuration) const;

  const SearchSpace& space_;
  Configuration baseline_;
  GuessMachine machine_;
  std::vector<std::optional<KnobRole>> roles_;  ///< of the space's parameters, in their order
};

/// `inner` with first guesses before its own first suggestions, which it learns from as from any
/// trial: they take the place of as many space-filling points. Only for objectives of which the
/// first is a time or a cost; otherwise, and where no parameter has a role, this is `inner` itself.
[[nodiscard]] std::unique_ptr<Searcher> with_first_guesses(
    std::unique_ptr<Searcher> inner, const SearchSpace& space, const Configuration& baseline,
    const GuessMachine& machine, const std::vector<ObjectiveTraits>& objectives,
    const KnobRoles& declared = {});

}  // namespace steptune
