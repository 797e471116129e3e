// SPDX-License-Identifier: Apache-2.0
#include "tuner/notify/notifier.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/notify/hook_command.hpp"
#include "tuner/notify/webhook.hpp"

namespace steptune {
namespace {

constexpr std::string_view k_slack_prefix = "slack+";
constexpr std::string_view k_slack_host = "hooks.slack.com";

/// True if the text begins with the scheme, in upper or lower case (RFC 3986, section 3.1).
bool begins_with_scheme(std::string_view text, std::string_view scheme) {
  return lower_case(text.substr(0, scheme.size())) == scheme;
}

bool is_address(std::string_view text) {
  return begins_with_scheme(text, "http://") || begins_with_scheme(text, "https://");
}

/// Returns the name of a command for messages: its first word, because later words may be secret.
/// If the first word sets a variable (`TOKEN=... notify`), returns only the variable's name,
/// because the value may be secret.
std::string name_of_command(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  const std::size_t end = text.find_first_of(" \t\n=", begin);
  return printable_line(text.substr(begin, end == std::string::npos ? end : end - begin), 60);
}

/// Returns `https://host:port`, without path and query.
std::string origin_of(std::string_view address) {
  const std::size_t host = address.find("://") + 3;
  return std::string(address.substr(0, address.find_first_of("/?#", host)));
}

/// Escapes text for Slack, so that a program's output cannot notify channels or people, or add
/// links (https://docs.slack.dev/messaging/formatting-message-text#escaping).
std::string escaped_for_slack(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

Json slack_document(const Notification& notice) {
  return {{"text", escaped_for_slack(notice.text)}};
}

}  // namespace

Result<Notifier::Target> Notifier::target_of(const std::string& text) {
  const bool slack = begins_with_scheme(text, k_slack_prefix);
  const std::string address = slack ? text.substr(k_slack_prefix.size()) : text;
  if (!is_address(address)) {
    const bool blank = text.find_first_not_of(" \t\n") == std::string::npos;
    if (!slack && !blank) return Target{Kind::command, text, name_of_command(text)};
    return fail(ErrorKind::usage, "is neither an address nor a command", "--notify",
                "give https://..., slack+https://... or a command");
  }
  const std::string origin = origin_of(address);
  const std::string_view host = std::string_view(origin).substr(origin.find("://") + 3);
  if (host.empty() || host.find_first_of(" \t@\\") != std::string_view::npos) {
    return fail(ErrorKind::usage, "is not the address of a webhook", "--notify",
                "give https://host/path, without a user name");
  }
  const bool is_slack = slack || host == k_slack_host;
  return Target{is_slack ? Kind::slack : Kind::webhook, address, origin};
}

Result<Notifier> Notifier::create(const std::vector<std::string>& targets, const Clock& clock) {
  std::vector<Target> read;
  for (const std::string& text : targets) {
    auto target = target_of(text);
    if (!target) return tl::unexpected(target.error());
    read.push_back(*std::move(target));
  }
  return Notifier(std::move(read), clock);
}

std::vector<std::string> Notifier::tell(const Notification& notice) const {
  Json document{{"event", notice.event}};
  document.update(notice.body);
  std::vector<std::string> warnings;
  for (const Target& target : targets_) {
    const auto sent =
        target.kind == Kind::command
            ? run_hook_command(target.text, notice.event, dump_json(document) + "\n", *clock_)
            : post_json(target.text,
                        dump_json(target.kind == Kind::slack ? slack_document(notice) : document));
    if (sent) continue;
    warnings.push_back(fmt::format("could not notify \"{}\" of \"{}\": {}", target.name,
                                   notice.event, sent.error().message));
  }
  return warnings;
}

}  // namespace steptune
