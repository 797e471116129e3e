// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/measurement.hpp"

#include "common/enum_names.hpp"

namespace steptune {
namespace {

constexpr auto k_status_names = enum_names<MeasurementStatus>({
    {MeasurementStatus::no_reports, "no_reports"},
    {MeasurementStatus::warming_up, "warming_up"},
    {MeasurementStatus::not_steady, "not_steady"},
    {MeasurementStatus::steady, "steady"},
});

}  // namespace

std::string to_text(MeasurementStatus status) {
  return std::string(k_status_names.name_of(status));
}

std::optional<MeasurementStatus> measurement_status_from_text(std::string_view text) {
  return k_status_names.value_of(text);
}

}  // namespace steptune
