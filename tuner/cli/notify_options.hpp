// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/cli/command.hpp"
#include "tuner/notify/notifier.hpp"

namespace steptune {

/// What the user gave as `--notify` and `--notify-on`.
struct NotifyOptions {
  std::vector<std::string> targets;
  std::vector<std::string> events;  ///< to tell of; empty: all
};

/// Adds the options; `events` are those that the command knows.
void add_notify_options(CLI::App& command, NotifyOptions& options,
                        const std::vector<std::string>& events);

/// Tells of `notice` if its event is wanted; who could not be told is a warning.
void tell_if_wanted(CommandContext& context, const Notifier& notifier, const NotifyOptions& options,
                    const Notification& notice);

}  // namespace steptune
