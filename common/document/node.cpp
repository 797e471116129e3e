// SPDX-License-Identifier: Apache-2.0
#include "common/document/node.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune::document {
namespace {

std::string_view type_in_words(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "true or false";
    default:
      return "a number";
  }
}

}  // namespace

void Node::wrong_type(std::string_view expected) const {
  fault(fmt::format("expected {}, not {}", expected, type_in_words(*json_)));
}

void Node::fault(const Error& error) const {
  fault(with_hint(error));
}

Node Node::child(const std::string& key) const {
  return {json_->at(key), pointer_ + "/" + pointer_token(key), *reading_};
}

std::optional<std::string> Node::string(std::size_t max_bytes) const {
  if (!json_->is_string()) {
    wrong_type("a string");
    return std::nullopt;
  }
  auto value = json_->get<std::string>();
  if (value.find('\0') != std::string::npos) {
    fault("contains a NUL character, which neither an argument nor an environment can hold");
    return std::nullopt;
  }
  if (value.size() > max_bytes) {
    fault(fmt::format("is {} bytes long; the limit is {}", value.size(), max_bytes));
    return std::nullopt;
  }
  return value;
}

std::optional<double> Node::in_range(double number, Range range) const {
  if (number >= range.low && number <= range.high) return number;
  fault(number < range.low ? fmt::format("must be at least {} (is {})", range.low, number)
                           : fmt::format("must be at most {} (is {})", range.high, number));
  return std::nullopt;
}

std::optional<double> Node::number(Range range) const {
  if (!json_->is_number()) {
    wrong_type("a number");
    return std::nullopt;
  }
  const double value = json_->get<double>();
  if (!std::isfinite(value)) {
    fault("must be a finite number");
    return std::nullopt;
  }
  return in_range(value, range);
}

std::optional<std::int64_t> Node::integer(Range range) const {
  if (!json_->is_number()) {
    wrong_type("a whole number");
    return std::nullopt;
  }
  const double value = json_->get<double>();
  if (!std::isfinite(value) || value != std::floor(value)) {
    fault(fmt::format("must be a whole number (is {})", value));
    return std::nullopt;
  }
  if (!in_range(value, range)) return std::nullopt;
  return json_->is_number_integer() ? json_->get<std::int64_t>() : static_cast<std::int64_t>(value);
}

std::optional<bool> Node::boolean() const {
  if (!json_->is_boolean()) {
    wrong_type("true or false");
    return std::nullopt;
  }
  return json_->get<bool>();
}

std::optional<double> Node::duration_s(Range range_s) const {
  if (json_->is_number()) return number(range_s);
  if (!json_->is_string()) {
    wrong_type("seconds, or a duration such as \"30m\"");
    return std::nullopt;
  }
  const auto seconds = parse_duration_s(json_->get_ref<const std::string&>());
  if (!seconds) {
    fault(fmt::format("{}; {}", seconds.error().message, seconds.error().hint));
    return std::nullopt;
  }
  if (*seconds >= range_s.low && *seconds <= range_s.high) return *seconds;
  fault(fmt::format("must be between {} and {} (is {})", format_duration(range_s.low),
                    format_duration(range_s.high), format_duration(*seconds)));
  return std::nullopt;
}

std::optional<double> Node::bytes(Range range) const {
  if (json_->is_number()) return number(range);
  if (!json_->is_string()) {
    wrong_type("bytes, or a size such as \"12GiB\"");
    return std::nullopt;
  }
  const auto& written = json_->get_ref<const std::string&>();
  const auto size = parse_bytes(written);
  if (!size) {
    fault(fmt::format("\"{}\" is not a size; write bytes as a number, or 512MiB, 12GiB, 16GB",
                      printable_line(written, 60)));
    return std::nullopt;
  }
  return in_range(*size, range);
}

std::optional<std::size_t> Node::one_of(std::span<const std::string> names) const {
  if (!json_->is_string()) {
    wrong_type("one of " + quoted_list(names));
    return std::nullopt;
  }
  const auto& value = json_->get_ref<const std::string&>();
  const auto found = std::find(names.begin(), names.end(), value);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  fault(fmt::format("\"{}\" is not one of {}{}", printable_line(value, 60), quoted_list(names),
                    did_you_mean(value, names)));
  return std::nullopt;
}

std::vector<Node> Node::elements(std::size_t max_count) const {
  std::vector<Node> nodes;
  if (!json_->is_array()) {
    wrong_type("a list");
    return nodes;
  }
  if (json_->size() > max_count) {
    fault(fmt::format("has {} elements; the limit is {}", json_->size(), max_count));
    return nodes;
  }
  for (std::size_t i = 0; i < json_->size(); ++i) {
    nodes.emplace_back((*json_)[i], fmt::format("{}/{}", pointer_, i), *reading_);
  }
  return nodes;
}

std::vector<Node::Member> Node::members(std::string_view what, std::size_t max_count) const {
  std::vector<Member> members;
  if (!json_->is_object()) {
    wrong_type(what);
    return members;
  }
  if (json_->size() > max_count) {
    fault(fmt::format("has {} entries; the limit is {}", json_->size(), max_count));
    return members;
  }
  for (const auto& [key, value] : json_->items()) {
    members.push_back({key, Node(value, pointer_ + "/" + pointer_token(key), *reading_)});
  }
  return members;
}

ObjectNode::ObjectNode(const Node& node, std::string_view what,
                       std::span<const std::string_view> keys)
    : node_(node), is_object_(node.json().is_object()) {
  if (!is_object_) {
    node.wrong_type(what);
    return;
  }
  for (const auto& [key, value] : node.json().items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    const std::vector<std::string> known = to_strings(keys);
    const std::string advice = did_you_mean(key, known);
    node.faults().add(node.pointer() + "/" + pointer_token(key),
                      fmt::format("unknown key \"{}\"{}", printable_line(key, 60),
                                  advice.empty() ? "; known here: " + quoted_list(known) : advice));
  }
}

bool ObjectNode::has(std::string_view key) const {
  return find(key).has_value();
}

std::optional<Node> ObjectNode::find(std::string_view key) const {
  if (!is_object_) return std::nullopt;
  const auto found = node_.json().find(std::string(key));
  if (found == node_.json().end()) return std::nullopt;
  return node_.child(std::string(key));
}

std::optional<Node> ObjectNode::require(std::string_view key) const {
  auto child = find(key);
  if (!child && is_object_) node_.fault(fmt::format("the key \"{}\" is missing", key));
  return child;
}

std::vector<std::string> to_strings(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

std::string quoted_list(std::span<const std::string> names) {
  std::string list;
  for (const std::string& name : names) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", name);
  }
  return list;
}

}  // namespace steptune::document
