// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace steptune {

/// What the user should know, until it is taken.
class Notices {
 public:
  void add(std::string message) { messages_.push_back(std::move(message)); }
  /// Only the first of each topic.
  void add_once(const std::string& topic, std::string message) {
    if (topics_.insert(topic).second) add(std::move(message));
  }
  void end_topic(const std::string& topic) { topics_.erase(topic); }
  [[nodiscard]] std::vector<std::string> take() { return std::exchange(messages_, {}); }

 private:
  std::vector<std::string> messages_;
  std::set<std::string> topics_;
};

}  // namespace steptune
