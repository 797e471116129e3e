// SPDX-License-Identifier: Apache-2.0
//
// tuner_driver RUN_TAG WATCHDOG FOLDER COUNT PROGRAM [ARGUMENT...]: a tuner with nothing but a
// runner, made to be killed. Starts COUNT trials (`2i`: two interleaved ones), prints `token TEXT`
// for each and then `ready`, and waits forever. Prints `polled` whenever the runner has had time to
// poll its trials' processes.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/local/local_runner.hpp"

/// Longer than the runner's interval between polls, which is at most a second.
constexpr double k_poll_interval_s = 1.2;

int main(int argc, char** argv) {
  using namespace steptune;
  if (argc < 6) return 2;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const SystemClock clock;
  LocalRunnerOptions options;
  options.run_tag = arguments[0];
  options.watchdog_program = arguments[1];
  const int count = std::atoi(arguments[3].c_str());
  const bool interleaved = arguments[3].ends_with('i');
  options.parallel = interleaved ? 1 : count;
  options.pin = false;
  auto runner = make_local_runner(clock, options);
  if (!runner) {
    std::fprintf(stderr, "%s\n", runner.error().text().c_str());
    return 1;
  }
  if (!(*runner)->begin_study("driver", options.run_tag)) return 1;
  for (int i = 1; i <= count; ++i) {
    TrialSpec spec;
    spec.key = {i, 1};
    spec.interleaved_round = interleaved ? 1 : 0;
    spec.argv.assign(arguments.begin() + 4, arguments.end());
    spec.log_path = arguments[2] + "/trial-" + std::to_string(i) + ".log";
    if (!(*runner)->start(spec)) return 1;
  }
  int started = 0;
  double polled_s = clock.now_s();
  while (true) {
    const auto events = (*runner)->wait(polled_s + k_poll_interval_s);
    if (!events) return 1;
    if (clock.now_s() >= polled_s + k_poll_interval_s) {
      std::printf("polled\n");
      polled_s = clock.now_s();
    }
    for (const TrialEvent& event : *events) {
      if (const auto* begin = std::get_if<TrialStarted>(&event)) {
        std::printf("token %s\n", begin->token.c_str());
        if (++started == count) std::printf("ready\n");
      }
      if (const auto* end = std::get_if<TrialFinished>(&event)) {
        std::printf("ended %s\n", end->outcome.detail.c_str());
      }
    }
    std::fflush(stdout);
  }
}
