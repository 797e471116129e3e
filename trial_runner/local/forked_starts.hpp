// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <filesystem>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

#include "trial_runner/local/fork_server.hpp"
#include "trial_runner/local/subreaper.hpp"
#include "trial_runner/local/trial_process.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Request to fork a trial's process.
struct ForkedStartRequest {
  TrialKey key;
  ForkServerTraits traits;
  std::vector<std::string> argv;
  std::vector<std::string> modules;
  Environment variables;      ///< set for this trial only
  std::filesystem::path log;  ///< log of a server that has to be started
};

/// Answer to a request.
struct ForkedStartAnswer {
  TrialKey key;
  /// nullopt: the server cannot fork the trial, so the trial needs a new interpreter.
  std::optional<TrialProcess> process;
  double import_s = 0.0;  ///< import time that the trial saved
};

/// Starts trials as children of fork servers. Trials with equal `ForkServerTraits` share a server,
/// which the first request starts. Never blocks. A server may refuse to fork a single trial. The
/// object gives up if a server cannot be started, can fork no process, ends, or does not answer. It
/// then refuses all further requests. `subreaper` outlives the object.
class ForkedStarts {
 public:
  /// `most_servers` limits the servers, because each has an interpreter with its modules in memory.
  ForkedStarts(Subreaper& subreaper, std::size_t most_servers)
      : subreaper_(&subreaper), most_servers_(most_servers) {}
  ForkedStarts(const ForkedStarts&) = delete;
  ForkedStarts& operator=(const ForkedStarts&) = delete;
  ~ForkedStarts();

  /// Requests a forked process. Returns false if the request is refused. Otherwise `advance`
  /// returns the answer later.
  [[nodiscard]] bool begin(const ForkedStartRequest& request, double now_s);
  /// Drops a request: nothing is started for it, and `advance` does not answer it. Ends its server,
  /// so other requests that wait for this server are answered without a process.
  void cancel(TrialKey key);

  [[nodiscard]] std::vector<ForkedStartAnswer> advance(double now_s);

  /// Adds descriptors to poll for input while requests wait. `next_timer_s` is the time at which
  /// `advance` has work without input.
  void add_descriptors(std::vector<pollfd>& descriptors) const;
  [[nodiscard]] double next_timer_s() const;

 private:
  struct Waiting {
    TrialKey key;
    UniqueFd output;
    double asked_s = 0.0;
  };
  struct Server {
    ForkServerTraits traits;
    ForkServer process;
    std::optional<double> import_s{};  ///< nullopt: not ready yet
    std::deque<Waiting> waiting{};     ///< answered in this order
  };
  using Servers = std::list<Server>;

  [[nodiscard]] Servers::iterator find_or_start(const ForkedStartRequest& request);
  [[nodiscard]] bool make_room();
  /// Ends a server and refuses the requests that wait for it.
  Servers::iterator end(Servers::iterator server);
  void give_up(const std::string& why);
  /// Reads messages. If the server can no longer be used, returns the reason; otherwise nullopt.
  [[nodiscard]] std::optional<std::string> read(Server& server);
  void turn_down(Server& server, const std::string& why);

  Subreaper* subreaper_;
  std::size_t most_servers_;
  Servers servers_;  ///< most recently used last
  bool given_up_ = false;
  std::vector<ForkedStartAnswer> answers_;
};

}  // namespace steptune::local
