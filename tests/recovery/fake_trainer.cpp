// SPDX-License-Identifier: Apache-2.0
// A training program that computes nothing: sleeps for each step and reports it. Its speed depends
// on two options, so that a tuner can find something.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

double now_s() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void sleep_s(double seconds) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
  nanosleep(&time, nullptr);
}

long option(int argc, char** argv, const char* name, long otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return std::strtol(argv[i + 1], nullptr, 10);
  }
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const long batch = option(argc, argv, "--batch", 8);
  const long workers = option(argc, argv, "--workers", 0);
  const long steps = option(argc, argv, "--steps", 60);
  const double step_time_s = 0.002 + 0.002 / static_cast<double>(1 + workers);
  for (long step = 1; step <= steps; ++step) {
    sleep_s(step_time_s);
    std::printf("[steptune] {\"v\":1,\"step\":%ld,\"samples\":%ld,\"clock\":%.6f,\"loss\":%.4f}\n",
                step, step * batch, now_s(), 1.0 / static_cast<double>(step));
    std::fflush(stdout);
  }
  return 0;
}
