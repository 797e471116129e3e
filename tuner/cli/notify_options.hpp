// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/cli/command.hpp"
#include "tuner/notify/notifier.hpp"

namespace steptune {

/// Values of `--notify` and `--notify-on`.
struct NotifyOptions {
  std::vector<std::string> targets;
  std::vector<std::string> events;  ///< events to report; empty: all
};

/// Adds the options. `events` are the command's events.
void add_notify_options(CLI::App& command, NotifyOptions& options,
                        const std::vector<std::string>& events);

/// Sends `notice` if its event is wanted. Prints a warning for a recipient that cannot be reached.
void notify_if_wanted(CommandContext& context, const Notifier& notifier,
                      const NotifyOptions& options, const Notification& notice);

}  // namespace steptune
