// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tuner_machine.hpp"

#include "common/machine/description.hpp"
#include "tuner/cli/build_info.hpp"

namespace steptune {

MachineDescription tuner_machine() {
  MachineDescription machine = describe_machine(SystemFiles{});
  const BuildInfo build = build_info();
  machine["steptune"] = build.commit.empty() ? build.version : build.version + " " + build.commit;
  return machine;
}

}  // namespace steptune
