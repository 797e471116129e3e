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

/// Watches the output of a study's first trial while nothing in it is read as progress.
class UnreadTrial {
 public:
  using Say = std::function<void(const std::string&)>;

  /// `say` prints several lines for people. `clock` outlives the object.
  UnreadTrial(const StudySpec& study, const Clock& clock, Say say);

  /// Looks at the output of a trial that has told no progress `run_s` after its start; call it a
  /// few times a second. Says once what the program prints and what would read it: if a line
  /// repeats that no known format reads, or after a minute. Returns why nothing will be read from
  /// the output. Returns nothing if that is not certain: the study's own expressions of counters
  /// may match later.
  [[nodiscard]] std::optional<std::string> why_unread(const std::filesystem::path& log,
                                                      double run_s);

 private:
  const Clock& clock_;
  Say say_;
  bool is_hooked_;     ///< a hook counts the steps, and says itself what it does not see
  bool has_counters_;  ///< expressions of its own for a counter
  bool has_said_ = false;
  double next_look_s_ = 0.0;
  std::filesystem::path log_;
  std::unique_ptr<OutputWatch> watch_;
};

}  // namespace steptune
