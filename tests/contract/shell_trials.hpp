// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "tests/support/read_file.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::contract {

/// The suite's trials as shell scripts, for runners whose processes run on this machine. A shell
/// exists as long as its trial, and its command line identifies the trial.
namespace shell_trials {

/// Returns a word on a trial's command line that no other process has.
inline std::string mark_of(TrialKey key) {
  return fmt::format("contract-{}-{}-{}", ::getpid(), key.trial, key.attempt);
}

/// Returns a trial that reports twice and then runs the script `rest`.
inline TrialSpec reporting(TrialKey key, const std::string& rest) {
  TrialSpec spec;
  spec.key = key;
  spec.argv = {"/bin/sh", "-c",
               "echo '[steptune] {\"v\":1,\"step\":1}'\n"
               "echo '[steptune] {\"v\":1,\"step\":2}'\n" +
                   rest,
               mark_of(key)};
  return spec;
}
inline TrialSpec quick(TrialKey key) {
  return reporting(key, "");
}
inline TrialSpec endless(TrialKey key) {
  return reporting(key, "sleep 1000; exit 1\n");
}

/// True if a process of this machine has the word on its command line.
inline bool is_on_a_command_line(const std::string& word) {
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    const std::string words = read_file(process.path() / "cmdline");  // each ends with NUL
    if (words.find('\0' + word + '\0') != std::string::npos) return true;
  }
  return false;
}

}  // namespace shell_trials
}  // namespace steptune::contract
