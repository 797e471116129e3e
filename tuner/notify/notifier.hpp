// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/json.hpp"

namespace steptune {

/// What is told to programs and webhooks.
struct Notification {
  std::string event;  ///< `completed`, `improved`, `regressed`, `failed`, `budget`
  std::string text;   ///< a line or two for people
  Json body;          ///< an object; gets `event` as its first key
};

/// Where notices go: `https://...` or `http://...` is sent the JSON document by POST, with
/// `slack+` in front (and on hooks.slack.com) Slack's shape, `{"text": ...}`; anything else is a
/// command for `/bin/sh -c`.
///
/// A command finds the document on stdin and the event's name in STEPTUNE_EVENT; its output is
/// dropped, and it has half a minute. It is not given what is secret of this program's environment
/// (`is_secret_variable`). Nothing of the document is ever part of a command line.
class Notifier {
 public:
  /// `usage` for an address that is none. `clock` outlives the object.
  [[nodiscard]] static Result<Notifier> create(const std::vector<std::string>& targets,
                                               const Clock& clock);

  /// Tells all of them, one after the other, and waits: half a minute for a command and a quarter
  /// for an address at the most. Returns the warnings of those that could not be told. Addresses
  /// are named by their host alone: the rest may be a secret.
  [[nodiscard]] std::vector<std::string> tell(const Notification& notice) const;

 private:
  enum class Kind { command, webhook, slack };
  struct Target {
    Kind kind = Kind::command;
    std::string text;  ///< the command, or the address
    std::string name;  ///< for people
  };

  Notifier(std::vector<Target> targets, const Clock& clock)
      : targets_(std::move(targets)), clock_(&clock) {}
  [[nodiscard]] static Result<Target> target_of(const std::string& text);

  std::vector<Target> targets_;
  const Clock* clock_;
};

}  // namespace steptune
