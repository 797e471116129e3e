// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/document/reading.hpp"
#include "common/json.hpp"

namespace steptune::document {

/// A range of numbers, both ends included.
struct Range {
  double low = 0.0;
  double high = 0.0;
};

/// A value of the document and its place. If the value is wrong, the readers add a fault and return
/// nullopt. Reading then continues and finds further faults. Cheap to copy. The document and the
/// `Reading` must outlive the node.
class Node {
 public:
  Node(const Json& json, std::string pointer, Reading& reading)
      : json_(&json), pointer_(std::move(pointer)), reading_(&reading) {}

  [[nodiscard]] const Json& json() const { return *json_; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }
  [[nodiscard]] Reading& reading() const { return *reading_; }
  [[nodiscard]] Faults& faults() const { return reading_->faults; }
  void fault(const std::string& message) const { faults().add(pointer_, message); }
  /// Adds `error` with its hint as a fault.
  void fault(const Error& error) const;
  /// Returns the value at `key` of this object, which must have that key.
  [[nodiscard]] Node child(const std::string& key) const;

  /// Returns a string of at most `max_bytes` without NUL.
  [[nodiscard]] std::optional<std::string> string(std::size_t max_bytes = 4096) const;
  [[nodiscard]] std::optional<double> number(Range range) const;
  /// Also accepts `1e3`, because people write large counts this way.
  [[nodiscard]] std::optional<std::int64_t> integer(Range range) const;
  [[nodiscard]] std::optional<bool> boolean() const;
  /// Reads seconds, or a string such as `30m`.
  [[nodiscard]] std::optional<double> duration_s(Range range_s) const;
  /// Reads bytes, or a string such as `12GiB`.
  [[nodiscard]] std::optional<double> bytes(Range range) const;
  /// Returns the index of the string in `names`.
  [[nodiscard]] std::optional<std::size_t> one_of(std::span<const std::string> names) const;
  [[nodiscard]] std::vector<Node> elements(std::size_t max_count) const;
  struct Member;
  /// Returns the members of an object in order. If the value is no object, adds a fault; `what`
  /// names the expected value in the fault's message.
  [[nodiscard]] std::vector<Member> members(std::string_view what, std::size_t max_count) const;

  /// Adds the fault "expected ..., not a string". Every fault about a type has this form.
  void wrong_type(std::string_view expected) const;

 private:
  [[nodiscard]] std::optional<double> in_range(double number, Range range) const;

  const Json* json_;
  std::string pointer_;
  Reading* reading_;
};

struct Node::Member {
  std::string key;
  Node node;
};

/// An object that may have only the given keys. The constructor adds a fault for each unknown key
/// and suggests the most similar known one. A value that is no object also gets a fault, and then
/// reads like an empty object.
class ObjectNode {
 public:
  ObjectNode(const Node& node, std::string_view what, std::span<const std::string_view> keys);

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] bool has(std::string_view key) const;
  /// Returns nullopt if the key is absent.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const;
  /// Adds a fault if the key is absent.
  [[nodiscard]] std::optional<Node> require(std::string_view key) const;

 private:
  Node node_;
  bool is_object_;
};

/// Returns `names` as strings, for `did_you_mean`.
[[nodiscard]] std::vector<std::string> to_strings(std::span<const std::string_view> names);
/// Formats names for messages: `"a", "b", "c"`.
[[nodiscard]] std::string quoted_list(std::span<const std::string> names);

}  // namespace steptune::document
