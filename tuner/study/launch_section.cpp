// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/launch/command_words.hpp"
#include "trial_runner/launch/launch_words.hpp"
#include "trial_runner/section_limits.hpp"
#include "tuner/study/cross_checks.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/study/study_scope.hpp"

namespace steptune::study {
namespace {

using document::Formula;

/// Type of a count: a number, an expression, or an expression in braces, as templates write a
/// parameter.
Type<Formula> count(document::Range range) {
  Type<Formula> type = document::formula_or_count(range);
  type.read = [read = type.read](const Node& node) -> std::optional<Formula> {
    const auto* text = node.json().get_ptr<const std::string*>();
    const bool braced =
        text != nullptr && text->size() > 2 && text->starts_with('{') && text->ends_with('}');
    if (!braced) return read(node);
    const Json inner = text->substr(1, text->size() - 2);
    return read(Node(inner, node.pointer(), node.reading()));
  };
  return type;
}

std::optional<document::Fault> fault_for(const StudySpec& study,
                                         const Configuration& configuration) {
  const auto launch = launch_of(study, configuration);
  if (!launch) return std::nullopt;
  const Resources machines = study.runner->resources_of(configuration);
  if (machines.heterogeneous()) {
    return document::Fault{"",
                           "machines of several kinds have no common count of processes: leave out "
                           "\"launch\" and start the processes in \"command\""};
  }
  return fault_of(*launch, machines.instance_count, study.runner->traits().launchers,
                  std::string(study.runner->kind().name()));
}

/// Returns why the command does not suit `launch`. If the command also were a launcher, each of its
/// processes would start further processes.
std::optional<std::string> fault_of_command(const StudySpec& study) {
  const auto argv = plain_command(study, study.baseline);
  if (argv.empty()) return "needs a \"command\", whose processes it starts";
  const auto launcher = launcher_in(argv);
  if (!launcher) return std::nullopt;
  return fmt::format(
      "\"command\" starts {} itself: name the program alone there, or leave "
      "\"launch\" out",
      *launcher);
}

}  // namespace

const Section<LaunchSpec>& launch_section() {
  static const auto k_section = [] {
    const std::vector<std::string> names(std::begin(k_launcher_names), std::end(k_launcher_names));
    return Section<LaunchSpec>("launch",
                               "The processes of a distributed program. See docs/distributed.md.",
                               "an object such as {\"processes_per_node\": 2, \"with\": "
                               "\"torchrun\"}")
        .add(key("with", &LaunchSpec::with, document::enumerated(names))
                 .doc("the launcher: `torchrun` (of the command's own Python), `mpi` "
                      "(`mpirun`; on clusters srun) or `srun`"))
        .add(key("nodes", &LaunchSpec::nodes, count({1.0, k_most_machines}))
                 .omitted_at_default()
                 .default_words("the runner's")
                 .doc("machines of a trial: a number, or an expression such as `\"{nodes}\"`"))
        .add(key("processes_per_node", &LaunchSpec::processes_per_node,
                 count({1.0, k_most_processes_per_machine}))
                 .doc("processes on each machine: a number, or an expression such as "
                      "`\"{gpus}\"`"))
        .add(key("options", &LaunchSpec::options,
                 document::list_of(template_with_files(), k_max_elements))
                 .omitted_at_default()
                 .default_words("none")
                 .doc("further arguments for the launcher, as templates; empty ones are left out"));
  }();
  return k_section;
}

void check_launch(const StudySpec& study, const std::vector<Configuration>& examples,
                  Faults& faults) {
  if (!study.launch) return;
  if (const auto fault = fault_of_command(study)) {
    faults.add("/launch", *fault);
    return;
  }
  std::set<std::string> reported;
  for (const Configuration& configuration : examples) {
    const auto fault = fault_for(study, configuration);
    if (!fault || !reported.insert(fault->pointer).second) continue;
    faults.add("/launch" + fault->pointer,
               fmt::format("{} (for {})", fault->message, configuration.text()));
  }
}

}  // namespace steptune::study
