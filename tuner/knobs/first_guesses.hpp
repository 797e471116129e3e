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
  bool computes_bfloat16 = false;  ///< true if the hardware computes it
  int cores = 0;                   ///< physical cores of these CPUs; 0: as many as CPUs
  double memory_bytes = 0.0;       ///< 0: unknown
};

/// Returns facts about this machine for trials that may use `cpus` CPUs and `gpus` GPUs.
[[nodiscard]] GuessMachine guess_machine(const SystemFiles& files, int cpus, int gpus);

/// Upper limit of a numeric parameter.
struct Reach {
  std::string parameter;
  double most = 0.0;

  [[nodiscard]] bool contains(const Configuration& configuration) const;
};

/// Trials that an expert would make first. A move changes one lever of the best configuration so
/// far: a setting, or settings that belong together (`levers_of`). Levers are moved in the order of
/// the study's parameters. A lever is moved again as long as the last move made training faster:
/// - threads: the number of CPUs, the number of physical cores, and 1;
/// - workers: twice as many, or four times as many if the last step came near its ideal gain;
/// - batch size: four times as large; if a constraint keeps the samples of an optimizer step, with
///   fewer accumulated batches;
/// - another number of role `other`: four times as large;
/// - half precision if the hardware computes it; flags switched on; each other choice.
///
/// The best configuration changes only if a trial is faster by more than both errors and at least 2
/// %. So each of its changes is a measured improvement. No value of a lever is tried twice. At the
/// end, two moves of several levers follow: `shared_cpus`, and all moves together that were faster
/// by at least 2 %, but by less than the errors.
/// Parameters without a role keep their values. Immutable; the space must outlive the object.
class FirstGuesses {
 public:
  /// `declared` has roles of parameters. The names of other parameters decide their roles
  /// (`role_of_name`).
  FirstGuesses(const SearchSpace& space, Configuration baseline, const GuessMachine& machine,
               const KnobRoles& declared = {});

  /// False if no parameter belongs to a lever.
  [[nodiscard]] bool knows_anything() const { return !levers_.empty(); }

  /// Returns the next move; nullopt if all levers are exhausted. Does not move a lever while a
  /// running trial tests it. Leaves out configurations that need at least as much memory as a trial
  /// that ran out of memory. Ignores such a failure if a measured trial needed as much memory.
  [[nodiscard]] std::optional<Configuration> next(std::span<const Observation> observations,
                                                  std::span<const Configuration> running) const;

  /// Returns the largest number of workers that a searcher should propose. It is twice the largest
  /// of the baseline's number, the best number so far and the CPUs. Returns nullopt if the whole
  /// range is within this limit, or if no parameter counts workers.
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
  /// Returns the largest number that fits into memory, extrapolated from two trials; infinite if
  /// unknown.
  [[nodiscard]] double most_in_memory(const Parameter& parameter, const Climb& climb, double before,
                                      std::span<const Observation> observations) const;
  /// Returns the best configuration with workers, and with threads on the CPUs that workers leave,
  /// at least one. Without a GPU, workers and threads compete: neither move may pay alone. Returns
  /// nullopt with a GPU, if the threads fit already, or if workers or threads are not varied.
  [[nodiscard]] std::optional<Configuration> shared_cpus(const Best& best) const;
  /// Returns the best configuration changed by all moves that were faster by less than the errors.
  /// Returns nullopt if there are fewer than two such moves.
  [[nodiscard]] std::optional<Configuration> small_gains(
      const Best& best, std::span<const Observation> observations) const;
  [[nodiscard]] std::vector<Value> worthwhile_choices(const Lever& lever, const Best& best) const;
  /// Returns `from` with the lever set to `value`; nullopt if the result is outside the space.
  [[nodiscard]] std::optional<Configuration> moved(const Lever& lever, const Configuration& from,
                                                   const Value& value) const;
  /// True if `guess` is likely to run out of memory: a trial that needs at most as much ran out,
  /// and no measured trial needed as much as that trial.
  [[nodiscard]] bool has_run_out(const Configuration& guess,
                                 std::span<const Observation> observations) const;
  /// True if both configurations use the same instance type. Instance types differ in memory and
  /// speed.
  [[nodiscard]] bool on_one_instance(const Configuration& a, const Configuration& b) const;
  /// True if `guess` needs at least as much memory as `other`, judging by the parameters' `memory`
  /// and by the precision.
  [[nodiscard]] bool needs_as_much(const Configuration& guess, const Configuration& other) const;
  [[nodiscard]] const Parameter& leading(const Lever& lever) const;

  const SearchSpace& space_;
  Configuration baseline_;
  GuessMachine machine_;
  std::vector<std::optional<KnobRole>> roles_;  ///< roles of the space's parameters, in their order
  std::vector<Lever> levers_;
};

/// Returns a searcher that makes the expert's moves first and then asks `inner`. `inner` learns
/// from these moves, so it needs fewer space-filling points. The suggestions of `inner` stay within
/// `FirstGuesses::reach`. The searcher makes no moves once it has observed trials of an earlier
/// study. Returns `inner` itself if no parameter belongs to a lever, or if values of the first
/// objective may not be positive.
[[nodiscard]] std::unique_ptr<Searcher> with_first_guesses(
    std::unique_ptr<Searcher> inner, const SearchSpace& space, const Configuration& baseline,
    const GuessMachine& machine, const std::vector<ObjectiveTraits>& objectives,
    const KnobRoles& declared = {});

}  // namespace steptune
