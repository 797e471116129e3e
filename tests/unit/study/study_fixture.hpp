// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::testing {

inline const Facts k_facts = {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 31.2}};

/// A study file that uses most of the format.
inline const char* const k_study_text = R"({
  // Comments are allowed.
  "$schema": "../configs/study.schema.json",
  "name": "resnet-nightly",
  "command": ["python3", "train.py", "--batch-size", "{batch_size}", "--workers", "{workers}",
              {"when": "workers > 0", "args": ["--prefetch", "{prefetch}"]},
              "--precision", "{precision}"],
  "env": {"OMP_NUM_THREADS": "{threads}"},
  "parameters": {
    "batch_size": {"type": "int", "low": 16, "high": 512, "scale": "log2", "memory": "increases"},
    "workers":    {"type": "int", "low": 0, "high": "cpus"},
    "prefetch":   {"type": "int", "low": 1, "high": 8, "when": "workers > 0"},
    "precision":  {"type": "categorical", "choices": ["fp32", "bf16"]},
    "threads":    {"type": "int", "low": 1, "high": "cpus"}
  },
  "constraints": ["workers + threads <= 2 * cpus"],
  "baseline": {"batch_size": 64, "workers": 0, "precision": "fp32", "threads": 1},
  "planned_run": {"samples": 1.3e9, "batch_size": "batch_size"},
  "objectives": ["time", "cost"],
  "guards": [{"metric": "loss", "after_samples": 20000, "max_ratio_to_baseline": 1.02}],
  "search": {"searcher": "bayes", "scheduler": "asha"},
  "budget": {"trials": 40, "time": "30m", "cost": 5.0, "stop": "payback"},
  "runner": {"type": "local", "price_per_hour": 1.212}
})";

inline Json study_document() {
  return *parse_json(k_study_text, "study.json");
}

inline Result<StudySpec> read(const Json& document) {
  return study_from_json(document, "/studies/study.json", k_facts);
}

/// Returns the study of `document`, which must be sound.
inline StudySpec sound(const Json& document) {
  auto study = read(document);
  if (!study) throw std::runtime_error(study.error().text());
  return *std::move(study);
}

}  // namespace steptune::testing
