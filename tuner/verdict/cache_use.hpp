// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "common/enum_names.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Place from which runs read their data, judged by their reads from storage. The history stores
/// the names, so they must not change.
enum class CacheState {
  warm,      ///< this machine's memory (page cache): hardly anything came from storage
  cold,      ///< storage: the data was dropped from memory before each run
  mixed,     ///< partly storage, partly memory
  not_known  ///< reads were not counted, or the counted reads are not plausible
};
inline constexpr auto k_cache_state_names = enum_names<CacheState>({
    {CacheState::warm, "warm"},
    {CacheState::cold, "cold"},
    {CacheState::mixed, "mixed"},
    {CacheState::not_known, "not_known"},
});

/// Place from which the runs behind a recommendation's figures read their data.
struct CacheUse {
  CacheState state = CacheState::not_known;
  std::optional<double> storage_read_bytes;  ///< bytes that the run with the median has read
  /// Text for people; may be empty if the machines of the trials do not count reads.
  std::string text{};
};
/// Returns the cache use of the run with the median of the storage reads.
[[nodiscard]] CacheUse cache_use(std::span<const TrialRecord* const> runs);

}  // namespace steptune
