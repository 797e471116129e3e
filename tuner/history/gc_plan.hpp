// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// Disk space and last use of a study, and reasons to keep the study.
struct StudyUse {
  std::int64_t id = 0;
  std::string name;
  double last_used_wall_s = 0.0;
  bool running = false;  ///< true if the study is being tuned, or if its trials still run
  /// True if nightly re-tuning continues the study or uses its result.
  bool needed = false;
  std::int64_t trace_bytes = 0;
  std::int64_t log_bytes = 0;
  std::int64_t record_bytes = 0;  ///< approximate size of its other rows in the database
};

/// A request to free disk space.
struct GcRequest {
  std::optional<double> older_than_s;  ///< time since a study was last used
  bool whole_studies = false;  ///< remove old studies completely, not only their traces and logs
  std::optional<std::int64_t> limit_bytes;  ///< limit for database and logs together
};

/// A part of a study that can be removed. Scripts read the names that `to_text` returns, so these
/// must not change.
enum class GcPart { traces, logs, study };
[[nodiscard]] std::string to_text(GcPart part);

struct GcStep {
  GcPart part = GcPart::traces;
  std::int64_t study_id = 0;
  std::string study;
  std::int64_t bytes = 0;  ///< bytes that the step frees, approximately
};

/// Returns what to remove, in order.
///
/// 1. Old studies lose traces and logs. If the request says so, they are removed completely.
/// 2. While the space is above the limit: traces of all studies, then logs, then whole studies,
///    each least recently used first. Trials and recommendations are removed last, because users
///    look at them.
///
/// Never touches a running study. Keeps the records of every needed study, of the study used last,
/// and of the study created last. `taken_bytes`: size of database and logs before the removal.
[[nodiscard]] std::vector<GcStep> plan_gc(std::vector<StudyUse> studies, const GcRequest& request,
                                          double now_wall_s, std::int64_t taken_bytes);

}  // namespace steptune
