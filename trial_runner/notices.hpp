// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace steptune {

/// A sentence for the user about machines, or about one trial.
struct Notice {
  std::string text;
  std::optional<std::int64_t> trial{};  ///< if the notice is about one trial
};

/// Keeps notices until they are taken. Not thread safe.
class Notices {
 public:
  void add(std::string text, std::optional<std::int64_t> trial = std::nullopt) {
    notices_.push_back({std::move(text), trial});
  }
  /// Adds the notice only if the topic has none yet. `end_topic` makes the topic free again.
  void add_once(const std::string& topic, std::string text,
                std::optional<std::int64_t> trial = std::nullopt) {
    if (topics_.insert(topic).second) add(std::move(text), trial);
  }
  void end_topic(const std::string& topic) { topics_.erase(topic); }
  /// Returns the notices since the last call, in order.
  [[nodiscard]] std::vector<Notice> take() { return std::exchange(notices_, {}); }

 private:
  std::vector<Notice> notices_;
  std::set<std::string> topics_;
};

}  // namespace steptune
