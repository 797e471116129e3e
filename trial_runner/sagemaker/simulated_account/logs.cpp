// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/logs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "trial_runner/sagemaker/cloudwatch.hpp"

namespace steptune::simulated {
namespace {

/// Parses a page token: two numbers with a bar between them. No other state is needed to continue a
/// reading.
std::optional<std::pair<std::int64_t, std::size_t>> read_token(const std::string& token) {
  std::int64_t time_ms = 0;
  std::size_t position = 0;
  const char* end = token.data() + token.size();
  const auto first = std::from_chars(token.data(), end, time_ms);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '|') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, position);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return std::pair(time_ms, position);
}

/// Returns a number in [0, 1) for a line. It depends only on the arguments, and is uniform over
/// lines.
double fraction_of(std::uint64_t stream, std::size_t line) {
  std::uint64_t bits = stream * 0x9e3779b97f4a7c15ULL + line;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}

}  // namespace

SimulatedLogs::SimulatedLogs(LogTimes times, double wall_minus_clock_s)
    : times_(times), wall_minus_clock_s_(wall_minus_clock_s) {}

SimulatedOutput& SimulatedLogs::open(const std::string& stream, SimulatedOutput output) {
  const auto number = static_cast<std::uint64_t>(streams_.size()) + 1;
  return streams_.insert_or_assign(stream, Stream{number, std::move(output)}).first->second.output;
}

std::int64_t SimulatedLogs::wall_ms(double time_s) const {
  return static_cast<std::int64_t>(std::floor((time_s + wall_minus_clock_s_) * 1000.0));
}

double SimulatedLogs::found_s(const Stream& stream, std::size_t line) const {
  return stream.output.times_s()[line] + times_.delay_s +
         times_.jitter_s * fraction_of(stream.number, line);
}

bool SimulatedLogs::visible(Stream& stream, double now_s) {
  return found_s(stream, 0) <= now_s;
}

void SimulatedLogs::collect(Streams::iterator stream, std::int64_t low_ms, double now_s,
                            std::vector<Event>& events) {
  SimulatedOutput& output = stream->second.output;
  output.produce_until(now_s - times_.delay_s);
  const auto& times = output.times_s();
  const auto first = std::lower_bound(
      times.begin(), times.end(), low_ms,
      [this](double time_s, std::int64_t bound_ms) { return wall_ms(time_s) < bound_ms; });
  for (auto line = static_cast<std::size_t>(first - times.begin()); line < times.size(); ++line) {
    if (found_s(stream->second, line) <= now_s)
      events.push_back({stream, line, wall_ms(times[line])});
  }
}

Json SimulatedLogs::describe(const Event& event) const {
  const Stream& stream = event.stream->second;
  return {{"logStreamName", event.stream->first},
          {"timestamp", event.time_ms},
          {"message", stream.output.text(event.line)},
          {"ingestionTime", wall_ms(found_s(stream, event.line))},
          {"eventId", fmt::format("{:036}{:020}", stream.number, event.line)}};
}

Answer<Json> SimulatedLogs::filter_events(const Json& request, double now_s) {
  const auto prefix = request.value("logStreamNamePrefix", std::string());
  const auto low_ms = request.value("startTime", std::int64_t{0});
  // All pages of one reading use the time of the first page, so that new events do not shift pages.
  double as_of_s = now_s;
  std::size_t begin = 0;
  if (request.contains("nextToken")) {
    const auto token = read_token(request["nextToken"].get<std::string>());
    if (!token) {
      return refuse("InvalidParameterException", "The specified nextToken is invalid.");
    }
    as_of_s = static_cast<double>(token->first) / 1000.0;
    begin = token->second;
  } else {
    as_of_s = std::floor(now_s * 1000.0) / 1000.0;
  }
  std::vector<Event> events;
  for (auto stream = streams_.lower_bound(prefix);
       stream != streams_.end() && stream->first.starts_with(prefix); ++stream) {
    collect(stream, low_ms, as_of_s, events);
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.time_ms, a.stream->second.number, a.line) <
           std::tuple(b.time_ms, b.stream->second.number, b.line);
  });
  ++pages_;
  const auto every = static_cast<std::uint64_t>(std::max(0, times_.empty_page_every));
  const bool empty = every > 0 && pages_ % every == 0 && begin < events.size();
  const auto size = static_cast<std::size_t>(std::max(1, times_.page_size));
  const std::size_t end = empty ? begin : std::min(begin + size, events.size());
  Json answer = {{"events", Json::array()}, {"searchedLogStreams", Json::array()}};
  for (std::size_t i = begin; i < end; ++i)
    answer["events"].push_back(describe(events[i]));
  if (end < events.size()) {
    answer["nextToken"] = fmt::format("{}|{}", std::llround(as_of_s * 1000.0), end);
  }
  return answer;
}

Answer<Json> SimulatedLogs::handle(const std::string& operation, const Json& request,
                                   double now_s) {
  const bool exists = std::any_of(streams_.begin(), streams_.end(),
                                  [&](auto& entry) { return visible(entry.second, now_s); });
  if (request.value("logGroupName", std::string()) != k_training_jobs || !exists) {
    return refuse("ResourceNotFoundException", "The specified log group does not exist.");
  }
  if (operation == "FilterLogEvents") return filter_events(request, now_s);
  return refuse("UnknownOperationException", fmt::format("Unknown operation {}", operation));
}

}  // namespace steptune::simulated
