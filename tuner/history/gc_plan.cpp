// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/gc_plan.hpp"

#include <algorithm>
#include <utility>

namespace steptune {
namespace {

class GcPlanner {
 public:
  GcPlanner(std::vector<StudyUse> studies, std::int64_t taken_bytes)
      : studies_(std::move(studies)), taken_bytes_(taken_bytes) {
    std::ranges::stable_sort(studies_, {}, &StudyUse::last_used_wall_s);
    if (!studies_.empty()) latest_ = studies_.back().id;
    for (const StudyUse& study : studies_)
      newest_ = std::max(newest_, study.id);
    std::erase_if(studies_, [](const StudyUse& study) { return study.running; });
  }

  void remove_older(double than_wall_s, bool whole) {
    for (StudyUse& study : studies_) {
      if (study.last_used_wall_s >= than_wall_s) break;
      if (whole && may_go(study)) {
        remove(study, GcPart::study);
      } else {
        remove(study, GcPart::traces);
        remove(study, GcPart::logs);
      }
    }
    std::erase_if(studies_, [](const StudyUse& study) { return study.id == 0; });
  }

  void remove_until(std::int64_t limit_bytes) {
    for (const GcPart part : {GcPart::traces, GcPart::logs, GcPart::study}) {
      for (StudyUse& study : studies_) {
        if (taken_bytes_ <= limit_bytes) return;
        if (part != GcPart::study || may_go(study)) remove(study, part);
      }
    }
  }

  std::vector<GcStep> take() { return std::move(steps_); }

 private:
  [[nodiscard]] bool may_go(const StudyUse& study) const {
    return !study.needed && study.id != latest_ && study.id != newest_;
  }

  void remove(StudyUse& study, GcPart part) {
    std::int64_t bytes = 0;
    const auto take_out = [&](std::int64_t& of) { bytes += std::exchange(of, 0); };
    if (part != GcPart::logs) take_out(study.trace_bytes);
    if (part != GcPart::traces) take_out(study.log_bytes);
    if (part == GcPart::study) take_out(study.record_bytes);
    if (bytes == 0 && part != GcPart::study) return;
    steps_.push_back({part, study.id, study.name, bytes});
    taken_bytes_ -= bytes;
    if (part == GcPart::study) study.id = 0;
  }

  std::vector<StudyUse> studies_;  ///< least recently used first; a removed study has id 0
  std::int64_t latest_ = 0;        ///< id of the study used last
  /// Id of the study created last. If it were removed, the next study would get its id.
  std::int64_t newest_ = 0;
  std::int64_t taken_bytes_;
  std::vector<GcStep> steps_;
};

}  // namespace

std::string to_text(GcPart part) {
  switch (part) {
    case GcPart::traces:
      return "traces";
    case GcPart::logs:
      return "logs";
    case GcPart::study:
      break;
  }
  return "study";
}

std::vector<GcStep> plan_gc(std::vector<StudyUse> studies, const GcRequest& request,
                            double now_wall_s, std::int64_t taken_bytes) {
  GcPlanner planner(std::move(studies), taken_bytes);
  if (request.older_than_s) {
    planner.remove_older(now_wall_s - *request.older_than_s, request.whole_studies);
  }
  if (request.limit_bytes) planner.remove_until(*request.limit_bytes);
  return planner.take();
}

}  // namespace steptune
