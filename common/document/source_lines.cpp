// SPDX-License-Identifier: Apache-2.0
#include "common/document/source_lines.hpp"

#include <cstddef>
#include <set>

#include <fmt/format.h>

#include "common/document/fault.hpp"
#include "common/document/parser_cursor.hpp"
#include "common/json.hpp"

namespace steptune::document {
namespace {

class Scanner : public nlohmann::json_sax<Json> {
 public:
  Scanner(const ParserCursor& cursor, std::map<std::string, int>& lines,
          std::vector<std::string>& repeated)
      : cursor_(cursor), lines_(lines), repeated_(repeated) {}

  bool null() override { return value(); }
  bool boolean(bool /*value*/) override { return value(); }
  bool number_integer(number_integer_t /*value*/) override { return value(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return value(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return value(); }
  bool string(string_t& /*value*/) override { return value(); }
  bool binary(binary_t& /*value*/) override { return value(); }
  bool start_object(std::size_t /*size*/) override { return open(/*array=*/false); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(/*array=*/true); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.child = level.pointer + "/" + pointer_token(name);
    lines_.insert_or_assign(level.child, cursor_.token_line());
    if (!level.keys.insert(name).second) repeated_.push_back(level.child);
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*why*/) override {
    return false;
  }

 private:
  struct Level {
    std::string pointer;
    std::string child;  ///< pointer of the object's latest key
    bool array = false;
    std::size_t index = 0;
    std::set<std::string> keys;
  };

  /// Returns the pointer of the value that the parser reads next.
  std::string next_pointer() {
    if (levels_.empty()) return {};
    Level& level = levels_.back();
    if (!level.array) return level.child;
    return fmt::format("{}/{}", level.pointer, level.index++);
  }
  bool value() {
    lines_.try_emplace(next_pointer(), cursor_.token_line());
    return true;
  }
  bool open(bool array) {
    if (levels_.size() == std::size_t{k_max_nesting}) return false;
    std::string pointer = next_pointer();
    lines_.try_emplace(pointer, cursor_.token_line());
    levels_.push_back({std::move(pointer), {}, array, 0, {}});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }

  const ParserCursor& cursor_;
  std::map<std::string, int>& lines_;
  std::vector<std::string>& repeated_;
  std::vector<Level> levels_;
};

}  // namespace

SourceLines::SourceLines(std::string_view text) {
  ParserCursor cursor;
  Scanner scanner(cursor, lines_, repeated_);
  // After a syntax error, the lines of later values are unknown. `parse_json` has reported the
  // error.
  static_cast<void>(Json::sax_parse(TrackedChar(text.data(), &cursor),
                                    TrackedChar(text.data() + text.size(), &cursor), &scanner,
                                    Json::input_format_t::json, /*strict=*/false,
                                    /*ignore_comments=*/true));
}

std::optional<int> SourceLines::line_of(std::string pointer) const {
  if (lines_.empty()) return std::nullopt;
  while (true) {
    const auto found = lines_.find(pointer);
    if (found != lines_.end()) return found->second;
    const auto slash = pointer.rfind('/');
    if (slash == std::string::npos) return std::nullopt;
    pointer.erase(slash);
  }
}

}  // namespace steptune::document
