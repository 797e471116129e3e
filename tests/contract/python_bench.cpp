// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/python_bench.hpp"

#include <fstream>

#include <fmt/format.h>

#include "trial_runner/local/local_runner.hpp"

namespace steptune::contract {

namespace fs = std::filesystem;

PythonBench::PythonBench(int parallel, const std::string& program) : parallel_(parallel) {
  folder_.write("train.py", program);
  fs::create_directories(folder_.path() / "logs");
}

std::unique_ptr<Runner> PythonBench::make_local() const {
  LocalRunnerOptions options;
  options.parallel = parallel_;
  options.pin = false;  // the machine may have fewer CPUs than the test has trials
  options.watchdog_program = STEPTUNE_BINARY_DIR "/bin/steptune-watchdog";
  auto made = make_local_runner(clock_, options);
  if (made) return *std::move(made);
  ADD_FAILURE() << made.error().text();
  return nullptr;
}

TrialSpec PythonBench::trial(TrialKey key, const std::string& kind) const {
  TrialSpec spec;
  spec.key = key;
  spec.argv = {"/usr/bin/python3", (folder_.path() / "train.py").string(), pid_file(key).string(),
               kind};
  spec.environment["PYTHONDONTWRITEBYTECODE"] = "1";
  spec.log_path = folder_.path() / "logs" / fmt::format("{}-{}.log", key.trial, key.attempt);
  return spec;
}

fs::path PythonBench::pid_file(TrialKey key) const {
  return folder_.path() / fmt::format("{}-{}.pid", key.trial, key.attempt);
}

bool PythonBench::is_alive(const fs::path& pid_file) {
  std::string pid;
  if (!(std::ifstream(pid_file) >> pid)) return false;
  // The file is empty for a zombie.
  return std::ifstream("/proc/" + pid + "/cmdline", std::ios::binary).peek() !=
         std::ifstream::traits_type::eof();
}

}  // namespace steptune::contract
