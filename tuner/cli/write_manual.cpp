// SPDX-License-Identifier: Apache-2.0
// write_manual DIRECTORY: writes manual pages and completions from the program's declarations, laid
// out like `share` of an installation. Run by the build; not installed.
#include <filesystem>
#include <iostream>

#include "tuner/cli/build_info.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/completion.hpp"
#include "tuner/cli/man_page.hpp"
#include "tuner/cli/whole_file.hpp"

namespace {

using namespace steptune;

Result<void> write_manual(const CLI::App& program, const std::filesystem::path& share) {
  for (const ManPage& page : man_pages(program, build_info().version)) {
    if (auto written = write_whole_file(share / "man/man1" / (page.name + ".1"), page.text);
        !written) {
      return written;
    }
  }
  const std::pair<const char*, const char*> places[] = {
      {"bash", "bash-completion/completions/steptune"},
      {"zsh", "zsh/vendor-completions/_steptune"},
      {"fish", "fish/vendor_completions.d/steptune.fish"},
  };
  for (const auto& [shell, place] : places) {
    if (auto written = write_whole_file(share / place, completion_script(shell)); !written) {
      return written;
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_manual DIRECTORY\n";
    return static_cast<int>(ExitCode::usage);
  }
  Console console(process_environment());
  const SystemClock clock;
  CommandContext context{console, clock, {}, "auto", false, false, {}};
  CLI::App program(k_program_description, "steptune");
  add_all_commands(program, context);
  const auto written = write_manual(program, argv[1]);
  if (!written) return static_cast<int>(console.error(written.error()));
  return 0;
}
