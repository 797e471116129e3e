// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/stream_accuracy/stream_cells.hpp"

#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace steptune {
namespace {

/// Settings that all programs of a family share, and a factor on their periods, queues and buckets.
struct FamilyScale {
  SimulatedProgram base;
  double length = 1.0;
};

FamilyScale scale_of(CellFamily family) {
  FamilyScale scale;
  if (family == CellFamily::second) {
    scale.base.step_s = 0.035;
    scale.base.startup_s = 9.0;
    scale.base.noise = 0.035;
    scale.base.correlation = 0.3;
    scale.length = 1.7;
  }
  return scale;
}

class Cells {
 public:
  explicit Cells(SimulatedProgram base) : base_(std::move(base)) {}

  void add(std::string name, const std::function<void(SimulatedProgram&)>& change,
           bool states_queue = false) {
    cells_.push_back({std::move(name), base_, states_queue});
    change(cells_.back().program);
  }
  std::vector<StreamCell> take() { return std::move(cells_); }

 private:
  SimulatedProgram base_;
  std::vector<StreamCell> cells_;
};

void add_noise(Cells& cells) {
  const auto noise = [&](std::string name, double deviation, double correlation) {
    cells.add(std::move(name), [=](SimulatedProgram& program) {
      program.noise = deviation;
      program.correlation = correlation;
    });
  };
  noise("noise 2 %, independent", 0.02, 0.0);
  noise("noise 12 %, independent", 0.12, 0.0);
  noise("noise 5 %, correlated 0.5", 0.05, 0.5);
  noise("noise 12 %, correlated 0.6", 0.12, 0.6);
  noise("noise 5 %, correlated 0.9", 0.05, 0.9);
  noise("noise 5 %, correlated 0.95", 0.05, 0.95);
  cells.add("heavy tail, 5 % of steps", [](SimulatedProgram& program) {
    program.tail_share = 0.05;
    program.tail_mean_s = program.step_s;
  });
  cells.add("heavy tail, 20 % of steps", [](SimulatedProgram& program) {
    program.tail_share = 0.2;
    program.tail_mean_s = 0.5 * program.step_s;
  });
  for (const double deviation : {0.01, 0.03}) {
    cells.add(deviation < 0.02 ? "launches differ by 1 %" : "launches differ by 3 %",
              [=](SimulatedProgram& program) { program.launch_deviation = deviation; });
  }
}

void add_warmup(Cells& cells) {
  const auto slow = [&](std::string name, double e_fold, double deviation) {
    cells.add(std::move(name), [=](SimulatedProgram& program) {
      program.warmup_slowdown = 1.0;
      program.warmup_steps = e_fold;
      program.noise = deviation;
    });
  };
  slow("warm-up fades over 1 step", 1.0, 0.02);
  slow("warm-up fades over 5 steps", 5.0, 0.02);
  slow("warm-up fades over 20 steps", 20.0, 0.02);
  slow("warm-up fades over 20 steps, noise 5 %", 20.0, 0.05);
  slow("warm-up fades over 60 steps", 60.0, 0.02);
  const auto compile = [&](std::string name, int step, double seconds) {
    cells.add(std::move(name), [=](SimulatedProgram& program) {
      program.compile_step = step;
      program.compile_s = seconds;
    });
  };
  compile("compiles 5 s in step 1", 1, 5.0);
  compile("compiles 5 s in step 2", 2, 5.0);
  compile("compiles 30 s in step 3", 3, 30.0);
  compile("compiles 90 s in step 2", 2, 90.0);
}

void add_buffers(Cells& cells, double length) {
  const auto queue = [&](std::string name, double batches, double ratio, bool size_is_reported) {
    cells.add(
        std::move(name),
        [=](SimulatedProgram& program) {
          program.queue_batches = batches;
          program.loader_ratio = ratio;
          program.compile_step = 1;
          program.compile_s = 3.0;
        },
        size_is_reported);
  };
  queue("queue of 2, loader 2 times slower", 2.0, 2.0, false);
  queue("queue of 16, loader 1.5 times slower", 16.0 * length, 1.5, false);
  queue("queue of 64, loader 1.1 times slower", 64.0 * length, 1.1, false);
  queue("queue of 64, loader 2 times slower", 64.0 * length, 2.0, false);
  queue("queue of 64, size known", 64.0 * length, 2.0, true);
  queue("queue of 512, loader 3 times slower", 512.0 * length, 3.0, false);
}

void add_phases(Cells& cells, double length) {
  const auto stall = [&](std::string name, double every, double seconds, double spread,
                         bool reported) {
    cells.add(std::move(name), [=](SimulatedProgram& program) {
      program.stalls.push_back(
          {"evaluation", std::round(every * length), seconds, spread, reported});
    });
  };
  stall("worker stall every 8 steps", 8.0, 0.1, 0.1, false);
  stall("worker stall every 32 steps", 32.0, 0.5, 0.1, false);
  stall("evaluation every 200 steps, reported", 200.0, 2.0, 0.05, true);
  stall("evaluation every 200 steps, unreported", 200.0, 2.0, 0.05, false);
  stall("evaluation every 500 steps, reported", 500.0, 5.0, 0.05, true);
  stall("evaluation every 500 steps, unreported", 500.0, 5.0, 0.05, false);
  const auto both = [&](std::string name, bool reported) {
    cells.add(std::move(name), [=](SimulatedProgram& program) {
      program.step_s *= 0.2;
      program.stalls.push_back({"evaluation", std::round(200.0 * length), 2.0, 0.02, reported});
      program.stalls.push_back({"checkpoint", std::round(100.0 * length), 1.0, 0.02, reported});
    });
  };
  both("evaluation and checkpoint, reported", true);
  both("evaluation and checkpoint, unreported", false);
  for (const bool reported : {false, true}) {
    cells.add(
        reported ? "epochs of 100 steps, reported" : "epochs of 100 steps, smaller last batch",
        [=](SimulatedProgram& program) {
          program.epoch_steps = std::round(100.0 * length);
          program.last_batch = 0.4;
          program.respawn_s = 1.5;
          program.epochs_reported = reported;
        });
  }
  const auto hiccups = [&](std::string name, bool in_pairs, bool reported) {
    cells.add(std::move(name), [=](SimulatedProgram& program) {
      program.hiccup_share = (in_pairs ? 0.5 : 1.0) / std::round(150.0 * length);
      program.hiccup_s = 1.0;
      program.hiccups_in_pairs = in_pairs;
      program.hiccups_reported = reported;
    });
  };
  hiccups("pauses of 1 s at random", false, false);
  hiccups("pauses of 1 s at random, in pairs", true, false);
  hiccups("pauses of 1 s at random, reported", false, true);
  cells.add("length buckets over 50 steps", [=](SimulatedProgram& program) {
    program.bucket_steps = std::round(50.0 * length);
    program.bucket_spread = 0.4;
  });
}

void add_levels(Cells& cells) {
  const auto throttle = [&](std::string name, double after_s, double ratio) {
    cells.add(std::move(name), [=](SimulatedProgram& program) {
      program.throttle_after_s = after_s;
      program.throttle_ratio = ratio;
      program.noise = 0.12;
    });
  };
  throttle("throttled by 15 % after 20 s, noise 12 %", 20.0, 1.15);
  throttle("throttled by 30 % after 20 s, noise 12 %", 20.0, 1.3);
  throttle("throttled by 15 % after 60 s, noise 12 %", 60.0, 1.15);
  throttle("throttled by 15 % after 90 s, noise 12 %", 90.0, 1.15);
  cells.add("throttled by 15 % after 10 s", [](SimulatedProgram& program) {
    program.throttle_after_s = 10.0;
    program.throttle_ratio = 1.15;
  });
  cells.add("drifts by 20 % a minute, noise 5 %", [](SimulatedProgram& program) {
    program.drift_per_minute = 0.2;
    program.noise = 0.05;
  });
  cells.add("drifts by 5 % a minute",
            [](SimulatedProgram& program) { program.drift_per_minute = 0.05; });
  for (const bool shows : {true, false}) {
    cells.add(shows ? "a minute disturbed by 30 %, by a process that shows"
                    : "a minute disturbed by 30 %, seen in step times alone",
              [=](SimulatedProgram& program) {
                program.disturbed_after_s = 15.0;
                program.disturbed_s = 60.0;
                program.disturbed_ratio = 1.3;
                program.disturber_shows = shows;
                program.noise = 0.12;
                program.correlation = 0.6;
              });
  }
}

/// Adds programs of few steps: examples, trials of an option, `--max-steps 50`.
void add_short_programs(Cells& cells) {
  const auto ends = [&](double steps, double e_fold, double flush_steps) {
    const std::string how =
        flush_steps > 0.0 ? fmt::format(", reported {:g} at a time", flush_steps) : "";
    cells.add(fmt::format("ends after {:g} steps, warm-up fades over {:g}{}", steps, e_fold, how),
              [=](SimulatedProgram& program) {
                program.noise = 0.05;
                program.warmup_slowdown = 1.0;
                program.warmup_steps = e_fold;
                program.ends_after_steps = steps;
                program.flush_steps = flush_steps;
              });
  };
  for (const double steps : {20.0, 40.0, 60.0}) {
    ends(steps, 1.0, 0.0);
    ends(steps, 5.0, 0.0);
    ends(steps, 20.0, 0.0);
  }
  ends(40.0, 1.0, 15.0);
  ends(40.0, 5.0, 15.0);
}

void add_reports(Cells& cells) {
  const auto spacing = [&](std::string name, double every, double per_s, double log_s) {
    cells.add(std::move(name), [=](SimulatedProgram& program) {
      program.noise = 0.05;
      program.correlation = 0.5;
      program.warmup_slowdown = 1.0;
      program.warmup_steps = 5.0;
      program.report_every_steps = every;
      program.reports_per_s = per_s;
      program.log_interval_s = log_s;
    });
  };
  spacing("reports every 4 steps", 4.0, 0.0, 0.0);
  spacing("reports every 50 steps", 50.0, 0.0, 0.0);
  spacing("reports four times a second", 1.0, 4.0, 0.0);
  spacing("log read every 5 s", 1.0, 0.0, 5.0);
  const auto clock = [&](std::string name, SimulatedClock kind) {
    cells.add(std::move(name), [=](SimulatedProgram& program) { program.clock = kind; });
  };
  clock("clock of whole seconds", SimulatedClock::coarse);
  clock("clock that jumps", SimulatedClock::jumps);
  clock("two ranks print", SimulatedClock::ranks);
}

}  // namespace

std::vector<StreamCell> stream_cells(CellFamily family) {
  const FamilyScale scale = scale_of(family);
  Cells cells(scale.base);
  add_noise(cells);
  add_warmup(cells);
  add_buffers(cells, scale.length);
  add_phases(cells, scale.length);
  add_levels(cells);
  add_reports(cells);
  add_short_programs(cells);
  return cells.take();
}

}  // namespace steptune
