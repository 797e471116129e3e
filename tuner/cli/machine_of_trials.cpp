// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/machine_of_trials.hpp"

#include "common/machine/system_files.hpp"
#include "tuner/cli/build_info.hpp"

namespace steptune {

MachineDescription machine_of_trials(const StudySpec& study) {
  MachineDescription machine;
  if (study.runner->traits().uses_this_machine) {
    machine = describe_machine(SystemFiles{});
  } else {
    machine[k_trials_on] = to_text(study.runner->resources_of(study.baseline));
  }
  const BuildInfo build = build_info();
  machine["steptune"] = build.commit.empty() ? build.version : build.version + " " + build.commit;
  return machine;
}

}  // namespace steptune
