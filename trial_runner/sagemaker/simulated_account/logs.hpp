// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/sagemaker/simulated_account/account_options.hpp"
#include "trial_runner/sagemaker/simulated_account/output.hpp"
#include "trial_runner/sagemaker/simulated_account/service_error.hpp"

namespace steptune::simulated {

/// Simulates CloudWatch Logs of training jobs. Lines appear late, and some pages of answers are
/// empty. Handles FilterLogEvents of one log group.
class SimulatedLogs {
 public:
  /// `wall_minus_clock_s` is the service's wall clock minus the clock of all times here.
  SimulatedLogs(LogTimes times, double wall_minus_clock_s);

  /// Opens a container's stream. The reference is valid as long as this object.
  SimulatedOutput& open(const std::string& stream, SimulatedOutput output);

  [[nodiscard]] Answer<Json> handle(const std::string& operation, const Json& request,
                                    double now_s);

 private:
  struct Stream {
    std::uint64_t number = 0;  ///< number of the stream, in order of opening
    SimulatedOutput output;
  };
  using Streams = std::map<std::string, Stream>;
  struct Event {
    Streams::const_iterator stream;
    std::size_t line = 0;
    std::int64_t time_ms = 0;
  };

  [[nodiscard]] Answer<Json> filter_events(const Json& request, double now_s);

  [[nodiscard]] std::int64_t wall_ms(double time_s) const;
  [[nodiscard]] double found_s(const Stream& stream, std::size_t line) const;
  [[nodiscard]] bool visible(Stream& stream, double now_s);
  /// Appends the stream's events since `low_ms` that can be read at `now_s`.
  void collect(Streams::iterator stream, std::int64_t low_ms, double now_s,
               std::vector<Event>& events);
  [[nodiscard]] Json describe(const Event& event) const;

  LogTimes times_;
  double wall_minus_clock_s_ = 0.0;
  Streams streams_;
  std::uint64_t pages_ = 0;
};

}  // namespace steptune::simulated
