// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/hook_check.hpp"

#include <fmt/format.h>

#include "trial_runner/hooks/hook_reach.hpp"

namespace steptune {

std::string why_hook_is_silent(const HookLog& log, const std::vector<std::string>& argv,
                               const std::filesystem::path& folder) {
  if (const auto why = log.disabled()) return fmt::format("the hook switched itself off: {}", *why);
  if (log.patched()) {
    return "the program trains, but the hook's output does not arrive: another program (a "
           "launcher, a script with \"> FILE\") takes its standard output and does not pass it on";
  }
  if (log.imported() && log.family() != k_pytorch_family) {
    return "the program begins a training, but no step of it was seen while it was watched";
  }
  if (log.imported()) {
    return "the program imports PyTorch, but neither an optimizer's step nor a backward was seen "
           "while it was watched (a program that continues from a checkpoint may have nothing left "
           "to train; gradients of torch.func.grad or torch.autograd.grad do not show without an "
           "optimizer)";
  }
  if (log.armed()) {
    return "the program did not import PyTorch, or did not train with it or with another framework "
           "that the hook knows (docs/hooks.md) while it was watched (one that starts slowly "
           "needs a longer --time; one that continues from a checkpoint may have nothing left to "
           "train)";
  }
  const std::string reason = why_out_of_reach(argv, folder)
                                 .value_or(
                                     "it is not a Python program, or is started by python -I, -E "
                                     "or -S, in a separate environment, or frozen");
  return fmt::format("the hook did not reach the program: {}", reason);
}

TrialFindings check_hook(const StudySpec& study, const Configuration& configuration,
                         const HookLog& hook_log, const std::filesystem::path& events) {
  TrialFindings findings;
  if (!study.hooks.python) return findings;
  findings.given_up = hook_log.gave_up();
  if (hook_log.patched() && !hook_log.disabled()) {
    findings.not_applied = why_not_applied(hook_log, knob_values(study, configuration));
    // The hook sets only settings that differ from the baseline. So here the study file's
    // "baseline" does not match the program.
    if (findings.not_applied && configuration == study.baseline) {
      *findings.not_applied +=
          "; \"baseline\" must be what the program does without the hook: write that value there";
    }
  } else {
    const HookLog log = hook_log.disabled() ? hook_log : read_hook_events(events);
    findings.missing =
        study.runner->traits().sees_files || !log.empty()
            ? why_hook_is_silent(log, render_command(study, configuration).argv,
                                 study.working_directory)
            : "the hook reported nothing: it did not reach the program, whose output "
              "may say why, or the program did not train with a framework that the hook "
              "knows";
  }
  std::error_code error;
  std::filesystem::remove(events, error);
  return findings;
}

}  // namespace steptune
