// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/measurement.hpp"

#include <array>

namespace steptune {
namespace {

struct StatusName {
  MeasurementStatus status;
  std::string_view name;
};
constexpr std::array<StatusName, 4> k_status_names{{
    {MeasurementStatus::no_reports, "no_reports"},
    {MeasurementStatus::warming_up, "warming_up"},
    {MeasurementStatus::not_steady, "not_steady"},
    {MeasurementStatus::steady, "steady"},
}};

}  // namespace

std::string to_text(MeasurementStatus status) {
  for (const StatusName& entry : k_status_names) {
    if (entry.status == status) return std::string(entry.name);
  }
  return {};
}

std::optional<MeasurementStatus> measurement_status_from_text(std::string_view text) {
  for (const StatusName& entry : k_status_names) {
    if (entry.name == text) return entry.status;
  }
  return std::nullopt;
}

}  // namespace steptune
