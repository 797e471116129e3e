// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/json.hpp"

namespace steptune {

/// A message to programs and webhooks.
struct Notification {
  std::string event;  ///< `completed`, `improved`, `regressed`, `failed`, `budget`
  std::string text;   ///< a line or two for people
  Json body;          ///< an object; `event` is added as its first key
};

/// Sends notifications to targets. A target `https://...` or `http://...` receives the JSON
/// document by POST. If the target begins with `slack+`, or its host is hooks.slack.com, the
/// document has Slack's form `{"text": ...}`. Any other target is a command for `/bin/sh -c`.
///
/// A command gets the document on stdin and the event's name in STEPTUNE_EVENT. The command's
/// output is dropped, and the command may run for 30 s. The command's environment is this program's
/// without secrets (`is_secret_variable`). No part of the document is ever put into a command line.
class Notifier {
 public:
  /// Returns `usage` for an invalid address. `clock` must outlive the object.
  [[nodiscard]] static Result<Notifier> create(const std::vector<std::string>& targets,
                                               const Clock& clock);

  /// Notifies all targets in order and waits: at most 30 s for a command and 15 s for an address.
  /// Returns warnings about targets that could not be notified. A warning names only the host of an
  /// address, because the rest may be a secret.
  [[nodiscard]] std::vector<std::string> tell(const Notification& notice) const;

 private:
  enum class Kind { command, webhook, slack };
  struct Target {
    Kind kind = Kind::command;
    std::string text;  ///< the command, or the address
    std::string name;  ///< name of the target in messages for people
  };

  Notifier(std::vector<Target> targets, const Clock& clock)
      : targets_(std::move(targets)), clock_(&clock) {}
  [[nodiscard]] static Result<Target> target_of(const std::string& text);

  std::vector<Target> targets_;
  const Clock* clock_;
};

}  // namespace steptune
