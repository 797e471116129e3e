// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "common/shipped_files.hpp"
#include "common/text.hpp"
#include "tuner/cli/build_info.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/mcp/server.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

struct McpOptions {
  std::vector<std::string> roots;
  std::string most_time = "1h";
};

Result<mcp::ServerLimits> limits_of(const CommandContext& context, const McpOptions& options) {
  std::vector<fs::path> folders(options.roots.begin(), options.roots.end());
  if (folders.empty()) folders.push_back(fs::current_path());
  auto roots = mcp::Roots::create(folders);
  if (!roots) {
    Error error = roots.error();
    error.kind = ErrorKind::usage;
    error.hint = "give folders that exist with --root";
    return tl::unexpected(std::move(error));
  }
  auto most_time_s = parse_duration_s(options.most_time);
  if (!most_time_s) {
    Error error = most_time_s.error();
    error.where = "--most-time";
    return tl::unexpected(std::move(error));
  }
  if (!(*most_time_s > 0.0)) {
    return fail(ErrorKind::usage, "must be greater than zero", "--most-time",
                "give a time, such as 1h");
  }
  const std::string database = context.db.empty() ? "" : fs::absolute(context.db).string();
  return mcp::ServerLimits{*std::move(roots), *most_time_s, database};
}

ExitCode serve_agent(CommandContext& context, const McpOptions& options) {
  auto limits = limits_of(context, options);
  if (!limits) return context.console.error(limits.error());
  const auto program = find_helper("steptune", "which carries out the calls");
  if (!program) return context.console.error(program.error());
  if (::isatty(STDIN_FILENO) == 1) {
    context.console.message("waits for messages of a client on standard input; Ctrl-D ends it");
  }
  const SignalFlags flags;
  mcp::ChildPrograms children({program->string(), k_child_word, std::to_string(::getpid())},
                              context.clock);
  mcp::Session session(
      *std::move(limits), build_info().version, children, context.clock,
      [&](const Json& message) { context.console.result(dump_json(message) + "\n"); });
  mcp::serve_client(STDIN_FILENO, session, children,
                    [&] { return flags.count() > 0 || !context.console.has_reader(); });
  return flags.exit_code();
}

}  // namespace

void add_mcp_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<McpOptions>(
      program, context, "mcp", "Serve coding agents: a Model Context Protocol server",
      "  steptune mcp --root ~/project\n"
      "  steptune mcp --root ~/project --root /data/experiments --most-time 20m\n"
      "A client starts it and talks to it over standard input and output.",
      serve_agent);
  add_value_option(*command, "--root", options->roots, "DIR",
                   "Folder in which programs may be started, with the folders below it; may be "
                   "repeated [default: this folder]");
  add_value_option(*command, "--most-time", options->most_time, "DURATION",
                   "Longest time that a call may ask for [default: 1h]");
}

}  // namespace steptune
