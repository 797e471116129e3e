// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/launch/rank_cpus.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/machine/cpus.hpp"
#include "common/shipped_files.hpp"

namespace steptune {
namespace {

constexpr const char* k_program = "steptune-bind-rank";

constexpr std::array<std::string_view, 7> k_binding_options{
    "bind-to", "map-by", "rank-by", "cpu-set", "cpu-list", "rankfile", "numa-binding"};
constexpr std::array<std::string_view, 8> k_binding_variables{
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "OMPI_MCA_hwloc_base_binding_policy",
    "OMPI_MCA_rmaps_base_mapping_policy",
    "PRTE_MCA_hwloc_default_binding_policy",
    "I_MPI_PIN_DOMAIN"};
constexpr std::array<std::string_view, 3> k_binding_programs{"numactl", "taskset", "hwloc-bind"};
/// Options of torchrun that determine how it starts the program.
constexpr std::array<std::string_view, 4> k_program_options{"-m", "--module", "--no_python",
                                                            "--no-python"};

/// Returns the name of an option: `--bind-to=core`, `-bind-to`, `--numa_binding`.
std::string option_name(std::string_view word) {
  if (!word.starts_with('-')) return {};
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string name(word.substr(0, word.find('=')));
  std::ranges::replace(name, '_', '-');
  return name;
}

bool has(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::string rank_cpus(const std::vector<int>& cpus, int processes) {
  if (processes < 2 || cpus.size() < static_cast<std::size_t>(processes)) return {};
  const auto count = static_cast<std::size_t>(processes);
  std::string text;
  for (std::size_t rank = 0; rank < count; ++rank) {
    const auto at = [&](std::size_t end) {
      return cpus.begin() + static_cast<std::ptrdiff_t>(end * cpus.size() / count);
    };
    if (rank > 0) text += '/';
    text += format_cpus({at(rank), at(rank + 1)});
  }
  return text;
}

std::vector<int> cpus_of_ranks(std::string rank_cpus) {
  std::ranges::replace(rank_cpus, '/', ',');
  std::vector<int> cpus = parse_cpus(rank_cpus);
  std::ranges::sort(cpus);
  return cpus;
}

bool binds_processes(const Launch& launch, const std::vector<std::string>& launched,
                     const std::map<std::string, std::string>& environment) {
  return std::ranges::any_of(
             launch.options,
             [](const std::string& word) { return has(k_binding_options, option_name(word)); }) ||
         std::ranges::any_of(launched,
                             [](const std::string& word) {
                               return has(k_binding_programs,
                                          std::string_view(word).substr(word.rfind('/') + 1));
                             }) ||
         std::ranges::any_of(environment, [](const auto& variable) {
           return has(k_binding_variables, variable.first) && !variable.second.empty();
         });
}

std::optional<std::vector<std::string>> bound_words(const Launch& launch,
                                                    const LauncherSupport& support,
                                                    std::vector<std::string> launched,
                                                    const std::string& rank_cpus) {
  const auto program = find_file(shipped_directories(ShippedKind::helper), k_program);
  const bool own = std::ranges::any_of(
      launch.options, [](const std::string& word) { return has(k_program_options, word); });
  if (!program || own || launch.with == Launcher::srun) return std::nullopt;
  std::vector<std::string> binding{program->string(), rank_cpus};
  std::size_t at = 3;  // mpirun -np N, or PYTHON -m torch.distributed.run
  if (launch.with == Launcher::torchrun) {
    const bool is_script = launched.size() > 1 && launched[1] == "-m";
    at = (is_script ? at : 1) + 2 + support.rendezvous.size();  // 2: numbers of nodes and processes
    if (is_script) {
      // Without this option, torchrun would start steptune-bind-rank with Python.
      binding.insert(binding.begin(), "--no_python");
      binding.insert(binding.end(), {launched.front(), "-u"});
    } else {
      ++at;  // --no_python
    }
  }
  at = std::min(at + launch.options.size(), launched.size());
  launched.insert(launched.begin() + static_cast<std::ptrdiff_t>(at), binding.begin(),
                  binding.end());
  return launched;
}

}  // namespace steptune
