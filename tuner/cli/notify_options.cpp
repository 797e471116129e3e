// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/notify_options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace steptune {

void add_notify_options(CLI::App& command, NotifyOptions& options,
                        const std::vector<std::string>& events) {
  // Take exactly one value. An open list would swallow the -- that separates a command.
  add_list_option(
      command, "--notify", options.targets, "COMMAND|URL",
      "Command that gets the result as JSON on stdin, or address that it is posted to; "
      "slack+https://... for Slack's format; may be repeated [default: no notification]");
  add_list_option(command, "--notify-on", options.events, "EVENTS",
                  fmt::format("Events to notify of: {} [default: all]", fmt::join(events, ", ")))
      ->delimiter(',')
      ->check(CLI::IsMember(events));
}

void notify_if_wanted(CommandContext& context, const Notifier& notifier,
                      const NotifyOptions& options, const Notification& notice) {
  const bool wanted = options.events.empty() ||
                      std::ranges::find(options.events, notice.event) != options.events.end();
  if (!wanted) return;
  for (const std::string& warning : notifier.tell(notice))
    context.console.warning(warning);
}

}  // namespace steptune
