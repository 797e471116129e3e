// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tuner/cli/build_info.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/doctor_checks.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

ExitCode print_version(CommandContext& context) {
  const BuildInfo info = build_info();
  const std::string sqlite = sqlite_version();
  if (context.json) {
    context.console.json_result(
        document_json({{"version", info.version},
                       {"commit", info.commit.empty() ? Json(nullptr) : Json(info.commit)},
                       {"compiler", info.compiler},
                       {"build_type", info.build_type},
                       {"sqlite", sqlite}}));
    return ExitCode::ok;
  }
  context.console.result(fmt::format(
      "steptune {}\ncommit        {}\ncompiler      {}, {}\nSQLite        {}\n", info.version,
      info.commit.empty() ? "unknown" : info.commit, info.compiler, info.build_type, sqlite));
  return ExitCode::ok;
}

}  // namespace

void add_version_command(CLI::App& program, CommandContext& context) {
  CLI::App* command =
      add_command(program, context, "version", "Print version, commit, compiler and libraries",
                  "  steptune version --json");
  add_json_option(*command, context);
  command->callback([&context] { context.action = [&context] { return print_version(context); }; });
}

}  // namespace steptune
