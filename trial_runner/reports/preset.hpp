// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trial_runner/report.hpp"

namespace steptune {

/// Unit of the counters that a preset reads. `Report::samples` counts epochs and percent, because
/// no batch size changes them.
enum class CountUnit { steps, epochs, percent };

/// Knows what one kind of trainer prints. Stateful: counters of bars that start again are made
/// cumulative. Not thread safe.
class Preset {
 public:
  virtual ~Preset() = default;

  /// Adds to `report` what this line tells: cumulative counters, metrics, a phase. The line holds
  /// no control characters; `report.received_s` is when it was read.
  virtual void read(std::string_view line, Report& report) = 0;

  [[nodiscard]] virtual CountUnit unit() const { return CountUnit::steps; }
  /// Why counters are no longer told, once they cannot be trusted; for people, with the remedy.
  [[nodiscard]] virtual std::optional<std::string> counter_fault() const { return std::nullopt; }
  /// What counters that are told leave out, as of now; for people, with the remedy.
  [[nodiscard]] virtual std::optional<std::string> counter_note() const { return std::nullopt; }
};

/// `tqdm`, `keras`, `hf-trainer`, `lightning`, `key=value`.
[[nodiscard]] std::span<const std::string> preset_names();
/// Null for an unknown name.
[[nodiscard]] std::unique_ptr<Preset> make_preset(std::string_view name);

// One per kind of trainer; `make_preset` chooses.
[[nodiscard]] std::unique_ptr<Preset> make_tqdm_preset();
[[nodiscard]] std::unique_ptr<Preset> make_keras_preset();
[[nodiscard]] std::unique_ptr<Preset> make_hf_trainer_preset();
[[nodiscard]] std::unique_ptr<Preset> make_lightning_preset();
[[nodiscard]] std::unique_ptr<Preset> make_key_value_preset();

}  // namespace steptune
