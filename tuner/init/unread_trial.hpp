// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/clock.hpp"
#include "tuner/init/program_look.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Watches the output of a study's first trial while no progress is recognized in it.
class UnreadTrial {
 public:
  using Say = std::function<void(const std::string&)>;

  /// `say` prints several lines for people. `clock` must outlive the object.
  UnreadTrial(const StudySpec& study, const Clock& clock, Say say);

  /// Examines the output of a trial that has shown no progress `run_s` seconds after its start.
  /// Call it a few times a second. Calls `say` once: after a minute, or when a line that no known
  /// format reads has repeated often. The text says what the program prints and how to read it.
  /// Returns the reason if no progress will ever be read from the output. Returns nullopt if that
  /// is uncertain, for example because the study's own counter expressions may match later.
  [[nodiscard]] std::optional<std::string> why_unread(const std::filesystem::path& log,
                                                      double run_s);

 private:
  const Clock& clock_;
  Say say_;
  bool is_hooked_;     ///< true if a hook counts the steps; the hook reports problems
  bool has_counters_;  ///< true if the study has its own expressions for a counter
  bool has_said_ = false;
  double next_poll_s_ = 0.0;
  std::filesystem::path log_;
  std::unique_ptr<OutputWatch> watch_;
};

}  // namespace steptune
