// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/container_start.hpp"

#include <utility>

#include "trial_runner/hooks/python_hook.hpp"
#include "trial_runner/sagemaker/carried_hook.hpp"
#include "trial_runner/sagemaker/entry_point.hpp"
#include "trial_runner/sagemaker/trial_pack.hpp"

namespace steptune {

void add_carried_hook(std::string_view packed, const std::vector<std::string>& argv,
                      const std::map<std::string, std::string>& exported, ContainerStart& start) {
  CarriedHook hook = carry_hook(packed, argv, exported);
  start.hyperparameters.merge(hook.hyperparameters);
  start.environment.merge(hook.environment);
}

ContainerStart container_start(const ContainerProgram& program) {
  EntryPoint entry = entry_point(program.argv, program.in_code_channel, program.launch,
                                 program.hook.has_value(), program.files);
  ContainerStart start{std::move(entry.words), hyperparameters_of(program.configuration),
                       program.environment};
  start.environment.insert(entry.environment.begin(), entry.environment.end());
  if (!program.hook) return start;
  std::map<std::string, std::string> exported;
  exported.insert(start.environment.extract(k_python_hook_variable));
  add_carried_hook(*program.hook, program.argv, exported, start);
  return start;
}

}  // namespace steptune
