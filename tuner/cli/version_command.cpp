// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "tuner/cli/build_info.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/doctor_checks.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

ExitCode print_version(CommandContext& context) {
  const BuildInfo info = build_info();
  const std::string sqlite = sqlite_version();
  return context.print(
      [&] {
        return document_json({{"version", info.version},
                              {"commit", text_or_null(info.commit)},
                              {"compiler", info.compiler},
                              {"build_type", info.build_type},
                              {"sqlite", sqlite}});
      },
      [&] {
        return fmt::format(
            "steptune {}\ncommit        {}\ncompiler      {}, {}\nSQLite        {}\n", info.version,
            info.commit.empty() ? "unknown" : info.commit, info.compiler, info.build_type, sqlite);
      });
}

}  // namespace

void add_version_command(CLI::App& program, CommandContext& context) {
  CLI::App* command =
      add_command(program, context, "version", "Print version, commit, compiler and libraries",
                  "  steptune version --json", print_version);
  add_json_option(*command, context);
}

}  // namespace steptune
