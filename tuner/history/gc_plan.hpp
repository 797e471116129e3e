// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// What a study takes of the disk, and whether anybody needs it.
struct StudyUse {
  std::int64_t id = 0;
  std::string name;
  double last_used_wall_s = 0.0;
  bool running = false;  ///< it is being tuned, or trials of it go on
  bool needed = false;   ///< nightly re-tuning goes on from it, or trains with what it found
  std::int64_t trace_bytes = 0;
  std::int64_t log_bytes = 0;
  std::int64_t record_bytes = 0;  ///< all else in the database, about
};

/// What somebody wants to be rid of.
struct GcRequest {
  std::optional<double> older_than_s;       ///< since a study was used
  bool whole_studies = false;               ///< of that age, not only their traces and logs
  std::optional<std::int64_t> limit_bytes;  ///< of database and logs together
};

/// Persistent names.
enum class GcPart { traces, logs, study };
[[nodiscard]] std::string to_text(GcPart part);

struct GcStep {
  GcPart part = GcPart::traces;
  std::int64_t study_id = 0;
  std::string study;
  std::int64_t bytes = 0;  ///< that come back, about
};

/// What to remove, in order. Old studies lose traces and logs, or go as a whole where that is
/// asked for; then, while more than the limit is taken, the traces of all studies go, then the
/// logs, then whole studies, each least recently used first. What is told of a study (trials,
/// recommendation) stays longest; a running study is left alone; one that is needed, the one that
/// was used last and the one that was begun last lose traces and logs only. `taken_bytes`: of
/// database and logs, before.
[[nodiscard]] std::vector<GcStep> plan_gc(std::vector<StudyUse> studies, const GcRequest& request,
                                          double now_wall_s, std::int64_t taken_bytes);

}  // namespace steptune
