// SPDX-License-Identifier: Apache-2.0
// Tests that random content is read back as it was written, over fixed seeds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include <gtest/gtest.h>

#include "common/csv.hpp"
#include "common/document/fault.hpp"
#include "common/document/source_lines.hpp"
#include "common/json.hpp"
#include "common/rng.hpp"
#include "common/shell_quote.hpp"
#include "common/utf8.hpp"

namespace steptune {
namespace {

std::string random_word(Rng& rng) {
  static const std::vector<std::string> k_pieces{
      "a", "B",  "7",  " ", "'", "\"", "\\",       "$HOME", "`id`", "$(id)", ";",
      "&", "|",  ">",  "*", "?", "~",  "!",        "#",     "{",    "}",     "[",
      "(", "\n", "\t", ",", "=", "-",  "\xC3\xA9", "\x01",  "%s",   "\\n"};
  std::string word;
  for (std::uint64_t i = rng.below(10); i > 0; --i)
    word += k_pieces[rng.below(k_pieces.size())];
  return word;
}

/// Returns the command's output.
std::string output_of_shell(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::string output;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(buffer.data(), 1, buffer.size(), pipe);
    output.append(buffer.data(), got);
  }
  ::pclose(pipe);
  return output;
}

TEST(PosixQuotedProperty, WordsReachAProgramUnchanged) {
  std::vector<std::string> words{"printf", "%s\\0"};
  Rng rng(1, "words");
  for (int i = 0; i < 300; ++i)
    words.push_back(random_word(rng));
  std::string expected;
  for (std::size_t i = 2; i < words.size(); ++i)
    expected += words[i] + '\0';
  EXPECT_EQ(output_of_shell(posix_quoted(words)), expected);
}

std::string csv_cell(const std::string& cell) {
  std::string quoted = "\"";
  for (const char c : cell)
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

TEST(CsvProperty, CellsAreReadAsTheyWereWritten) {
  Rng rng(1, "tables");
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::size_t columns = 1 + rng.below(5);
    const std::string end = rng.below(2) == 0 ? "\n" : "\r\n";
    std::vector<std::vector<std::string>> rows(2 + rng.below(6));
    std::string text;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        // An empty line is no row.
        rows[row].push_back(columns == 1 ? "x" + random_word(rng) : random_word(rng));
        text += (column > 0 ? "," : "") + csv_cell(rows[row].back());
      }
      if (row + 1 < rows.size() || rng.below(2) == 0) text += end;
    }
    const auto csv = parse_csv(text, "t.csv");
    ASSERT_TRUE(csv) << seed << ": " << csv.error().text() << '\n' << text;
    EXPECT_EQ(csv->header, rows.front()) << seed;
    EXPECT_EQ(csv->rows, std::vector(rows.begin() + 1, rows.end())) << seed;
  }
}

TEST(CsvProperty, BytesAreATableOrAnErrorThatNamesTheFile) {
  Rng rng(1, "bytes");
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::string text;
    for (std::uint64_t i = rng.below(40); i > 0; --i)
      text += std::string("a\",\n\r\xFF ")[rng.below(7)];
    const auto csv = parse_csv(text, "t.csv");
    if (!csv) {
      EXPECT_TRUE(csv.error().where.starts_with("t.csv")) << csv.error().text();
      continue;
    }
    for (const auto& row : csv->rows)
      EXPECT_EQ(row.size(), csv->header.size()) << seed;
  }
}

Json random_json(Rng& rng, int depth) {
  switch (rng.below(depth > 0 ? 8U : 6U)) {
    case 0:
      return nullptr;
    case 1:
      return rng.below(2) == 0;
    case 2:
      return static_cast<std::int64_t>(rng.bits());
    case 3:
      return rng.normal() * std::pow(10.0, 20.0 * rng.uniform());
    case 4:
      return rng.bits();
    case 5:
      return random_word(rng);
    case 6: {
      Json list = Json::array();
      for (std::uint64_t i = rng.below(5); i > 0; --i)
        list.push_back(random_json(rng, depth - 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (std::uint64_t i = rng.below(5); i > 0; --i)
        object[random_word(rng) + std::to_string(i)] = random_json(rng, depth - 1);
      return object;
    }
  }
}

TEST(JsonProperty, DocumentsAreReadAsTheyWereWritten) {
  Rng rng(1, "documents");
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Json json = random_json(rng, 5);
    for (const int indent : {-1, 2}) {
      const auto read = parse_json(dump_json(json, indent), "written");
      ASSERT_TRUE(read) << seed << ": " << read.error().text();
      EXPECT_EQ(*read, json) << seed;
    }
    EXPECT_EQ(dump_json(json).find('\n'), std::string::npos) << "one line: " << seed;
  }
}

TEST(JsonProperty, BytesAreWrittenAsValidJson) {
  Rng rng(1, "bytes");
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::string bytes;
    for (std::uint64_t i = rng.below(20); i > 0; --i)
      bytes += static_cast<char>(rng.below(256));
    const std::string text = dump_json(Json{{bytes, bytes}});
    EXPECT_TRUE(is_utf8(text)) << seed;
    EXPECT_TRUE(parse_json(text, "written")) << seed;
  }
  EXPECT_EQ(dump_json(Json{std::nan(""), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}),
            R"(["nan","inf","-inf"])");
}

TEST(JsonProperty, ConfigurationsKeepValuesAndTheirTypes) {
  Rng rng(1, "configurations");
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Configuration configuration;
    for (int i = 0; i < 6; ++i) {
      const std::string name = "p" + std::to_string(i);
      switch (rng.below(4)) {
        case 0:
          configuration.set(name, rng.below(2) == 0);
          break;
        case 1:
          configuration.set(name, static_cast<std::int64_t>(rng.bits()));
          break;
        case 2:
          configuration.set(name, std::round(rng.normal() * 4.0) / 2.0);
          break;
        default:
          configuration.set(name, random_word(rng));
      }
    }
    const auto json = parse_json(dump_json(to_json(configuration)), "written");
    ASSERT_TRUE(json) << seed;
    const auto read = configuration_from_json(*json, "written");
    ASSERT_TRUE(read) << seed << ": " << read.error().text();
    EXPECT_EQ(*read, configuration) << seed << ": " << read->text();
    EXPECT_EQ(read->text(), configuration.text()) << seed;
  }
}

/// Checks the lines of the members of a document that is written with indentation.
void expect_lines(const Json& json, const std::string& pointer, int& line,
                  const document::SourceLines& lines) {
  EXPECT_EQ(lines.line_of(pointer), line) << pointer;
  if (!json.is_structured() || json.empty()) return;
  std::size_t index = 0;
  for (const auto& [key, member] : json.items()) {
    ++line;
    const std::string name = json.is_array() ? std::to_string(index) : key;
    ++index;
    expect_lines(member, pointer + "/" + document::pointer_token(name), line, lines);
  }
  ++line;  // its closing bracket
}

TEST(SourceLinesProperty, AreFoundForAllValues) {
  Rng rng(1, "documents");
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Json json = random_json(rng, 4);
    int line = 1;
    const document::SourceLines lines(dump_json(json, 2));
    expect_lines(json, "", line, lines);
    EXPECT_TRUE(lines.repeated_keys().empty()) << seed;
  }
}

}  // namespace
}  // namespace steptune
