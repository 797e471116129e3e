// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/step_words.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "trial_runner/section_limits.hpp"

namespace steptune::slurm {

int tasks_per_node(const TrialSpec& spec, const SlurmOptions& options) {
  if (!spec.launch) {
    const double tasks = options.tasks_per_node.evaluate(spec.configuration);
    return tasks >= 1.0 && tasks <= k_most_processes_per_machine ? static_cast<int>(tasks) : 1;
  }
  return spec.launch->with == Launcher::srun ? spec.launch->processes_per_node : 1;
}

std::optional<int> least_cpus(std::string_view cpus_per_node) {
  std::string_view rest = cpus_per_node;
  std::optional<int> least;
  while (true) {
    int cpus = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), cpus);
    if (read.ec != std::errc{} || cpus < 1) return std::nullopt;
    least = std::min(cpus, least.value_or(cpus));
    rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
    if (rest.starts_with("(x")) {
      const std::size_t end = rest.find(')');
      if (end == std::string_view::npos) return std::nullopt;
      rest.remove_prefix(end + 1);
    }
    if (rest.empty()) return least;
    if (rest.front() != ',') return std::nullopt;
    rest.remove_prefix(1);
  }
}

std::vector<std::string> step_words(const TrialSpec& spec, const AllocationSpec& requested,
                                    const SlurmOptions& options, const Allocation& allocation,
                                    std::string_view cpus_per_node, const std::string& name) {
  const int tasks = tasks_per_node(spec, options);
  std::vector<std::string> words{"srun",
                                 "--jobid=" + allocation.id,
                                 "--job-name=" + name,
                                 fmt::format("--nodes={}", requested.nodes),
                                 fmt::format("--ntasks={}", requested.nodes * tasks),
                                 fmt::format("--ntasks-per-node={}", tasks),
                                 "--kill-on-bad-exit=1",
                                 "--unbuffered",
                                 "--input=none",
                                 "--export=ALL",
                                 "--chdir=/"};
  const double asked =
      options.cpus_per_task ? options.cpus_per_task->evaluate(spec.configuration) : 0.0;
  int cpus = asked >= 1.0 && asked <= k_most_cpus ? static_cast<int>(asked) : 0;
  if (cpus == 0 && options.exclusive && allocation.nodes > 0) {
    const int of_node = least_cpus(cpus_per_node).value_or(allocation.cpus / allocation.nodes);
    cpus = std::max(1, of_node / tasks);
  }
  // By default srun gives each task one CPU, which would starve data loaders.
  if (cpus > 0) words.push_back(fmt::format("--cpus-per-task={}", cpus));
  if (!requested.value_of("mem")) words.emplace_back("--mem=0");
  // A step sees GPUs and other held resources only if it requests them.
  for (const char* option : {"gpus", "gpus-per-node", "gpus-per-task", "gres"}) {
    if (const auto value = requested.value_of(option))
      words.push_back(fmt::format("--{}={}", option, *value));
  }
  for (const document::StringTemplate& option : options.step_options) {
    const std::string word = option.render(spec.configuration).value_or("");
    if (!word.empty() && !word.ends_with('=')) words.push_back(word);
  }
  if (spec.launch && spec.launch->with == Launcher::srun) {
    words.insert(words.end(), spec.launch->options.begin(), spec.launch->options.end());
  }
  return words;
}

}  // namespace steptune::slurm
