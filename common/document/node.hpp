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

/// A range of numbers, ends included.
struct Range {
  double low = 0.0;
  double high = 0.0;
};

/// A value of the document and its place. Readers return nothing after adding a fault, so that
/// reading goes on and finds the next one. Cheap to copy; document and reading outlive it.
class Node {
 public:
  Node(const Json& json, std::string pointer, Reading& reading)
      : json_(&json), pointer_(std::move(pointer)), reading_(&reading) {}

  [[nodiscard]] const Json& json() const { return *json_; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }
  [[nodiscard]] Reading& reading() const { return *reading_; }
  [[nodiscard]] Faults& faults() const { return reading_->faults; }
  void fault(const std::string& message) const { faults().add(pointer_, message); }
  /// The fault that `error` tells, with its hint.
  void fault(const Error& error) const;
  /// The value `key` of this object, which has it.
  [[nodiscard]] Node child(const std::string& key) const;

  /// A string without NUL of at most `max_bytes`.
  [[nodiscard]] std::optional<std::string> string(std::size_t max_bytes = 4096) const;
  [[nodiscard]] std::optional<double> number(Range range) const;
  /// Also accepts `1e3`: people write counts like that.
  [[nodiscard]] std::optional<std::int64_t> integer(Range range) const;
  [[nodiscard]] std::optional<bool> boolean() const;
  /// Seconds, or a string such as `30m`.
  [[nodiscard]] std::optional<double> duration_s(Range range_s) const;
  /// Bytes, or a string such as `12GiB`.
  [[nodiscard]] std::optional<double> bytes(Range range) const;
  /// Index of the string among `names`.
  [[nodiscard]] std::optional<std::size_t> one_of(std::span<const std::string> names) const;
  [[nodiscard]] std::vector<Node> elements(std::size_t max_count) const;
  /// Members of an object in order, if it is one; `what` names it in the fault.
  struct Member;
  [[nodiscard]] std::vector<Member> members(std::string_view what, std::size_t max_count) const;

  /// "expected ..., not a string"; every type fault reads like this.
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

/// An object whose keys are known. Unknown keys become faults, with the nearest known one, as soon
/// as it is made; so does a value that is no object, which then reads like an empty one.
class ObjectNode {
 public:
  ObjectNode(const Node& node, std::string_view what, std::span<const std::string_view> keys);

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] bool has(std::string_view key) const;
  /// Nothing where the key is absent.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const;
  /// Adds a fault where the key is absent.
  [[nodiscard]] std::optional<Node> require(std::string_view key) const;

 private:
  Node node_;
  bool is_object_;
};

/// `candidates` as `did_you_mean` wants them.
[[nodiscard]] std::vector<std::string> to_strings(std::span<const std::string_view> names);
/// `"a", "b", "c"`.
[[nodiscard]] std::string quoted_list(std::span<const std::string> names);

}  // namespace steptune::document
