// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "tuner/cli/build_info.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/serve/access.hpp"
#include "tuner/serve/http_server.hpp"
#include "tuner/serve/study_site.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

struct ServeOptions {
  int port = 7417;  ///< other programs on a tuning machine are unlikely to use this one
  std::string token_file;
};

Result<std::string> new_token_file(const std::string& path) {
  std::string token = random_token();
  if (auto written = write_new_file(path, token + "\n", 0600); !written) {
    Error error = std::move(written).error();
    error.hint = "choose another place with --token-file";
    return tl::unexpected(std::move(error));
  }
  return token;
}

/// Returns the file's token; makes the file if it does not exist. Without a file, makes a new
/// token.
Result<std::string> chosen_token(CommandContext& context, const std::string& path) {
  if (path.empty()) return random_token();
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 && errno == ENOENT) {
    auto made = new_token_file(path);
    // If two servers start at once, the second server uses the token of the first.
    if (made || ::stat(path.c_str(), &status) != 0) return made;
  }
  auto text = read_whole_file(path);
  if (!text) return text;
  std::string token = *std::move(text);
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r'))
    token.pop_back();
  if (!is_token(token)) {
    return fail(ErrorKind::usage, "has no valid token: 16 to 200 letters, digits, - and _", path,
                "remove it, and a new one is made");
  }
  if ((status.st_mode & 077U) != 0) {
    context.console.warning(
        fmt::format("others on this machine may read {}: chmod 600 {}", path, shell_quoted(path)));
  }
  return token;
}

ExitCode serve_studies(CommandContext& context, const ServeOptions& options) {
  const auto database = context.database();
  // Report a bad database here, not in a browser.
  if (const auto history = History::open_for_reading(database); !history) {
    return context.console.error(history.error());
  }
  const auto token = chosen_token(context, options.token_file);
  if (!token) return context.console.error(token.error());
  std::unique_ptr<StudySite> site;
  HttpServer server(context.clock,
                    [&](const httplib::Request& request, httplib::Response& response) {
                      site->answer(request, response);
                    });
  const auto port = server.bind(options.port);
  if (!port) return context.console.error(port.error());
  site = std::make_unique<StudySite>(
      SiteOptions{database, context.database_option(), *token, *port, build_info().version},
      context.clock);
  const SignalFlags flags;
  const std::string address = fmt::format("http://127.0.0.1:{}/?token={}", *port, *token);
  if (context.json) {
    context.console.json_result(
        document_json({{"address", address}, {"port", *port}, {"token", *token}}));
  } else {
    context.console.result(address + "\n");
  }
  context.console.message(
      fmt::format("serving {} to whoever has this address, on this machine only; Ctrl-C ends it",
                  database.string()));
  if (const auto served = server.run([&] { return flags.count() > 0; }, [&] { site->stop(); });
      !served) {
    return context.console.error(served.error());
  }
  return flags.exit_code();
}

}  // namespace

void add_serve_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<ServeOptions>(
      program, context, "serve", "Show all studies in a browser, live",
      "  steptune serve\n"
      "  steptune serve --db /srv/tuning/history.db --port 0\n"
      "  steptune serve --token-file ~/.config/steptune.token   for Prometheus",
      serve_studies);
  add_value_option(
      *command, "--port", options->port, "N",
      fmt::format("Port on 127.0.0.1; 0: any that is free [default: {}]", options->port))
      ->check(CLI::Range(0, 65535));
  add_value_option(*command, "--token-file", options->token_file, "FILE",
                   "File with the token that the address needs, made if it does not exist "
                   "[default: a new token each time]");
  add_json_option(*command, context);
}

}  // namespace steptune
