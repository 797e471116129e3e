// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace steptune {

/// A line of a trainer's output, and the time at which the trainer prints it.
struct TimedLine {
  double time_s = 0.0;
  std::string line;
};

/// Output of a trainer with a known speed.
struct TrainerOutput {
  std::string name;
  std::string format;      ///< preset that reads the output
  double train_s = 0.0;    ///< seconds per step, without evaluations and checkpoints
  double average_s = 0.0;  ///< seconds per step, with evaluations and checkpoints
  std::vector<TimedLine> lines;
};

/// Records lines with the times of a virtual clock.
class VirtualTrainer {
 public:
  double now_s = 0.0;
  std::vector<TimedLine> lines;

  void wait(double seconds) { now_s += seconds; }
  void line(std::string text) { lines.push_back({now_s, std::move(text)}); }
  void bar(int done, int total, double begin_s, const std::string& description = "",
           const std::string& postfix = "") {
    const double seconds = std::max(now_s - begin_s, 1e-9);
    const std::string head = description.empty() ? "" : description + ": ";
    const std::string tail =
        done == 0 ? "[00:00<?, ?it/s]"
                  : fmt::format("[{:02.0f}:{:02.0f}<00:10, {:5.2f}it/s{}]",
                                std::floor(seconds / 60.0), std::floor(std::fmod(seconds, 60.0)),
                                done / seconds, postfix.empty() ? "" : ", " + postfix);
    line(fmt::format("\r{}{:3}%|{:10}| {}/{} {}", head, 100 * done / total,
                     std::string(static_cast<std::size_t>(10 * done / total), '#'), done, total,
                     tail));
  }
};

/// Returns small outputs of the kinds that earlier versions read wrongly.
inline std::vector<TrainerOutput> trainer_outputs() {
  const auto output = [](std::string name, std::string format, double train_s, double average_s,
                         const std::function<void(VirtualTrainer&)>& print) {
    VirtualTrainer trainer;
    print(trainer);
    return TrainerOutput{std::move(name), std::move(format), train_s, average_s,
                         std::move(trainer.lines)};
  };
  std::vector<TrainerOutput> outputs;
  outputs.push_back(output("SaveThenValidate", "key=value", 0.05, 0.1, [](VirtualTrainer& o) {
    for (int n = 1; n <= 401; ++n) {
      o.wait(0.05);
      o.line(fmt::format("step={} loss=0.5", n));
      if (n % 40 != 0) continue;
      o.line(fmt::format("Saving checkpoint to out/{}.pt", n));
      o.wait(2.0);
      o.line("val_loss=0.4");
    }
  }));
  outputs.push_back(
      output("ValidationTimeInMilliseconds", "key=value", 0.05, 0.0625, [](VirtualTrainer& o) {
        for (int n = 1; n <= 401; ++n) {
          o.wait(0.05);
          o.line(fmt::format("iter {}: loss 0.5", n));
          if (n % 40 != 0) continue;
          o.wait(0.5);
          o.line(fmt::format("iter {}: val loss 0.4, val time: 500.00 ms", n));
        }
      }));
  outputs.push_back(output("OneBarOverAllEpochs", "tqdm", 0.05, 0.05, [](VirtualTrainer& o) {
    for (int n = 1; n <= 1000; ++n) {
      o.wait(0.05);
      o.bar(n, 4000, 0.0, fmt::format("Epoch {}/40", (n - 1) / 100 + 1), "loss=0.5");
    }
  }));
  outputs.push_back(output("EvaluationsBarFirst", "key=value", 0.02, 0.03, [](VirtualTrainer& o) {
    for (int n = 0; n < 4000;) {
      const double begin_s = o.now_s;
      for (int k = 1; k <= 20; ++k) {
        o.wait(0.05);
        o.bar(k, 20, begin_s, "Calculating loss...");
      }
      o.line(fmt::format("Iter {}: Val loss 2.936, Val took 1.001s", std::max(n, 1)));
      for (int i = 0; i < 10; ++i) {
        n += 10;
        o.wait(0.2);
        o.line(fmt::format("Iter {}: Train loss 2.662, It/sec 50.0", n));
      }
    }
  }));
  outputs.push_back(output("ATimeNamedStep", "key=value", 0.1, 0.1, [](VirtualTrainer& o) {
    for (int n = 1; n <= 200; ++n) {
      o.wait(0.1);
      o.line(fmt::format("time (ms) | forward: 652.41 | backward: 2164.52 | step: {:.2f}",
                         1170.0 + n % 9));
      o.line(fmt::format("iteration {}/10000 | loss: 0.5 |", n));
    }
  }));
  outputs.push_back(output("Thousands", "key=value", 0.01, 0.01, [](VirtualTrainer& o) {
    for (int n = 840; n <= 3000; n += 20) {
      o.wait(0.2);
      const std::string count =
          n < 1000 ? std::to_string(n) : fmt::format("{},{:03}", n / 1000, n % 1000);
      o.line(fmt::format("[epoch: 0, iter: {}, lr: 1e-4] loss: 0.5", count));
    }
  }));
  outputs.push_back(output("TrainersBarAndLog", "hf-trainer", 0.05, 0.05, [](VirtualTrainer& o) {
    o.bar(0, 4000, 0.0);
    for (int n = 1; n <= 400; ++n) {
      o.wait(0.05);
      o.bar(n, 4000, 0.0);
      if (n % 10 != 0) continue;
      o.line(fmt::format("{{'loss': '1.{:03}', 'learning_rate': '1e-05', 'epoch': '{:.2f}'}}",
                         999 - n, n / 400.0));
    }
  }));
  outputs.push_back(output("SamplesOfAWindow", "key=value", 0.02, 0.02, [](VirtualTrainer& o) {
    for (int n = 10; n <= 1000; n += 10) {
      o.wait(0.2);
      o.line(fmt::format("epoch: [{}/100], iter: {}, loss: 0.5, samples: 5120, ips: 198.4", n / 400,
                         n));
    }
  }));
  outputs.push_back(output("BarsOfEachEpisode", "tqdm", 0.3, 0.3, [](VirtualTrainer& o) {
    for (int n = 1; n <= 100; ++n) {
      const double begin_s = o.now_s;
      for (const int k : {0, 8, 16}) {
        o.bar(k, 16, begin_s, "Processed prompts");
        o.wait(0.09);
      }
      o.wait(0.03);
      o.bar(n, 400, 0.0, "Episode [1/1]", "loss=0.5");
    }
  }));
  return outputs;
}

}  // namespace steptune
