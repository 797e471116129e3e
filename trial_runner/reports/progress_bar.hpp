// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace steptune {

/// A tqdm bar, `Epoch 1:  12%|█▏    | 12/100 [00:03<00:20,  4.10it/s, loss=0.3]`, or one of
/// Ultralytics, `  640: 12% ━╸────────── 12/100 4.1it/s 3.0s<20.1s`. Views point into the line.
struct ProgressBar {
  std::string_view description;  ///< `Epoch 1`
  double done = 0.0;
  std::optional<double> total;
  std::string_view unit;              ///< `it`, `img`; empty while the rate is unknown
  std::optional<double> units_per_s;  ///< from `4.10it/s` or `1.20s/it`
  std::string_view postfix;           ///< `loss=0.3`
};

/// Returns nullopt if the line has no bar, or if the bar has scaled counts (`1.2M/4.0M`), which are
/// too coarse for measurements.
[[nodiscard]] std::optional<ProgressBar> parse_progress_bar(std::string_view line);

/// Returns the number after the word `epoch` in any case: 3 for `Train Epoch: [3/10]`.
[[nodiscard]] std::optional<double> epoch_of(std::string_view text);

}  // namespace steptune
