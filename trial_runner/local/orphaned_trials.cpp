// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/orphaned_trials.hpp"

#include <algorithm>
#include <csignal>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/child_process.hpp"
#include "common/json.hpp"
#include "common/pause.hpp"
#include "trial_runner/local/clean_up_time.hpp"
#include "trial_runner/local/process_tags.hpp"

namespace steptune::local {
namespace {

struct OrphanedTrial {
  std::vector<std::string> tags;
  ProcessId main;
};

std::vector<ProcessId> find_all(const std::vector<OrphanedTrial>& trials) {
  std::vector<ProcessId> found;
  for (const OrphanedTrial& trial : trials) {
    for (const ProcessId& process : find_tagged_processes(trial.tags, {&trial.main, 1})) {
      found.push_back(process);
    }
  }
  return found;
}

}  // namespace

std::string to_text(const TrialToken& token) {
  return dump_json(Json{{"pid", token.main.pid},
                        {"start", token.main.start_ticks},
                        {"boot", token.boot},
                        {"run", token.run_tag}});
}

Result<TrialToken> parse_token(const std::string& text) {
  const auto json = parse_json(text, "trial token");
  if (!json) return tl::unexpected(json.error());
  try {
    TrialToken token;
    token.main.pid = json->at("pid").get<pid_t>();
    token.main.start_ticks = json->at("start").get<std::uint64_t>();
    token.boot = json->at("boot").get<std::string>();
    token.run_tag = json->at("run").get<std::string>();
    return token;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorKind::store, fmt::format("not a token of the local runner: {}", error.what()),
                "trial token");
  }
}

Result<void> end_orphaned_trials(std::span<const Runner::Orphan> orphans, const Clock& clock) {
  std::vector<OrphanedTrial> trials;
  double grace_s = 0.0;
  for (const Runner::Orphan& orphan : orphans) {
    if (orphan.token.empty()) continue;
    const auto token = parse_token(orphan.token);
    if (!token) return tl::unexpected(token.error());
    if (token->boot != boot_id()) continue;
    trials.push_back(
        {{run_tag_entry(token->run_tag), trial_tag_entry(orphan.spec.key)}, token->main});
    grace_s = std::max(grace_s, orphan.spec.limits.grace_s);
  }
  if (trials.empty()) return {};

  const double kill_s = clock.now_s() + grace_s;
  bool asked = false;
  while (true) {
    const std::vector<ProcessId> left = find_all(trials);
    if (left.empty()) return {};
    const double now_s = clock.now_s();
    if (now_s >= kill_s + k_give_up_s) {
      std::vector<pid_t> pids;
      pids.reserve(left.size());
      for (const ProcessId& process : left)
        pids.push_back(process.pid);
      return fail(
          ErrorKind::runner,
          fmt::format("processes {} of a trial that an earlier run left behind cannot be ended",
                      fmt::join(pids, ", ")),
          {}, "end them by hand (kill -9): they would disturb every measurement");
    }
    for (const ProcessId& process : left) {
      if (now_s >= kill_s) {
        send_signal(process, SIGKILL);
      } else if (!asked) {
        send_signal(process, SIGTERM);
        send_signal(process, SIGCONT);
      }
    }
    asked = true;
    pause_thread(k_child_poll_s);
  }
}

}  // namespace steptune::local
