// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>

#include "common/machine/description.hpp"
#include "tuner/knobs/first_guesses.hpp"

namespace steptune {
namespace {

/// Fields of /proc/cpuinfo of x86 and Arm.
bool cpu_computes_bfloat16(const SystemFiles& files) {
  static const RE2 k_flags(
      "(?m)^(?:flags|Features)\\s*:.*\\b(?:avx512_bf16|amx_bf16|bf16|svebf16)\\b");
  const auto text = files.text("proc/cpuinfo");
  return text && RE2::PartialMatch(*text, k_flags);
}

/// Those before Ampere, and AMD's before CDNA, emulate it or refuse. "RTX 2000 Ada" is not one of
/// them, nor is the mobile RTX 2050.
bool gpu_computes_bfloat16(const SystemFiles& files) {
  static const RE2 k_without(
      "V100|Titan V|T4\\b|P100|P40|P4\\b|K80|K40|M60|M40|GTX|RTX 20[678]0|Quadro RTX|TITAN RTX");
  const MachineDescription machine = describe_machine(files);
  const auto model = machine.find("gpu");
  return model != machine.end() && !RE2::PartialMatch(model->second, k_without);
}

}  // namespace

GuessMachine guess_machine(const SystemFiles& files, int cpus, int gpus) {
  return {cpus, gpus, gpus > 0 ? gpu_computes_bfloat16(files) : cpu_computes_bfloat16(files)};
}

}  // namespace steptune
