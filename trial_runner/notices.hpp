// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace steptune {

/// What the user should know of no single trial, a sentence each, until it is taken. Not thread
/// safe.
class Notices {
 public:
  void add(std::string message) { messages_.push_back(std::move(message)); }
  /// Only the first of a topic, until that is ended.
  void add_once(const std::string& topic, std::string message) {
    if (topics_.insert(topic).second) add(std::move(message));
  }
  /// What the topic was about is over: it may be told of again.
  void end_topic(const std::string& topic) { topics_.erase(topic); }
  /// All since the last call, in order.
  [[nodiscard]] std::vector<std::string> take() { return std::exchange(messages_, {}); }

 private:
  std::vector<std::string> messages_;
  std::set<std::string> topics_;
};

}  // namespace steptune
