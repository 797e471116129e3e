// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trial_runner/report.hpp"

namespace steptune {

/// Unit of the counters that a preset reads. Epochs and percent are reported in `Report::samples`,
/// because the batch size does not change them.
enum class CountUnit { steps, epochs, percent };

/// Reads the output of one kind of trainer. Keeps state, to make counters cumulative that start
/// again in each epoch. Not thread safe.
class Preset {
 public:
  virtual ~Preset() = default;

  /// Adds the content of a line to `report`: cumulative counters, metrics, a phase. The line must
  /// not contain control characters. `report.received_s` is the time at which the line was read.
  virtual void read(std::string_view line, Report& report) = 0;

  [[nodiscard]] virtual CountUnit unit() const { return CountUnit::steps; }
  /// If counters cannot be trusted and are no longer reported, returns the reason and the remedy,
  /// for people.
  [[nodiscard]] virtual std::optional<std::string> counter_fault() const { return std::nullopt; }
  /// If the reported counters leave out steps or samples, returns their share and the remedy, for
  /// people.
  [[nodiscard]] virtual std::optional<std::string> counter_note() const { return std::nullopt; }
};

/// Returns the names of all presets: `tqdm`, `keras`, `hf-trainer`, `lightning`, `key=value`.
[[nodiscard]] std::span<const std::string> preset_names();
/// Makes a preset by its name; null for an unknown name.
[[nodiscard]] std::unique_ptr<Preset> make_preset(std::string_view name);

// One function for each kind of trainer; `make_preset` calls them by name.
[[nodiscard]] std::unique_ptr<Preset> make_tqdm_preset();
[[nodiscard]] std::unique_ptr<Preset> make_keras_preset();
[[nodiscard]] std::unique_ptr<Preset> make_hf_trainer_preset();
[[nodiscard]] std::unique_ptr<Preset> make_lightning_preset();
[[nodiscard]] std::unique_ptr<Preset> make_key_value_preset();

}  // namespace steptune
