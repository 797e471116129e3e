// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/cache_use.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "common/units.hpp"

namespace steptune {
namespace {

/// Reads of at least this share of the data count as reads of all data. Reads ahead, and reads
/// before the measurement, are included.
constexpr double k_nearly_all = 0.95;

std::string mebibytes(double bytes) {
  return fmt::format("{:.1f} MiB", bytes / k_mib_bytes);
}

/// State of a run's data before its start, and the run's reads.
struct Run {
  bool is_cold = false;     ///< its data was to be dropped from memory before the run
  std::string dropped;      ///< `k_dropped_placement`
  std::string not_dropped;  ///< `k_not_dropped_placement`
  std::optional<double> data_bytes;
  double read_bytes = 0.0;
  double seconds = 0.0;
};

Run run_of(const TrialRecord& trial) {
  Run run;
  const auto placed = [&](const char* fact) {
    const auto found = trial.placement.find(fact);
    return found == trial.placement.end() ? std::string() : found->second;
  };
  run.is_cold = placed(k_page_cache_placement) == k_cold_cache;
  run.dropped = placed(k_dropped_placement);
  run.not_dropped = placed(k_not_dropped_placement);
  run.data_bytes = parse_finite(placed(k_data_bytes_placement));
  run.read_bytes = trial.storage_read_bytes.value_or(0.0);
  run.seconds = latest_attempt_s(trial);
  return run;
}

/// Describes a run's reads from storage, for people.
std::string read_text(const Run& run) {
  return fmt::format("a run read {} from storage in {}", mebibytes(run.read_bytes),
                     format_duration(run.seconds));
}

CacheUse begun_cold(const Run& run) {
  CacheUse seen;
  if (!run.not_dropped.empty()) {
    seen.text = fmt::format(
        "not known: trials may have found data in memory, which was not dropped from there ({})",
        run.not_dropped);
  } else if (!(run.read_bytes > 0.0)) {
    seen.text = fmt::format(
        "not known: no reads from storage were counted, although the data had been dropped from "
        "memory ({}): it may be in memory (tmpfs), mapped by another program, or on a network",
        run.dropped);
  } else if (run.data_bytes && run.read_bytes > k_nearly_all * *run.data_bytes) {
    seen.state = CacheState::mixed;
    seen.text = fmt::format(
        "mixed: trials read all {} of the data from storage, and then found it in memory. To "
        "measure only the first epoch, name more \"data\" or set a shorter \"max_trial\"",
        mebibytes(*run.data_bytes));
  } else {
    seen.state = CacheState::cold;
    seen.text = fmt::format("cold: {}, as the first epoch of a long run does", read_text(run));
  }
  return seen;
}

CacheUse begun_warm(const Run& run) {
  CacheUse seen;
  // Smaller reads come from the program's own files, or from files that it has just written.
  if (run.read_bytes < k_mib_bytes) {
    seen.state = CacheState::warm;
    seen.text = fmt::format(
        "warm: a run read {} from storage; if the long run's data does not fit into memory, "
        "measure with \"measure.cache\": \"cold\"",
        mebibytes(run.read_bytes));
  } else {
    seen.state = CacheState::mixed;
    seen.text = fmt::format("mixed: {}, and found other data in memory", read_text(run));
  }
  return seen;
}

}  // namespace

CacheUse cache_use(std::span<const TrialRecord* const> runs) {
  std::vector<const TrialRecord*> counted;
  std::ranges::copy_if(runs, std::back_inserter(counted),
                       [](const TrialRecord* run) { return run->storage_read_bytes.has_value(); });
  if (counted.empty()) {
    // Mention this only if data was dropped from memory, because reads are then usually counted.
    const bool named = std::ranges::any_of(runs, [](const TrialRecord* run) {
      return run->placement.contains(k_page_cache_placement);
    });
    return {CacheState::not_known, std::nullopt,
            named ? "not known: reads from storage were not counted" : ""};
  }
  const auto middle = counted.begin() + static_cast<std::ptrdiff_t>((counted.size() - 1) / 2);
  std::ranges::nth_element(counted, middle, {},
                           [](const TrialRecord* run) { return *run->storage_read_bytes; });
  const Run run = run_of(**middle);
  CacheUse seen = run.is_cold ? begun_cold(run) : begun_warm(run);
  seen.storage_read_bytes = run.read_bytes;
  return seen;
}

}  // namespace steptune
