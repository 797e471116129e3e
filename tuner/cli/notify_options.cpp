// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/notify_options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace steptune {

void add_notify_options(CLI::App& command, NotifyOptions& options,
                        const std::vector<std::string>& events) {
  // Take exactly one value. An open list would swallow the -- that separates a command.
  command
      .add_option(
          "--notify", options.targets,
          "Command that gets the result as JSON on stdin, or address that it is posted to; "
          "slack+https://... for Slack's format; may be repeated [default: no notification]")
      ->option_text("COMMAND|URL")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command
      .add_option("--notify-on", options.events,
                  fmt::format("Events to notify of: {} [default: all]", fmt::join(events, ", ")))
      ->option_text("EVENTS")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
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
