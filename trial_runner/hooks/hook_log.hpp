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

/// Family of a hook whose events name none.
inline constexpr const char* k_pytorch_family = "pytorch";

/// A hook's report about one knob. Values are JSON scalars; null: unknown.
struct KnobState {
  Json today;  ///< value that the program uses by itself
  Json value;  ///< current value
  bool may = false;
  std::string why;            ///< why it must not change, or why the requested value does not apply
  std::vector<Json> choices;  ///< choices of the table that exist here; empty: all
  std::vector<std::string> where;  ///< `train.py:114 DataLoader`
  std::vector<std::string> also;   ///< other arguments that the call accepts, with another value
  Json edit;  ///< `call` and `argument` of a trainer, in place of the table's; null: the table's
};

/// A hook's report about a data loader of the program.
struct HookedLoader {
  std::string where;  ///< `train.py:114`
  std::string dataset;
  std::optional<bool> training;  ///< nullopt: unknown
  std::optional<std::int64_t> batches;
  std::optional<std::int64_t> batch_size;  ///< on each rank
  std::optional<std::int64_t> samples;     ///< in one pass, on each rank; nullopt: unknown
};

/// Mean seconds of steps before and during a replay of stored batches.
struct ReplayedSteps {
  double step_s = 0.0;         ///< on stored batches, a lower bound for any setting of the loader
  double before_step_s = 0.0;  ///< before the replay, of the unchanged program

  /// Returns the largest speed-up of a step by any other loader, as a ratio of at least 1.
  [[nodiscard]] double ceiling() const;
};

/// A hook's reports about its program, event by event (docs/internals/hooks-protocol.md, "Events").
/// A later event replaces an earlier one of the same identity. A knob that any rank refuses must
/// not be changed; the reason is that rank's. Skips unknown events and keys.
class HookLog {
 public:
  /// Adds an event as JSON text; skips anything else.
  void add(std::string_view event);

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  /// True if an interpreter started with the hook. Known only from a file of events.
  [[nodiscard]] bool armed() const { return armed_; }
  /// True if the program imports PyTorch, or begins a training with another framework. Known only
  /// from a survey's file of events.
  [[nodiscard]] bool imported() const { return !family_.empty(); }
  /// Returns the family of the framework that the program imports; empty unless `imported`.
  [[nodiscard]] const std::string& family() const { return family_; }
  /// True if the program trains.
  [[nodiscard]] bool patched() const { return kept_.contains("patched"); }
  /// Says why the hook withdrew; nullopt: it did not.
  [[nodiscard]] std::optional<std::string> disabled() const;
  /// Says why the hook has ended the program: the unsuitable knob and the reason; nullopt: it did
  /// not.
  [[nodiscard]] std::optional<std::string> gave_up() const;
  /// Returns nullopt if no steps were replayed, or if the program did not allow it.
  [[nodiscard]] std::optional<ReplayedSteps> replay() const;
  /// Returns the last event of that name with its keys; null if there was none.
  [[nodiscard]] const Json& event(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, KnobState>& knobs() const { return knobs_; }
  [[nodiscard]] std::vector<HookedLoader> loaders() const;
  /// Returns installed modules that the program has imported, in order. Not stored in a history.
  [[nodiscard]] const std::vector<std::string>& imports() const { return imports_; }

  /// Returns the current events in order, for storage in a history. `from_json` makes the same log
  /// from them.
  [[nodiscard]] Json to_json() const;
  [[nodiscard]] static HookLog from_json(const Json& json);

 private:
  void keep(const Json& event);
  /// Returns false if there is nothing to store: a rank other than 0 that refuses nothing.
  [[nodiscard]] bool add_row(const Json& event);

  std::map<std::string, Json> kept_;  ///< by identity: `patched`, `knob num_workers`
  /// States by knob and rank: of rank 0, and of other ranks that refuse.
  std::map<std::string, std::map<std::int64_t, KnobState>> rows_;
  std::map<std::string, KnobState> knobs_;  ///< combined over all ranks
  std::vector<std::string> imports_;
  bool armed_ = false;
  std::string family_;
};

/// Reads a file of events; a missing file gives an empty log.
[[nodiscard]] HookLog read_hook_events(const std::filesystem::path& file);

/// Says why a requested value is not active: names the first such knob, its value and the reason.
/// Returns nullopt if all are active. `requested` maps knobs to values. The tuner, not the hook,
/// sets the knobs that are environment variables.
[[nodiscard]] std::optional<std::string> why_not_applied(
    const HookLog& log, const std::map<std::string, Value>& requested);

}  // namespace steptune
