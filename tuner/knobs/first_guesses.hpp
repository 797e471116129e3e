// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/machine/system_files.hpp"
#include "search/observation.hpp"
#include "search/searcher.hpp"
#include "search/space/search_space.hpp"
#include "tuner/knobs/knob_role.hpp"
#include "tuner/knobs/levers.hpp"

namespace steptune {

/// Facts about the machine that trials run on.
struct GuessMachine {
  int cpus = 1;
  int gpus = 0;
  bool computes_bfloat16 = false;  ///< in hardware
  int cores = 0;                   ///< physical ones behind the CPUs; 0: as many as CPUs
  double memory_bytes = 0.0;       ///< 0: not known
};

/// This machine, of which `cpus` and `gpus` may be used.
[[nodiscard]] GuessMachine guess_machine(const SystemFiles& files, int cpus, int gpus);

/// A limit of a numeric parameter.
struct Reach {
  std::string parameter;
  double most = 0.0;

  [[nodiscard]] bool contains(const Configuration& configuration) const;
};

/// Moves of an expert. Each changes one lever of the best configuration so far: a setting, or
/// settings that belong together (`levers_of`). The levers come in the order of the study's
/// parameters, and each is moved on while that pays:
/// - threads: the CPUs, the physical cores and 1;
/// - workers: doubled, or four times as many where the last step came near its ideal gain;
/// - batch size: four times as large, at an equal optimizer step where a constraint asks for it;
/// - half precision where the hardware computes it; flags on; each other choice.
/// The best configuration changes only if a trial is faster beyond both errors. So it holds nothing
/// that was not seen to pay, and no value of a lever is tried twice. At last, moves that were
/// faster within the errors are tried together. Parameters without a role stay as they are.
/// Immutable; the space must outlive it.
class FirstGuesses {
 public:
  /// Roles are `declared`, or else told by the parameters' names (`role_of_name`).
  FirstGuesses(const SearchSpace& space, Configuration baseline, const GuessMachine& machine,
               const KnobRoles& declared = {});

  /// False if no parameter belongs to a lever.
  [[nodiscard]] bool knows_anything() const { return !levers_.empty(); }

  /// The next move. A lever under way waits for its result, and configurations that need the memory
  /// of one that ran out of it are left out. Nothing once all levers are exhausted.
  [[nodiscard]] std::optional<Configuration> next(std::span<const Observation> observations,
                                                  std::span<const Configuration> running) const;

  /// The most workers that a searcher should propose: twice those that have paid so far, or twice
  /// the CPUs. Nothing where the whole range is within that.
  [[nodiscard]] std::optional<Reach> reach(std::span<const Observation> observations) const;

 private:
  struct Best;
  [[nodiscard]] Best best_of(std::span<const Observation> observations) const;
  [[nodiscard]] std::optional<Configuration> move(const Lever& lever, const Best& best,
                                                  std::span<const Observation> observations) const;
  [[nodiscard]] std::optional<Configuration> move_number(
      const Lever& lever, const Best& best, std::span<const Observation> observations) const;
  [[nodiscard]] std::optional<Configuration> move_choice(
      const Lever& lever, const Best& best, std::span<const Observation> observations) const;
  [[nodiscard]] Climb climb_of(const Lever& lever, const Best& best,
                               std::span<const Observation> observations) const;
  /// The largest number for which memory suffices, as far as two trials tell.
  [[nodiscard]] double most_in_memory(const Parameter& parameter, const Climb& climb, double before,
                                      std::span<const Observation> observations) const;
  /// Moves from the best that were faster within the errors, all at once; nothing if there are not
  /// at least two.
  [[nodiscard]] std::optional<Configuration> small_gains(
      const Best& best, std::span<const Observation> observations) const;
  [[nodiscard]] std::vector<Value> worthwhile_choices(const Lever& lever, const Best& best) const;
  /// `from` with the lever at this value; nothing outside the space.
  [[nodiscard]] std::optional<Configuration> moved(const Lever& lever, const Configuration& from,
                                                   const Value& value) const;
  [[nodiscard]] bool has_run_out(const Configuration& guess,
                                 std::span<const Observation> observations) const;
  /// A trial on one instance says nothing of another.
  [[nodiscard]] bool on_one_instance(const Configuration& a, const Configuration& b) const;
  /// Of memory, by the directions that the parameters declare, as far as these say.
  [[nodiscard]] bool needs_as_much(const Configuration& guess, const Configuration& other) const;
  [[nodiscard]] const Parameter& leading(const Lever& lever) const;

  const SearchSpace& space_;
  Configuration baseline_;
  GuessMachine machine_;
  std::vector<std::optional<KnobRole>> roles_;  ///< of the space's parameters, in their order
  std::vector<Lever> levers_;
};

/// `inner` after the expert's moves, which it learns from as from any trial: they take the place of
/// as many space-filling points. What it suggests itself stays within reach. Only for objectives of
/// which the first is a time or a cost; otherwise, and where no parameter has a role, this is
/// `inner` itself.
[[nodiscard]] std::unique_ptr<Searcher> with_first_guesses(
    std::unique_ptr<Searcher> inner, const SearchSpace& space, const Configuration& baseline,
    const GuessMachine& machine, const std::vector<ObjectiveTraits>& objectives,
    const KnobRoles& declared = {});

}  // namespace steptune
