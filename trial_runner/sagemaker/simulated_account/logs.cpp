// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/logs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "trial_runner/sagemaker/cloudwatch.hpp"

namespace steptune::simulated {
namespace {

constexpr std::size_t k_most_events = 10000;
constexpr std::size_t k_most_streams = 50;

/// Parses a page token: two numbers with a bar between them. They are all the state that is needed
/// to continue a reading.
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

/// Returns a number in [0, 1) that depends only on the line and is uniform over lines.
double fraction_of(std::uint64_t stream, std::size_t line) {
  std::uint64_t bits = stream * 0x9e3779b97f4a7c15ULL + line;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}

std::string without_quotes(std::string pattern) {
  if (pattern.size() >= 2 && pattern.front() == '"' && pattern.back() == '"') {
    return pattern.substr(1, pattern.size() - 2);
  }
  return pattern;
}

tl::unexpected<ServiceError> refuse_token() {
  return refuse("InvalidParameterException", "The specified nextToken is invalid.");
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

void SimulatedLogs::collect(Streams::iterator stream, std::int64_t low_ms, std::int64_t high_ms,
                            double now_s, std::vector<Event>& events) {
  SimulatedOutput& output = stream->second.output;
  output.produce_until(now_s - times_.delay_s);
  const auto& times = output.times_s();
  const auto first = std::lower_bound(
      times.begin(), times.end(), low_ms,
      [this](double time_s, std::int64_t bound_ms) { return wall_ms(time_s) < bound_ms; });
  for (auto line = static_cast<std::size_t>(first - times.begin()); line < times.size(); ++line) {
    const std::int64_t time_ms = wall_ms(times[line]);
    if (time_ms >= high_ms) return;
    if (found_s(stream->second, line) <= now_s) events.push_back({stream, line, time_ms});
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
  const auto names = request.value("logStreamNames", std::vector<std::string>());
  if (!prefix.empty() && !names.empty()) {
    return refuse("InvalidParameterException", "prefix and names are exclusive");
  }
  const auto low_ms = request.value("startTime", std::int64_t{0});
  const auto high_ms = request.value("endTime", std::numeric_limits<std::int64_t>::max());
  // All pages of one reading show the same moment, so that new events do not shift pages.
  double as_of_s = now_s;
  std::size_t begin = 0;
  if (request.contains("nextToken")) {
    const auto token = read_token(request["nextToken"].get<std::string>());
    if (!token) return refuse_token();
    as_of_s = static_cast<double>(token->first) / 1000.0;
    begin = token->second;
  } else {
    as_of_s = std::floor(now_s * 1000.0) / 1000.0;
  }
  std::vector<Event> events;
  if (names.empty()) {
    for (auto stream = streams_.lower_bound(prefix);
         stream != streams_.end() && stream->first.starts_with(prefix); ++stream) {
      collect(stream, low_ms, high_ms, as_of_s, events);
    }
  }
  for (const std::string& name : names) {
    const auto stream = streams_.find(name);
    if (stream != streams_.end()) collect(stream, low_ms, high_ms, as_of_s, events);
  }
  if (const auto pattern = without_quotes(request.value("filterPattern", std::string()));
      !pattern.empty()) {
    std::erase_if(events, [&](const Event& event) {
      return event.stream->second.output.text(event.line).find(pattern) == std::string::npos;
    });
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.time_ms, a.stream->second.number, a.line) <
           std::tuple(b.time_ms, b.stream->second.number, b.line);
  });
  ++pages_;
  const auto every = static_cast<std::uint64_t>(std::max(0, times_.empty_page_every));
  const bool empty = every > 0 && pages_ % every == 0 && begin < events.size();
  const auto size = std::min(request.value("limit", k_most_events),
                             static_cast<std::size_t>(std::max(1, times_.page_size)));
  const std::size_t end = empty ? begin : std::min(begin + size, events.size());
  Json answer = {{"events", Json::array()}, {"searchedLogStreams", Json::array()}};
  for (std::size_t i = begin; i < end; ++i)
    answer["events"].push_back(describe(events[i]));
  if (end < events.size()) {
    answer["nextToken"] = fmt::format("{}|{}", std::llround(as_of_s * 1000.0), end);
  }
  return answer;
}

Answer<Json> SimulatedLogs::get_events(const Json& request, double now_s) {
  const auto stream = streams_.find(request.at("logStreamName").get<std::string>());
  if (stream == streams_.end() || !visible(stream->second, now_s)) {
    return refuse("ResourceNotFoundException", "The specified log stream does not exist.");
  }
  std::vector<Event> events;
  collect(stream, request.value("startTime", std::int64_t{0}),
          request.value("endTime", std::numeric_limits<std::int64_t>::max()), now_s, events);
  const auto size = std::min(request.value("limit", k_most_events),
                             static_cast<std::size_t>(std::max(1, times_.page_size)));
  std::size_t begin = 0;
  if (request.contains("nextToken")) {
    const auto text = request["nextToken"].get<std::string>();
    const auto token = read_token("0|" + text.substr(std::min<std::size_t>(2, text.size())));
    if (!text.starts_with("f/") || !token) return refuse_token();
    begin = token->second;
  } else if (!request.value("startFromHead", false) && events.size() > size) {
    begin = events.size() - size;
  }
  begin = std::min(begin, events.size());
  const std::size_t end = std::min(begin + size, events.size());
  Json answer = {{"events", Json::array()}};
  for (std::size_t i = begin; i < end; ++i) {
    Json event = describe(events[i]);
    event.erase("logStreamName");
    event.erase("eventId");
    answer["events"].push_back(event);
  }
  // At the end, the service returns the token of the request.
  answer["nextForwardToken"] = fmt::format("f/{}", end);
  answer["nextBackwardToken"] = fmt::format("b/{}", begin);
  return answer;
}

Answer<Json> SimulatedLogs::describe_streams(const Json& request, double now_s) {
  const auto prefix = request.value("logStreamNamePrefix", std::string());
  std::vector<std::string> names;
  for (auto stream = streams_.lower_bound(prefix);
       stream != streams_.end() && stream->first.starts_with(prefix); ++stream) {
    if (visible(stream->second, now_s)) names.push_back(stream->first);
  }
  std::size_t begin = 0;
  if (request.contains("nextToken")) {
    const auto token = read_token(request["nextToken"].get<std::string>());
    if (!token) return refuse_token();
    begin = std::min(token->second, names.size());
  }
  const auto limit = std::min(request.value("limit", k_most_streams), k_most_streams);
  const std::size_t end = std::min(begin + limit, names.size());
  Json answer = {{"logStreams", Json::array()}};
  for (std::size_t i = begin; i < end; ++i)
    answer["logStreams"].push_back({{"logStreamName", names[i]}});
  if (end < names.size()) answer["nextToken"] = fmt::format("0|{}", end);
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
  if (operation == "GetLogEvents") return get_events(request, now_s);
  if (operation == "DescribeLogStreams") return describe_streams(request, now_s);
  return refuse("UnknownOperationException", fmt::format("Unknown operation {}", operation));
}

}  // namespace steptune::simulated
