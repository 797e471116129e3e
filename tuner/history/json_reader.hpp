// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "common/configuration.hpp"

namespace steptune {

namespace ondemand = simdjson::ondemand;

/// Parser that copies each text, because simdjson needs padding after the text. The copy's memory
/// is reused for the next text.
class JsonParser {
 public:
  ondemand::document parse(std::string_view text) {
    buffer_.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    buffer_.assign(text);
    return parser_.iterate(buffer_.data(), buffer_.size(), buffer_.capacity());
  }

 private:
  ondemand::parser parser_;
  std::string buffer_;
};

/// Calls `use` with the object that is the whole text. Returns false if the text is not an object,
/// or if `use` found invalid JSON.
template <typename Use>
bool read_object(std::string_view text, Use use) {
  thread_local JsonParser parser;
  try {
    ondemand::document document = parser.parse(text);
    use(document.get_object().value());
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
  } catch (const simdjson::simdjson_error&) {
    return false;
  }
}

/// Calls `use` with the name and the value of each field.
template <typename Use>
void for_each_field(ondemand::object object, Use use) {
  for (ondemand::field field : object) {
    const std::string_view name = field.unescaped_key();
    use(name, field.value());
  }
}

/// Reads a number; leaves `number` unchanged if the value is not a number.
inline void get(ondemand::value value, double& number) {
  double read = 0.0;
  if (value.get_double().get(read) == simdjson::SUCCESS) number = read;
}

/// Throws `simdjson_error` if the value is not a boolean.
inline void get(ondemand::value value, bool& flag) {
  flag = value.get_bool();
}

template <typename T>
void get(ondemand::value value, std::optional<T>& read) {
  get(value, read.emplace());
}

/// Adds an object's fields to `numbers`, if their values are numbers.
inline void get(ondemand::value value, std::map<std::string, double>& numbers) {
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return;
  for_each_field(object, [&](std::string_view name, ondemand::value element) {
    double number = 0.0;
    if (element.get_double().get(number) == simdjson::SUCCESS) numbers.emplace(name, number);
  });
}

/// Returns the numbers of an array. Throws `simdjson_error` if the value is anything else.
inline std::vector<double> numbers_of(ondemand::value value) {
  std::vector<double> numbers;
  for (ondemand::value number : value.get_array())
    numbers.push_back(number.get_double());
  return numbers;
}

/// Returns a parameter's value. Throws `simdjson_error` if it is neither a boolean, a text nor a
/// number.
inline Value value_of(ondemand::value value) {
  switch (value.type()) {
    case ondemand::json_type::boolean:
      return bool(value.get_bool());
    case ondemand::json_type::string:
      return std::string(std::string_view(value.get_string()));
    case ondemand::json_type::number:
      break;
    default:
      throw simdjson::simdjson_error(simdjson::INCORRECT_TYPE);
  }
  ondemand::number number = value.get_number();
  if (number.is_double()) return number.get_double();
  if (!number.is_int64()) throw simdjson::simdjson_error(simdjson::NUMBER_OUT_OF_RANGE);
  return number.get_int64();
}

}  // namespace steptune
