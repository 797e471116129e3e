// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"
#include "common/json.hpp"

namespace steptune {

/// What a hook told of one knob. Values are JSON scalars, null where they are not known.
struct KnobState {
  Json today;  ///< what the program does by itself
  Json value;  ///< what is in force
  bool may = false;
  std::string why;            ///< where it may not be changed, or what was asked is not in force
  std::vector<Json> choices;  ///< of the table's, those that there are here; empty: all
  std::vector<std::string> where;  ///< `train.py:114 DataLoader`
  std::vector<std::string> also;   ///< arguments that the call takes, too, with another value
};

/// What a hook told of a program's data loader.
struct HookedLoader {
  std::string where;  ///< `train.py:114`
  std::string dataset;
  std::optional<bool> training;  ///< nothing: not known
  std::optional<std::int64_t> batches;
  std::optional<std::int64_t> batch_size;  ///< on each rank
  std::optional<std::int64_t> samples;     ///< of a pass, on each rank; nothing: not known
};

/// Steps on kept batches, which no setting of the loader can beat.
struct ReplayedSteps {
  double step_s = 0.0;
  double before_step_s = 0.0;  ///< of the program as it is

  /// The most that another loader can speed up a step, as a ratio of 1 or more.
  [[nodiscard]] double ceiling() const;
};

/// What a hook told of the program that it is in, event by event (docs/internals/hooks-protocol.md,
/// "Events"); of equal events the last one counts. A knob that any rank refuses is one that may not
/// be changed, with that rank's reason. Unknown events and keys are passed over.
class HookLog {
 public:
  /// An event as JSON text; anything else is passed over.
  void add(std::string_view event);

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  /// An interpreter started with the hook: only a file of events tells.
  [[nodiscard]] bool armed() const { return armed_; }
  /// The program imports PyTorch: only a survey's file of events tells.
  [[nodiscard]] bool imported() const { return imported_; }
  /// The program imports PyTorch, and trains.
  [[nodiscard]] bool patched() const { return kept_.contains("patched"); }
  /// Why the hook withdrew.
  [[nodiscard]] std::optional<std::string> disabled() const;
  /// Why the hook has ended the program: the knob that is nothing for it, and why.
  [[nodiscard]] std::optional<std::string> gave_up() const;
  /// Nothing if no steps were replayed, or the program did not allow it.
  [[nodiscard]] std::optional<ReplayedSteps> replay() const;
  /// The last event of that name with its keys; null where there was none.
  [[nodiscard]] const Json& event(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, KnobState>& knobs() const { return knobs_; }
  [[nodiscard]] std::vector<HookedLoader> loaders() const;
  /// Installed modules that the program has imported, in that order. Not kept in a history.
  [[nodiscard]] const std::vector<std::string>& imports() const { return imports_; }

  /// The events that count, one after the other: what a history keeps. Adding them again gives the
  /// same log.
  [[nodiscard]] Json to_json() const;
  [[nodiscard]] static HookLog from_json(const Json& json);

 private:
  void keep(const Json& event);
  /// False where there is nothing to keep: a rank other than 0 that refuses nothing.
  [[nodiscard]] bool add_row(const Json& event);

  std::map<std::string, Json> kept_;  ///< by identity: `patched`, `knob num_workers`
  /// By knob and rank: rank 0's, and of others those that refuse.
  std::map<std::string, std::map<std::int64_t, KnobState>> rows_;
  std::map<std::string, KnobState> knobs_;  ///< of all ranks
  std::vector<std::string> imports_;
  bool armed_ = false;
  bool imported_ = false;
};

/// Reads a file of events; one that is not there tells nothing.
[[nodiscard]] HookLog read_hook_events(const std::filesystem::path& file);

/// Why what was asked is not in force: the first knob, what it is, and why; nothing: all are.
/// `asked`: value by knob; those of the environment are the tuner's own doing.
[[nodiscard]] std::optional<std::string> why_not_in_force(
    const HookLog& log, const std::map<std::string, Value>& asked);

}  // namespace steptune
