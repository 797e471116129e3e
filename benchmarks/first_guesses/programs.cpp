// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/first_guesses/programs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace steptune {
namespace {

constexpr double k_cpus = 2.0;

/// Current settings of a program: JSON text by knob.
using Today = std::map<std::string, std::string>;

/// Returns PyTorch's default settings on two CPUs.
Today usual_today() {
  return {{"num_workers", "0"},
          {"prefetch_factor", "null"},
          {"persistent_workers", "false"},
          {"num_threads", "2"},
          {"num_interop_threads", "2"},
          {"optimizer_implementation", R"("loop")"},
          {"set_to_none", "false"},
          {"openblas_threads", "2"},
          {"omp_wait_policy", R"("default")"},
          {"malloc", R"("default")"}};
}

using Shares = std::map<std::string, double>;

Survey survey_of(const Today& today, const Shares& shares, double step_s) {
  Survey survey;
  survey.log.add(R"({"event":"patched","pid":1,"torch":"1.13.1","device":"cpu"})");
  for (const auto& [knob, value] : today) {
    const char* choices = knob == "malloc"                     ? R"(,"choices":["default","keep"])"
                          : knob == "optimizer_implementation" ? R"(,"choices":["loop","foreach"])"
                                                               : "";
    survey.log.add(
        fmt::format(R"({{"event":"knob","knob":"{}","may":true,"today":{},"value":{}{}}})", knob,
                    value, value, choices));
  }
  Report first;
  first.step = 1.0;
  first.samples = 32.0;
  first.clock_s = 3.0;
  survey.first = first;
  Report last = first;
  last.step = 101.0;
  last.samples = 3232.0;
  last.clock_s = 3.0 + 100.0 * step_s;
  for (const auto& [part, share] : shares)
    last.parts[part] = 100.0 * step_s * share;
  last.metrics = {{"loss", 2.3}};
  survey.last = last;
  return survey;
}

double number(const Configuration& settings, const char* name, double today) {
  const Value* value = settings.find(name);
  return value == nullptr ? today : to_number(*value);
}

bool is_set(const Configuration& settings, const char* name, const char* choice) {
  const Value* value = settings.find(name);
  return value != nullptr && to_text(*value) == choice;
}

/// Returns the seconds to load a batch if loading waits for storage. Workers wait in parallel, and
/// each costs some CPU time.
double waiting(const Configuration& settings, double wait_s, double today) {
  const double workers = number(settings, "num_workers", today);
  return wait_s / std::max(1.0, workers) + 2e-5 * workers;
}

/// Returns the seconds to load a batch if loading computes. Each worker uses one CPU; workers
/// beyond the CPUs slow each other down.
double decoding(const Configuration& settings, double cpu_s) {
  const double workers = number(settings, "num_workers", 0.0);
  if (workers < 1.0) return cpu_s;
  const double crowd = 1.0 + 0.03 * std::max(0.0, workers - k_cpus);
  return cpu_s / std::min(workers, k_cpus) * crowd;
}

/// Returns the seconds to compute a step. The threads share the fraction `parallel` of the work.
/// Each thread beyond the first adds the fraction `overhead` to the time.
double computing(const Configuration& settings, double cpu_s, double parallel, double overhead,
                 double today) {
  double threads = number(settings, "num_threads", today);
  threads = std::max(threads, std::min(k_cpus, number(settings, "openblas_threads", threads)));
  const double used = std::min(threads, k_cpus);
  const double crowd = 1.0 + overhead * (threads - 1.0);
  return cpu_s * (1.0 - parallel + parallel / used) * crowd;
}

/// Returns the factor on the step time: an allocator that keeps freed memory saves the fraction
/// `saving`.
double allocating(const Configuration& settings, double saving) {
  return is_set(settings, "malloc", "keep") ? 1.0 - saving : 1.0;
}

double optimizing(const Configuration& settings, double cpu_s, double saving) {
  return cpu_s * (is_set(settings, "optimizer_implementation", "foreach") ? 1.0 - saving : 1.0);
}

}  // namespace

const Facts& made_up_facts() {
  static const Facts k_facts = {{"cpus", k_cpus}, {"gpus", 0}, {"memory_gb", 16}};
  return k_facts;
}

std::vector<MadeUpProgram> made_up_programs() {
  std::vector<MadeUpProgram> programs;
  const auto add = [&](std::string name, const Today& today, const Shares& shares,
                       std::function<double(const Configuration&)> step_s, double best_s) {
    const double now_s = step_s(Configuration{});
    programs.push_back(
        {std::move(name), survey_of(today, shares, now_s), std::move(step_s), best_s});
  };
  Today today = usual_today();
  add(
      "loader waits", today, {{"data", 0.97}, {"forward", 0.02}, {"backward", 0.01}},
      [](const Configuration& settings) {
        return std::max(0.012, waiting(settings, 0.6, 0.0)) + 0.002;
      },
      0.0150);
  today["num_workers"] = "2";
  today["prefetch_factor"] = "2";
  add(
      "loader waits, 2 workers", today, {{"data", 0.9}, {"forward", 0.06}, {"backward", 0.04}},
      [](const Configuration& settings) { return waiting(settings, 0.2, 2.0) + 0.01; }, 0.0140);
  today = usual_today();
  today["num_threads"] = "8";
  add(
      "8 threads on 2 CPUs", today, {{"data", 0.01}, {"forward", 0.4}, {"backward", 0.59}},
      [](const Configuration& settings) { return computing(settings, 0.05, 0.2, 0.2, 8.0); }, 0.05);
  today = usual_today();
  add(
      "small kernels", today, {{"data", 0.03}, {"forward", 0.4}, {"backward", 0.57}},
      [](const Configuration& settings) { return computing(settings, 0.03, 0.1, 0.5, 2.0); }, 0.03);
  today["num_threads"] = "1";
  add(
      "one thread of two", today, {{"data", 0.03}, {"forward", 0.4}, {"backward", 0.57}},
      [](const Configuration& settings) { return computing(settings, 0.1, 0.95, 0.0, 1.0); },
      0.0525);
  today = usual_today();
  add(
      "decoding", today, {{"data", 0.8}, {"forward", 0.1}, {"backward", 0.1}},
      [](const Configuration& settings) {
        return std::max(decoding(settings, 0.08), 0.02) +
               (number(settings, "num_workers", 0.0) < 1.0 ? 0.02 : 0.0);
      },
      0.04);
  add(
      "optimizer", today,
      {{"data", 0.02}, {"forward", 0.2}, {"backward", 0.3}, {"optimizer", 0.48}},
      [](const Configuration& settings) { return 0.05 + optimizing(settings, 0.05, 0.8); }, 0.06);
  add(
      "allocations", today, {{"data", 0.02}, {"forward", 0.4}, {"backward", 0.58}},
      [](const Configuration& settings) { return 0.1 * allocating(settings, 0.25); }, 0.075);
  add(
      "three small gains", today,
      {{"data", 0.3}, {"forward", 0.25}, {"backward", 0.25}, {"optimizer", 0.2}},
      [](const Configuration& settings) {
        return decoding(settings, 0.03) + 0.05 * allocating(settings, 0.2) +
               optimizing(settings, 0.02, 0.7);
      },
      0.061);
  add(
      "nothing to gain", today, {{"data", 0.01}, {"forward", 0.4}, {"backward", 0.59}},
      [](const Configuration&) { return 0.1; }, 0.1);
  return programs;
}

}  // namespace steptune
