// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/study_list.hpp"

#include <cmath>
#include <utility>

#include "tuner/report/format.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {

std::int64_t ListedStudy::trials() const {
  std::int64_t sum = 0;
  for (const auto& [status, count] : counts)
    sum += count;
  return sum;
}

std::string ListedStudy::result_text() const {
  if (!fault.empty()) return "cannot be read";
  if (!recommendation) return "none yet";
  const double ratio = recommendation->speed_up.ratio;
  const std::string ratio_prefix = std::isfinite(ratio) ? format_ratio(ratio) + ", " : "";
  switch (recommendation->claim) {
    case Claim::faster:
      return ratio_prefix + "confirmed";
    case Claim::nothing_faster:
      return "baseline is best";
    case Claim::nothing_to_gain:
      return "nothing to gain";
    case Claim::feasible:
      return "respects all limits";
    case Claim::unconfirmed:
      break;
  }
  return ratio_prefix + "not confirmed";
}

Result<std::vector<ListedStudy>> read_study_list(const History& history) {
  auto records = history.studies();
  if (!records) return tl::unexpected(records.error());
  std::vector<ListedStudy> studies;
  for (StudyRecord& record : *records) {
    auto counts = history.status_counts(record.id);
    if (!counts) return tl::unexpected(counts.error());
    auto recommendation = stored_recommendation(record);
    ListedStudy study{std::move(record), *std::move(counts), std::nullopt};
    // List the study even if its recommendation cannot be read.
    if (recommendation) {
      study.recommendation = *std::move(recommendation);
    } else {
      study.fault = recommendation.error().text();
    }
    studies.push_back(std::move(study));
  }
  return studies;
}

Json study_list_json(const std::vector<ListedStudy>& studies) {
  Json list = Json::array();
  for (const ListedStudy& study : studies) {
    const auto& recommendation = study.recommendation;
    Json entry = json_of(study.record);
    entry["trials"] = study.trials();
    entry["claim"] = recommendation ? Json(to_text(recommendation->claim)) : Json(nullptr);
    entry["speed_up"] = recommendation && std::isfinite(recommendation->speed_up.ratio)
                            ? Json(recommendation->speed_up.ratio)
                            : Json(nullptr);
    list.push_back(std::move(entry));
  }
  return document_json({{"studies", std::move(list)}});
}

}  // namespace steptune
