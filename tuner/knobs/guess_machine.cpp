// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include <re2/re2.h>

#include "common/machine/description.hpp"
#include "tuner/knobs/first_guesses.hpp"

namespace steptune {
namespace {

/// True if a CPU flag in /proc/cpuinfo (x86 or Arm) shows arithmetic in bfloat16. The hook has the
/// same list (`keras/knobs.py`); a test compares the two lists.
bool cpu_computes_bfloat16(const SystemFiles& files) {
  static const RE2 k_flags(
      "(?m)^(?:flags|Features)\\s*:.*\\b(?:avx512_bf16|amx_bf16|bf16|svebf16)\\b");
  const auto text = files.text("proc/cpuinfo");
  return text && RE2::PartialMatch(*text, k_flags);
}

/// False if the model is unknown, or is a GPU that emulates or refuses bfloat16: NVIDIA's before
/// Ampere, AMD's before CDNA. All Quadro and TITAN models are older than Ampere. The pattern must
/// not match newer models: "RTX 2000 Ada", the mobile RTX 2050 and MX570.
bool gpu_computes_bfloat16(const SystemFiles& files) {
  static const RE2 k_without(
      "(?i)V100|\\bT\\d+G?\\b|\\b[KMP]\\d+\\b|\\bMX[1-4]|GTX|RTX 20[678]0|Quadro|Titan");
  const MachineDescription machine = describe_machine(files);
  const auto model = machine.find("gpu");
  return model != machine.end() && !RE2::PartialMatch(model->second, k_without);
}

/// Returns the number of physical cores of `cpus` CPUs, estimated by the whole machine's ratio of
/// cores to CPUs. Arm's /proc/cpuinfo names no cores, so each CPU counts as a core there.
int cores_behind(const SystemFiles& files, int cpus) {
  static const RE2 k_field("(?m)^(processor|physical id|core id)\\s*:\\s*(\\d+)$");
  const auto text = files.text("proc/cpuinfo");
  if (!text) return cpus;
  re2::StringPiece rest(*text);
  std::string field;
  int number = 0;
  int processors = 0;
  int socket = 0;
  std::set<std::pair<int, int>> cores;
  while (RE2::FindAndConsume(&rest, k_field, &field, &number)) {
    if (field == "processor") ++processors;
    if (field == "physical id") socket = number;
    if (field == "core id") cores.emplace(socket, number);
  }
  if (cores.empty() || processors == 0) return cpus;
  const double share = static_cast<double>(cores.size()) / processors;
  return std::max(1, static_cast<int>(std::lround(share * cpus)));
}

}  // namespace

GuessMachine guess_machine(const SystemFiles& files, int cpus, int gpus) {
  return {cpus, gpus, gpus > 0 ? gpu_computes_bfloat16(files) : cpu_computes_bfloat16(files),
          cores_behind(files, cpus)};
}

}  // namespace steptune
