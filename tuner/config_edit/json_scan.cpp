// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "common/document/parser_cursor.hpp"
#include "tuner/config_edit/config_file.hpp"

namespace steptune {
namespace {

/// Follows nlohmann's parser through the text. Between two events of the parser there are only
/// separators, blanks and comments. So a scalar starts at the first other character after the last
/// event.
class ScalarCollector : public nlohmann::json_sax<Json> {
 public:
  ScalarCollector(std::string_view text, const std::size_t& passed)
      : text_(text), passed_(passed) {}

  [[nodiscard]] std::vector<ConfigScalar> take() { return std::move(scalars_); }

  bool null() override { return scalar(nullptr, passed_); }
  bool boolean(bool value) override { return scalar(value, passed_); }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override { return number(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return number(value);
  }
  bool string(string_t& value) override { return scalar(value, passed_); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(/*list=*/false); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(/*list=*/true); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    levels_.back().key = name;
    last_ = passed_;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*why*/) override {
    return false;
  }

 private:
  struct Level {
    bool list = false;
    std::size_t index = 0;
    std::string key;
  };

  /// The parser has already read the character after a number, if there is one.
  bool number(Json value) {
    std::size_t end = passed_;
    while (end > last_ && std::string_view("0123456789").find(text_[end - 1]) == std::string::npos)
      --end;
    return scalar(std::move(value), end);
  }

  [[nodiscard]] std::size_t begin_of_token() const {
    std::size_t at = last_;
    while (at < text_.size()) {
      const std::string_view rest = text_.substr(at);
      if (rest.starts_with("//")) {
        at += std::min(rest.find('\n'), rest.size());
      } else if (rest.starts_with("/*")) {
        at += std::min(rest.find("*/", 2), rest.size() - 2) + 2;
      } else if (std::string_view(" \t\r\n,:").find(rest.front()) != std::string_view::npos) {
        ++at;
      } else {
        break;
      }
    }
    return at;
  }

  bool scalar(Json value, std::size_t end) {
    ConfigScalar found;
    for (const Level& level : levels_)
      found.path.push_back(level.list ? std::to_string(level.index) : level.key);
    found.begin = begin_of_token();
    found.end = end;
    found.line = 1 + static_cast<int>(std::ranges::count(text_.substr(0, found.begin), '\n'));
    found.value = std::move(value);
    scalars_.push_back(std::move(found));
    last_ = end;
    next();
    return true;
  }
  bool open(bool list) {
    levels_.push_back({list, 0, {}});
    last_ = passed_;
    return true;
  }
  bool close() {
    levels_.pop_back();
    last_ = passed_;
    next();
    return true;
  }
  void next() {
    if (!levels_.empty()) ++levels_.back().index;
  }

  std::string_view text_;
  const std::size_t& passed_;
  std::size_t last_ = 0;  ///< end of the last event's text
  std::vector<Level> levels_;
  std::vector<ConfigScalar> scalars_;
};

}  // namespace

Result<std::vector<ConfigScalar>> scan_json(std::string_view text, const std::string& where) {
  // Reports errors with their place, and limits size and depth.
  if (const auto checked = parse_json(text, where); !checked) {
    Error error = checked.error();
    error.kind = ErrorKind::usage;
    return tl::unexpected(std::move(error));
  }
  document::ParserCursor cursor;
  ScalarCollector collector(text, cursor.passed);
  if (!Json::sax_parse(document::TrackedChar(text.data(), &cursor),
                       document::TrackedChar(text.data() + text.size(), &cursor), &collector,
                       Json::input_format_t::json, /*strict=*/true, /*ignore_comments=*/true)) {
    return fail(ErrorKind::usage, "cannot be read as JSON", where);
  }
  return collector.take();
}

}  // namespace steptune
