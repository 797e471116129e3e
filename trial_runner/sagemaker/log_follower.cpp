// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/log_follower.hpp"

#include <algorithm>
#include <utility>

#include "common/json_fields.hpp"
#include "trial_runner/sagemaker/cloudwatch.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"

namespace steptune {
namespace {

/// Parses stream names of the form `<job>/algo-<n>-<epoch>`.
LogLine line_of(const std::string& stream) {
  LogLine line;
  const auto slash = stream.find('/');
  line.job = stream.substr(0, slash);
  if (slash != std::string::npos) {
    const std::string rest = stream.substr(slash + 1);
    line.host = rest.substr(0, rest.rfind('-'));
  }
  return line;
}

/// Returns the event's time in milliseconds since 1970. Returns 0 for an invalid time, or one after
/// the year 2096. A time in the far future would make later polls miss events.
double timestamp_of(const Json& event) {
  const double timestamp_ms = number_at(event, "timestamp").value_or(0.0);
  return timestamp_ms > 0.0 && timestamp_ms < 4e12 ? timestamp_ms : 0.0;
}

}  // namespace

LogFollower::LogFollower(aws::JsonClient& client, aws::JsonService service, std::string job_prefix,
                         double since_wall_s)
    : client_(client),
      service_(std::move(service)),
      job_prefix_(std::move(job_prefix)),
      newest_ms_((since_wall_s + k_longest_lag_s) * 1e3) {}

void LogFollower::reach_back_to(double wall_s) {
  newest_ms_ = std::min(newest_ms_, (wall_s + k_longest_lag_s) * 1e3);
}

aws::AwsResult<std::vector<LogLine>> LogFollower::poll() {
  const double from_ms = std::max(0.0, newest_ms_ - k_longest_lag_s * 1e3);
  Json input = {{"logGroupName", k_training_jobs},
                {"logStreamNamePrefix", job_prefix_},
                {"startTime", static_cast<std::int64_t>(from_ms)}};
  std::vector<LogLine> lines;
  // Keep events of this poll apart until it has succeeded, so that the next poll can read them
  // again.
  std::map<std::string, double> seen_now;
  double newest_ms = newest_ms_;
  while (true) {
    const auto page = client_.call(service_, "FilterLogEvents", input);
    if (!page && page.error().code == "ResourceNotFoundException") return lines;
    if (!page) return tl::unexpected(page.error());
    const auto events = page->find("events");
    if (events != page->end() && events->is_array()) {
      for (const Json& event : *events) {
        const std::string id = text_at(event, "eventId");
        const double timestamp_ms = timestamp_of(event);
        if (!seen_now.emplace(id, timestamp_ms).second || seen_ms_.contains(id)) continue;
        LogLine line = line_of(text_at(event, "logStreamName"));
        line.wall_s = timestamp_ms / 1e3;
        line.text = text_at(event, "message");
        lines.push_back(std::move(line));
        newest_ms = std::max(newest_ms, timestamp_ms);
      }
    }
    const std::string next = text_at(*page, "nextToken");
    if (next.empty()) break;
    input["nextToken"] = next;
  }
  newest_ms_ = newest_ms;
  seen_ms_.merge(seen_now);
  std::erase_if(seen_ms_,
                [&](const auto& seen) { return seen.second < newest_ms_ - k_longest_lag_s * 1e3; });
  std::ranges::stable_sort(lines, {}, &LogLine::wall_s);
  return lines;
}

}  // namespace steptune
