// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/launch/command_words.hpp"

#include <algorithm>
#include <array>
#include <regex>

namespace steptune {
namespace {

std::string base_name(const std::string& word) {
  return word.substr(word.rfind('/') + 1);
}

struct KnownLauncher {
  std::string_view name;
  std::string_view program;
  std::string_view module;  ///< Python module, or a prefix of modules below it; empty: none
};
constexpr std::array<KnownLauncher, 9> k_launchers{
    {{"torchrun", "torchrun", "torch.distributed.run"},
     {"torchrun", "torchrun", "torch.distributed.launch"},
     {"accelerate", "accelerate", "accelerate.commands"},
     {"mpirun", "mpirun", ""},
     {"mpirun", "mpiexec", ""},
     {"srun", "srun", ""},
     {"horovodrun", "horovodrun", "horovod.runner"},
     {"deepspeed", "deepspeed", "deepspeed.launcher"},
     {"jsrun", "jsrun", ""}}};

}  // namespace

std::optional<std::vector<std::string>> python_script(const std::vector<std::string>& argv) {
  static const std::regex k_python("python(3(\\.[0-9]+)?)?");
  if (!std::regex_match(base_name(argv[0]), k_python)) return std::nullopt;
  auto at = argv.begin() + 1;
  if (at != argv.end() && *at == "-u") ++at;  // some launchers add -u
  if (at == argv.end()) return std::nullopt;
  if (at->starts_with('-') && (*at != "-m" || std::next(at) == argv.end())) return std::nullopt;
  return std::vector<std::string>(at, argv.end());
}

std::optional<std::string_view> launcher_in(const std::vector<std::string>& argv) {
  const std::string program = base_name(argv[0]);
  const auto option = std::ranges::find(argv, "-m");
  const std::string module =
      option == argv.end() || std::next(option) == argv.end() ? "" : *std::next(option);
  for (const KnownLauncher& known : k_launchers) {
    const bool is_module = !known.module.empty() && module.starts_with(known.module);
    if (program == known.program || is_module) return known.name;
  }
  return std::nullopt;
}

}  // namespace steptune
