// SPDX-License-Identifier: Apache-2.0
//
// A training program that trains nothing: reports as its argument says. Compiled as C++17, with
// only the reporting header.
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <steptune_report.hpp>
#include <sys/wait.h>

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (mode == "fast") {
    steptune::Reporter reporter;
    for (int i = 1; i <= 20000; ++i) {
      reporter.part("data", 0.5);
      reporter.step(8, {{"loss", 1.0 / i}});
    }
  } else if (mode == "threads") {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 5000; ++i)
          steptune::report(2, {{"loss", 0.5}});
      });
    }
    for (auto& thread : threads)
      thread.join();
  } else if (mode == "odd") {
    steptune::Reporter reporter;
    reporter.part("data", -1);
    reporter.part("data", nan);
    reporter.step(nan, {{"loss", nan}, {"step", 7}, {"a\"b", 0.1}});
  } else if (mode == "repeated") {
    steptune::Reporter reporter;
    reporter.step(1, {{"loss", 0.5}, {"accuracy", 0.25}, {"diverged", nan}});
    reporter.step(1, {{"loss", 0.5}});
    reporter.flush();
  } else if (mode == "names") {
    steptune::Reporter reporter;
    const std::string longest(100, 'n'), too_long(101, 'n');
    for (const std::string& name : {longest, too_long, std::string()}) {
      reporter.part(name.c_str(), 0.5);
      reporter.step(1, {{name.c_str(), 0.5}});
    }
    for (int i = 0; i < 1000; ++i) {
      const std::string name = "m" + std::to_string(i);
      reporter.part(name.c_str(), 0.5);
      reporter.step(1, {{name.c_str(), 0.5}});
    }
  } else if (mode == "phases") {
    steptune::Reporter reporter;
    for (int i = 1; i <= 100; ++i) {
      reporter.step(8);
      if (i % 20 != 0) continue;
      const steptune::Phase evaluation(reporter, "evaluation");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const steptune::Phase checkpoint(reporter, "check\"point");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    reporter.begin_phase("");
    reporter.end_phase("export");
    reporter.step(8);
  } else if (mode == "phase_threads") {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 50; ++i) {
          steptune::report(1);
          const steptune::Phase evaluation("evaluation");
        }
      });
    }
    for (auto& thread : threads)
      thread.join();
  } else if (mode == "forked") {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 3; ++i)
        steptune::report(1);
      return 0;
    }
    waitpid(child, nullptr, 0);
  } else if (mode == "fork") {
    steptune::Reporter reporter;
    reporter.step(1);
    reporter.step(1);
    const pid_t child = fork();
    if (child == 0) {
      reporter.step(1);
      const steptune::Phase evaluation(reporter, "evaluation");
      std::exit(0);
    }
    waitpid(child, nullptr, 0);
  }
}
