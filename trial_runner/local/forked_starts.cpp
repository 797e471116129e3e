// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/forked_starts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/log.hpp"
#include "common/numbers.hpp"

namespace steptune::local {
namespace {

/// Longest time for which a request waits, in seconds. Importing the largest frameworks takes some
/// tens of seconds.
constexpr double k_longest_wait_s = 180.0;

}  // namespace

ForkedStarts::~ForkedStarts() {
  while (!servers_.empty())
    end(servers_.begin());
}

bool ForkedStarts::begin(const ForkedStartRequest& request, double now_s) {
  if (given_up_) return false;
  auto pipe = make_output_pipe();
  if (!pipe) return false;
  const auto server = find_or_start(request);
  if (server == servers_.end()) return false;
  if (!server->process.ask(request.argv, request.variables, pipe->write.get())) {
    give_up("it accepts no requests");
    return false;
  }
  servers_.splice(servers_.end(), servers_, server);
  server->waiting.push_back({request.key, std::move(pipe->read), now_s});
  return true;
}

ForkedStarts::Servers::iterator ForkedStarts::find_or_start(const ForkedStartRequest& request) {
  const auto found = std::ranges::find(servers_, request.traits, &Server::traits);
  if (found != servers_.end() || !make_room()) return found;
  auto started = ForkServer::start(request.traits, request.argv, request.modules, request.log);
  if (!started) {
    give_up(started.error().text());
    return servers_.end();
  }
  subreaper_->add_helper(started->pid());
  servers_.push_back({request.traits, *std::move(started)});
  return std::prev(servers_.end());
}

bool ForkedStarts::make_room() {
  if (servers_.size() < most_servers_) return true;
  const auto idle =
      std::ranges::find_if(servers_, [](const Server& server) { return server.waiting.empty(); });
  if (idle == servers_.end()) return false;
  end(idle);
  return true;
}

ForkedStarts::Servers::iterator ForkedStarts::end(Servers::iterator server) {
  for (const Waiting& waiting : server->waiting)
    answers_.push_back({waiting.key, std::nullopt});
  subreaper_->remove_helper(server->process.pid());
  return servers_.erase(server);
}

void ForkedStarts::give_up(const std::string& why) {
  given_up_ = true;
  log_line(LogLevel::info, "no more trials are forked: {}", why);
  while (!servers_.empty())
    end(servers_.begin());
}

void ForkedStarts::cancel(TrialKey key) {
  for (auto server = servers_.begin(); server != servers_.end(); ++server) {
    const auto asked = std::ranges::find(server->waiting, key, &Waiting::key);
    if (asked == server->waiting.end()) continue;
    server->waiting.erase(asked);
    end(server);  // otherwise it would still fork for this trial
    return;
  }
}

void ForkedStarts::turn_down(Server& server, const std::string& why) {
  const TrialKey key = server.waiting.front().key;
  log_line(LogLevel::info, "trial {} is not forked: {}", key.trial, why);
  answers_.push_back({key, std::nullopt});
  server.waiting.pop_front();
}

std::optional<std::string> ForkedStarts::read(Server& server) {
  while (auto message = server.process.receive()) {
    if (const auto* ready = std::get_if<ForkServerReady>(&*message)) {
      server.import_s = ready->import_s;
    } else if (const auto* forked = std::get_if<ForkedProcess>(&*message)) {
      if (server.waiting.empty()) continue;
      Waiting waiting = std::move(server.waiting.front());
      server.waiting.pop_front();
      answers_.push_back({waiting.key, trial_process_of(forked->pid, std::move(waiting.output)),
                          server.import_s.value_or(0.0)});
    } else if (const auto* refused = std::get_if<ForkRefused>(&*message)) {
      if (!server.import_s || server.waiting.empty()) return refused->why;
      turn_down(server, refused->why);
    } else {
      return "the server has ended";
    }
  }
  return std::nullopt;
}

std::vector<ForkedStartAnswer> ForkedStarts::advance(double now_s) {
  for (Server& server : servers_) {
    auto fault = read(server);
    const bool waits = !server.waiting.empty();
    if (!fault && waits && now_s > server.waiting.front().asked_s + k_longest_wait_s) {
      fault = "the server does not answer";
    }
    if (fault) {
      give_up(*fault);
      break;
    }
  }
  return std::exchange(answers_, {});
}

void ForkedStarts::add_descriptors(std::vector<pollfd>& descriptors) const {
  for (const Server& server : servers_) {
    if (!server.waiting.empty()) descriptors.push_back({server.process.fd(), POLLIN, 0});
  }
}

double ForkedStarts::next_timer_s() const {
  if (!answers_.empty()) return 0.0;
  double next_s = k_infinity;
  for (const Server& server : servers_) {
    if (!server.waiting.empty())
      next_s = std::min(next_s, server.waiting.front().asked_s + k_longest_wait_s);
  }
  return next_s;
}

}  // namespace steptune::local
