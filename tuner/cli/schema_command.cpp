// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/command.hpp"
#include "tuner/study/study_format.hpp"

namespace steptune {

void add_schema_command(CLI::App& program, CommandContext& context) {
  add_command(program, context, "schema", "Print the JSON Schema of study files, for editors",
              "  steptune schema > study.schema.json", [](CommandContext& within) {
                within.console.json_result(study::study_schema());
                return ExitCode::ok;
              });
}

}  // namespace steptune
