// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tuner/history/history.hpp"

namespace steptune {

/// Where runs had their data from, as far as what they read from storage tells. Persistent names.
enum class CacheState {
  warm,      ///< from this machine's memory (page cache): nothing to speak of came from storage
  cold,      ///< from storage: the data were dropped from memory before each run
  mixed,     ///< from both, or from storage and nobody knows what else was read
  not_known  ///< reads were not counted, or cannot be what they seem to be
};
[[nodiscard]] std::string to_text(CacheState state);
[[nodiscard]] std::optional<CacheState> cache_state_from_text(std::string_view text);

/// The same of the runs that a recommendation's figures are of.
struct CacheSeen {
  CacheState state = CacheState::not_known;
  std::optional<double> storage_read_bytes;  ///< by one run, the median
  /// For people; empty where trials run on machines that tell nothing of it.
  std::string text{};
};
[[nodiscard]] CacheSeen cache_seen(std::span<const TrialRecord* const> runs);

}  // namespace steptune
