// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/shared_trial.hpp"

#include "common/json.hpp"

namespace steptune::live {

bool SharedTrial::notices_lost_settings(const HookLog& log) {
  if (lost_settings || !why_not_applied(log, spec.live->knobs)) return false;
  lost_settings = true;
  return true;
}

std::vector<std::string> hook_events(const HookLog& log) {
  std::vector<std::string> events;
  const Json events_json = log.to_json();
  for (const Json& event : events_json)
    events.push_back(dump_json(event));
  return events;
}

}  // namespace steptune::live
