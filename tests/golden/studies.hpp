// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune::golden {

/// A study whose trials are replayed from a formula: hours in milliseconds, no processes. Its
/// command has parts that are hard to quote: a condition, a quote, a variable with a blank.
[[nodiscard]] inline std::string replay_study() {
  return R"json({
  "name": "demo",
  "command": ["python3", "train.py", "--batch-size={batch_size}", "--workers", "{workers}",
              {"when": "precision == 'bf16'", "args": ["--label", "it's bf16"]}],
  "env": {"TRAIN_NOTE": "a b"},
  "working_directory": "/tmp",
  "parameters": {
    "batch_size": {"type": "int", "low": 16, "high": 256, "scale": "log2"},
    "workers": {"type": "int", "low": 0, "high": 4},
    "precision": {"type": "categorical", "choices": ["fp32", "bf16"]}
  },
  "baseline": {"batch_size": 32, "workers": 0, "precision": "fp32"},
  "planned_run": {"samples": 1e8, "batch_size": "batch_size"},
  "objectives": ["time", "cost"],
  "search": {"searcher": "sobol", "scheduler": "asha", "seed": 7},
  "budget": {"trials": 12},
  "runner": {"type": "replay", "price_per_hour": 2.0,
    "seconds_per_sample":
      "(0.0004 + 0.01 / batch_size) * (precision == 'bf16' ? 0.6 : 1) * (1 + 0.5 / (1 + workers))"
}
})json";
}

/// A study of real processes that run `trial.sh` until they are stopped.
[[nodiscard]] inline std::string endless_study() {
  return R"json({
  "name": "endless",
  "command": ["/bin/sh", "trial.sh", "{batch}"],
  "parameters": {"batch": {"type": "int", "low": 1, "high": 64}},
  "baseline": {"batch": 8},
  "search": {"searcher": "random", "scheduler": "none"},
  "budget": {"trials": 3},
  "measure": {"max_trial": "60s", "min_window": "50s", "confirm_pairs": 0},
  "limits": {"grace": "30s"},
  "runner": {"type": "local", "pin": false}
})json";
}

/// A trial that writes a file `started` and then reports without end. On SIGTERM it runs `on_term`.
[[nodiscard]] inline std::string endless_trial(const std::string& on_term = "exit 0") {
  return "trap '" + on_term + "' TERM\n" + R"(touch started
i=0
while :; do
  i=$((i + 1))
  echo "[steptune] {\"v\":1,\"step\":$i,\"samples\":$((i * $1))}"
  sleep 0.02
done
)";
}

/// A study of real processes that ends in seconds. `quick.sh` reports steps of 0.3 s (`slow`) or
/// 0.1 s (`fast`) by a made-up clock, which does not stop while the program is stopped.
[[nodiscard]] inline std::string quick_study() {
  return R"json({
  "name": "quick",
  "command": ["/bin/sh", "quick.sh", "{speed}", "it's"],
  "parameters": {"speed": {"type": "categorical", "choices": ["slow", "fast"]}},
  "baseline": {"speed": "slow"},
  "search": {"searcher": "random", "scheduler": "none"},
  "budget": {"trials": 2},
  "measure": {"max_trial": "60s", "min_window": "1s", "target_half_width": 0.05, "confirm_pairs": 1,
              "interleave": false},
  "runner": {"type": "local", "pin": false, "price_per_hour": 3.6}
})json";
}

[[nodiscard]] inline std::string quick_trial() {
  return R"(echo "$1 $2 $OMP_NUM_THREADS" > arguments.txt
printf 'colour \033[31m and \377\n'
step=10
[ "$1" = slow ] && step=30
i=0
while [ $i -lt 150 ]; do
  i=$((i + 1))
  clock=$(printf '%d.%02d' $((i * step / 100)) $((i * step % 100)))
  echo "[steptune] {\"v\":1,\"step\":$i,\"samples\":$((i * 10)),\"clock\":$clock}"
  sleep 0.02
done
)";
}

/// A study whose trials all fail.
[[nodiscard]] inline std::string failing_study() {
  return R"json({
  "name": "failing",
  "command": ["/bin/false", "{batch}"],
  "parameters": {"batch": {"type": "int", "low": 1, "high": 64}},
  "baseline": {"batch": 8},
  "search": {"searcher": "random", "scheduler": "none"},
  "budget": {"trials": 5},
  "runner": {"type": "local", "pin": false}
})json";
}

/// A cluster with a known law: 6 % serial, 0.4 % more for each further node.
[[nodiscard]] inline std::string cluster_study() {
  return R"json({
  "name": "cluster",
  "command": ["python3", "train.py", "--batch-size={batch}"],
  "parameters": {
    "nodes": {"type": "ordinal", "choices": [1, 2, 4, 8, 16]},
    "batch": {"type": "int", "low": 32, "high": 128, "scale": "log2"}
  },
  "baseline": {"nodes": 1, "batch": 32},
  "planned_run": {"samples": 1e8, "deadline": "6h"},
  "objectives": ["time", "cost"],
  "search": {"searcher": "grid", "scheduler": "none", "seed": 7},
  "budget": {"trials": 15},
  "runner": {"type": "replay", "instance_type": "ml.p3.2xlarge", "instance_count": "nodes",
    "seconds_per_sample":
      "0.0006 * (0.06 + 0.94 / nodes + 0.004 * (nodes - 1)) * (1 + 8 / batch)"}
})json";
}

}  // namespace steptune::golden
