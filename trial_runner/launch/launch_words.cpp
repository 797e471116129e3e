// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/launch/launch_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "trial_runner/launch/command_words.hpp"

namespace steptune {
namespace {

std::vector<std::string> torchrun_words(const Launch& launch, const LauncherSupport& support,
                                        const std::vector<std::string>& command) {
  const auto script = python_script(command);
  // The program `torchrun` may belong to another Python.
  std::vector<std::string> words =
      script ? std::vector<std::string>{command[0], "-m", "torch.distributed.run"}
             : std::vector<std::string>{"torchrun"};
  words.push_back(fmt::format("--nnodes={}", launch.nodes));
  words.push_back(fmt::format("--nproc_per_node={}", launch.processes_per_node));
  words.insert(words.end(), support.rendezvous.begin(), support.rendezvous.end());
  words.insert(words.end(), launch.options.begin(), launch.options.end());
  if (!script) words.emplace_back("--no_python");
  const std::vector<std::string>& program = script ? *script : command;
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::vector<std::string> in_front(std::vector<std::string> words,
                                  const std::vector<std::string>& options,
                                  const std::vector<std::string>& command) {
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace

const LauncherSupport* find_launcher(std::span<const LauncherSupport> supported,
                                     Launcher launcher) {
  const auto found = std::ranges::find(supported, launcher, &LauncherSupport::with);
  return found == supported.end() ? nullptr : &*found;
}

Launch as_started(Launch launch, std::span<const LauncherSupport> supported) {
  if (launch.with != Launcher::mpi || find_launcher(supported, Launcher::srun) == nullptr) {
    return launch;
  }
  launch.with = Launcher::srun;
  const bool is_given = std::ranges::any_of(
      launch.options, [](const std::string& word) { return word.starts_with("--mpi="); });
  if (!is_given) launch.options.insert(launch.options.begin(), "--mpi=pmix");
  return launch;
}

std::vector<std::string> launched_words(const Launch& launch, const LauncherSupport& support,
                                        std::vector<std::string> command) {
  switch (launch.with) {
    case Launcher::torchrun:
      return torchrun_words(launch, support, command);
    case Launcher::mpi:
      return in_front({"mpirun", "-np", std::to_string(launch.processes())}, launch.options,
                      command);
    case Launcher::srun:
      break;
  }
  return command;
}

std::vector<std::string> typed_words(const Launch& launch, std::vector<std::string> launched) {
  if (launch.with != Launcher::srun) return launched;
  return in_front({"srun", fmt::format("--nodes={}", launch.nodes),
                   fmt::format("--ntasks-per-node={}", launch.processes_per_node)},
                  launch.options, launched);
}

std::optional<document::Fault> fault_of(const Launch& launch, int machines,
                                        std::span<const LauncherSupport> supported,
                                        const std::string& runner) {
  if (supported.empty()) {
    return document::Fault{
        "", fmt::format("trials of the runner {} start no processes: leave \"launch\" "
                        "out",
                        runner)};
  }
  std::string others;
  for (const LauncherSupport& support : supported) {
    const bool fits = support.with != launch.with && (support.over_nodes || machines <= 1);
    if (fits)
      others += fmt::format("{}\"{}\"", others.empty() ? "" : " or ", to_text(support.with));
  }
  const std::string instead = others.empty() ? "" : ": use " + others;
  const LauncherSupport* support = find_launcher(supported, launch.with);
  if (support == nullptr) {
    return document::Fault{"/with", fmt::format("the runner {} has no \"{}\"{}", runner,
                                                to_text(launch.with), instead)};
  }
  if (launch.processes_per_node < 1) {
    return document::Fault{"/processes_per_node", "must be a whole number from 1 to 1024"};
  }
  if (launch.nodes < 1) return document::Fault{"/nodes", "must be a whole number from 1 to 10000"};
  if (launch.nodes != machines) {
    return document::Fault{
        "/nodes",
        fmt::format("is {}, but a trial of the runner {} has {}: leave \"nodes\" out", launch.nodes,
                    runner, machines == 1 ? "one machine" : fmt::format("{} machines", machines))};
  }
  if (machines > 1 && !support->over_nodes) {
    return document::Fault{"/with",
                           fmt::format("on the runner {}, \"{}\" starts processes on one machine "
                                       "only, and a trial has {}{}",
                                       runner, to_text(launch.with), machines, instead)};
  }
  return std::nullopt;
}

}  // namespace steptune
