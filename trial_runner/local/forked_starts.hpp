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

/// A trial's process that is to be forked.
struct ForkedStartRequest {
  TrialKey key;
  ForkServerTraits traits;
  std::vector<std::string> argv;
  std::vector<std::string> modules;
  Environment variables;      ///< of this trial alone
  std::filesystem::path log;  ///< of a server that has to be started
};

/// What has become of a request.
struct ForkedStartAnswer {
  TrialKey key;
  std::optional<TrialProcess> process;  ///< nothing: it has to be started anew
  double import_s = 0.0;                ///< that it was spared
};

/// Starts trials as children of fork servers: one server for all that agree in what a process
/// cannot change, started when it is first asked. Never blocks. A server that cannot fork, or does
/// not answer, ends all of it: then every request is turned down. `subreaper` outlives the object.
class ForkedStarts {
 public:
  /// So many servers at most: each holds the memory of an interpreter with its modules.
  ForkedStarts(Subreaper& subreaper, std::size_t most_servers)
      : subreaper_(&subreaper), most_servers_(most_servers) {}
  ForkedStarts(const ForkedStarts&) = delete;
  ForkedStarts& operator=(const ForkedStarts&) = delete;
  ~ForkedStarts();

  /// False: turned down. Otherwise `advance` answers later.
  [[nodiscard]] bool begin(const ForkedStartRequest& request, double now_s);
  /// Nothing is started for it any more, and `advance` says nothing of it.
  void cancel(TrialKey key);

  [[nodiscard]] std::vector<ForkedStartAnswer> advance(double now_s);

  /// Descriptors to poll for input while requests wait, and when `advance` has something to do
  /// without one.
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
    std::optional<double> import_s{};  ///< nothing: not ready yet
    std::deque<Waiting> waiting{};     ///< answered in this order
  };
  using Servers = std::list<Server>;

  [[nodiscard]] Servers::iterator find_or_start(const ForkedStartRequest& request);
  [[nodiscard]] bool make_room();
  /// Requests that wait for it are turned down.
  Servers::iterator end(Servers::iterator server);
  void give_up(const std::string& why);
  /// Why the server is of no use any more; nothing: it is.
  [[nodiscard]] std::optional<std::string> read(Server& server);
  void turn_down(Server& server, const std::string& why);

  Subreaper* subreaper_;
  std::size_t most_servers_;
  Servers servers_;  ///< the one that was used last stands last
  bool given_up_ = false;
  std::vector<ForkedStartAnswer> answers_;
};

}  // namespace steptune::local
