// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/launch_checks.hpp"

#include <set>
#include <string>

#include <fmt/format.h>

#include "trial_runner/launch/command_words.hpp"
#include "trial_runner/launch/launch_words.hpp"

namespace steptune::study {
namespace {

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

void check_launch(const StudySpec& study, const std::vector<Configuration>& examples,
                  document::Faults& faults) {
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
