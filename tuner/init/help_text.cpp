// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/help_text.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include <re2/re2.h>

#include "common/json_fields.hpp"
#include "common/terminal_text.hpp"
#include "common/text.hpp"
#include "tuner/config_edit/config_file.hpp"
#include "tuner/init/program_option.hpp"
#include "tuner/study/limits.hpp"

namespace steptune {
namespace {

/// Options are indented less than their descriptions.
constexpr std::size_t k_max_indent = 14;

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string style_of(const std::string& text, bool has_box) {
  if (contains(text, "Powered by Hydra")) return "Hydra";
  if (contains(text, "Print this help message and exit")) return "CLI11";
  if (has_box && contains(text, "Options")) return "typer";
  if (contains(text, "Show this message and exit")) return "click";
  if (contains(text, "Flags from ")) return "gflags";
  if (contains(text, "flags:\n") && contains(text, "--helpfull")) return "absl";
  if (contains(text, "usage: ") || contains(text, "show this help message and exit")) {
    return "argparse";
  }
  return "";
}

/// Returns the end of an option's names, where its description starts: at two blanks. typer also
/// separates names and type by two blanks.
std::size_t heading_end(const std::string& content) {
  static const RE2 k_type(
      R"(^(?:INTEGER|FLOAT|TEXT|BOOLEAN|PATH|FILE|\[[^\]\s]+\||-{1,2}[A-Za-z]))");
  std::size_t end = content.find("  ");
  while (end != std::string::npos) {
    const std::size_t next = content.find_first_not_of(' ', end);
    if (next == std::string::npos) return end;
    if (!RE2::PartialMatch(content.substr(next, 40), k_type)) return end;
    end = content.find("  ", next);
  }
  return content.size();
}

struct Entry {
  std::string heading;
  std::string description;
  std::vector<std::string> needs;  ///< other options that this option requires
};

/// Returns the options after `Needs:` in CLI11's help.
std::vector<std::string> needs_in(const std::string& heading) {
  static const RE2 k_needs(R"( Needs:((?: -{1,2}[A-Za-z][A-Za-z0-9_.\-]*)+))");
  static const RE2 k_option(R"( (-[^ ]+))");
  std::vector<std::string> needs;
  std::string condition;
  if (!RE2::PartialMatch(heading, k_needs, &condition)) return needs;
  re2::StringPiece rest(condition.data(), condition.size());
  std::string option;
  while (RE2::Consume(&rest, k_option, &option))
    needs.push_back(option);
  return needs;
}

/// Splits an option's line into names and description; nullopt if it has no option.
std::optional<Entry> entry_of(const std::string& line) {
  static const RE2 k_option(R"(^-{1,2}(?:\[no\])?[A-Za-z])");
  static const RE2 k_absl(R"(^(--(?:\[no\])?[A-Za-z][A-Za-z0-9_.\-]*):\s?(.*)$)");
  static const RE2 k_gflags(R"(^(-[A-Za-z][A-Za-z0-9_\-]*)\s+(\(.*)$)");
  const std::size_t indent = indent_of(line);
  if (indent > k_max_indent) return std::nullopt;
  std::string content = line.substr(indent);
  if (!RE2::PartialMatch(content, k_option)) return std::nullopt;
  Entry entry;
  if (RE2::FullMatch(content, k_absl, &entry.heading, &entry.description)) {
    entry.heading += "=VALUE";
    return entry;
  }
  if (RE2::FullMatch(content, k_gflags, &entry.heading, &entry.description)) {
    entry.heading += "=VALUE";
    return entry;
  }
  // libmf and libffm: `-s <threads>: set number of threads (default 12)`.
  static const RE2 k_colon(R"((-{1,2}[A-Za-z][\w-]*(?: [<\[][^>\]]*[>\]])?)\s*:\s+(.+))");
  if (RE2::FullMatch(content, k_colon, &entry.heading, &entry.description)) return entry;
  // CLI11 lists related options behind the name. Since 2.4, two blanks are before them.
  static const RE2 k_far_relation(R"( {2,}(Excludes|Needs): )");
  static const RE2 k_relation(R"( (?:Excludes|Needs): .*$)");
  RE2::GlobalReplace(&content, k_far_relation, R"( \1: )");
  const std::size_t end = heading_end(content);
  std::string collapsed;
  for (const char letter : content.substr(0, end)) {
    if (letter == ' ' && collapsed.ends_with(' ')) continue;
    collapsed += letter;
  }
  std::vector<std::string> needs = needs_in(collapsed);
  RE2::Replace(&collapsed, k_relation, "");
  const std::size_t rest = std::min(content.find_first_not_of(' ', end), content.size());
  return Entry{collapsed, content.substr(rest), std::move(needs)};
}

std::vector<ProgramOption> options_in(const std::vector<std::string>& lines) {
  std::vector<ProgramOption> options;
  std::set<std::string> seen;
  std::optional<Entry> entry;
  const auto finish = [&] {
    if (!entry) return;
    ProgramOption option = parse_heading(entry->heading);
    read_description(entry->description, option);
    option.needs = std::move(entry->needs);
    entry.reset();
    if (option.name.empty() || options.size() >= k_most_options) return;
    // absl and gflags: `--amp=false` switches a boolean option off.
    if (option.kind == OptionKind::boolean && option.form == OptionForm::joined &&
        option.negation.empty()) {
      option.negation = option.name + "=false";
    }
    if (seen.insert(option.name).second) options.push_back(std::move(option));
  };
  std::size_t indent = 0;
  for (const std::string& line : lines) {
    if (auto next = entry_of(line)) {
      finish();
      entry = std::move(next);
      indent = indent_of(line);
    } else if (entry && indent_of(line) > indent && indent_of(line) < line.size()) {
      if (entry->description.size() < k_most_line_bytes) {
        entry->description +=
            (entry->description.empty() ? "" : " ") + line.substr(indent_of(line));
      }
    } else {
      finish();
    }
  }
  finish();
  return options;
}

/// Returns the settings in Hydra's help, which prints the composed configuration between two marker
/// lines.
std::vector<ProgramOption> hydra_options(const std::vector<std::string>& lines) {
  std::string yaml;
  bool inside = false;
  for (const std::string& line : lines) {
    if (contains(line, "== Config ==")) {
      inside = true;
    } else if (inside && contains(line, "Powered by Hydra")) {
      break;
    } else if (inside && !contains(line, "Override anything in the config")) {
      yaml += line + "\n";
    }
  }
  std::vector<ProgramOption> options;
  const auto scalars = scan_config(ConfigFormat::yaml, yaml, "--help");
  if (!scalars) return options;
  for (const ConfigScalar& scalar : *scalars) {
    options.push_back({.name = scalar.key(),
                       .form = OptionForm::assignment,
                       .kind = scalar.value.is_boolean()          ? OptionKind::boolean
                               : scalar.value.is_number_integer() ? OptionKind::integer
                               : scalar.value.is_number()         ? OptionKind::number
                                                                  : OptionKind::unknown,
                       .default_from = "--help"});
    if (!scalar.value.is_null()) options.back().default_value = plain_text(scalar.value);
  }
  return options;
}

/// Adds the forms that gflags and absl accept: one dash instead of two, and `--noamp` for
/// `--amp=false`.
void take_either_dash(ProgramOption& option) {
  const std::string bare = option.name.substr(option.name.find_first_not_of('-'));
  option.aliases.push_back((option.name.starts_with("--") ? "-" : "--") + bare);
  if (option.kind == OptionKind::boolean) option.negation = "--no" + bare;
}

/// Shorter runs of printable bytes are mostly machine code; `strings` of the GNU binutils uses the
/// same limit.
constexpr std::size_t k_shortest_text = 4;

bool is_printable(char byte) {
  return (byte >= ' ' && byte <= '~') || byte == '\t' || byte == '\n';
}

}  // namespace

std::vector<std::string> plain_lines(std::string_view bytes) {
  // Box drawing (U+2500 to U+257F) is E2 94 80 to E2 95 BF.
  std::vector<std::string> lines{""};
  bytes = bytes.substr(0, k_most_text_bytes);
  while (!bytes.empty()) {
    if (const std::size_t length = escape_sequence_length(bytes)) {
      bytes.remove_prefix(std::min(length, bytes.size()));
      continue;
    }
    const char byte = bytes.front();
    const bool is_box =
        bytes.size() >= 3 && byte == '\xe2' && (bytes[1] == '\x94' || bytes[1] == '\x95');
    bytes.remove_prefix(is_box ? 3 : 1);
    if (byte == '\n' || byte == '\r') {
      lines.emplace_back();
    } else if (lines.back().size() < k_most_line_bytes) {
      lines.back() += is_box || byte == '\t' ? ' ' : byte;
    }
  }
  for (std::string& line : lines) {
    const std::size_t indent = indent_of(line);
    line = line.substr(0, indent) + printable_line(line.substr(indent), k_most_line_bytes);
    while (line.ends_with(' '))
      line.pop_back();
    // typer marks required options with a star.
    if (const std::size_t star = indent_of(line); star < line.size() && line[star] == '*' &&
                                                  star + 1 < line.size() && line[star + 1] == ' ') {
      line[star] = ' ';
    }
  }
  return lines;
}

bool HelpText::is_list() const {
  // A message that is no help rarely describes three options.
  return usage_has_defaults || std::ranges::count_if(options, [](const ProgramOption& option) {
                                 return !option.words.empty();
                               }) >= 3;
}

HelpText parse_help(std::string_view bytes) {
  const std::vector<std::string> lines = plain_lines(bytes);
  std::string text;
  for (const std::string& line : lines)
    text += line + "\n";
  HelpText help;
  const bool has_box = contains(bytes.substr(0, k_most_text_bytes), "\xe2\x95\xad");
  const std::string style = style_of(text, has_box);
  help.options = style == "Hydra" ? hydra_options(lines) : options_in(lines);
  for (ProgramOption& option : options_in_usage(lines)) {
    const bool is_listed = std::ranges::any_of(help.options, [&](const ProgramOption& listed) {
      return listed.is_called(option.name) || plain_name(listed.name) == plain_name(option.name);
    });
    if (is_listed) continue;
    help.usage_has_defaults = help.usage_has_defaults || option.default_value.has_value();
    help.options.push_back(std::move(option));
  }
  if (help.options.empty()) return help;
  const bool asks_help = find_option(help.options, "help") != nullptr;
  help.style = !style.empty() ? style : asks_help || help.is_list() ? "options" : "";
  std::erase_if(help.options,
                [](const ProgramOption& option) { return plain_name(option.name) == "help"; });
  for (ProgramOption& option : help.options) {
    option.python_truth = help.style == "argparse";
    if (help.style == "gflags" || help.style == "absl") take_either_dash(option);
    if (option.form == OptionForm::flag && option.default_value) {
      // click: `--amp / --no-amp  [default: no-amp]`.
      const std::string default_name = plain_name(*option.default_value);
      if (!option.negation.empty() && default_name == plain_name(option.negation)) {
        option.default_value = "false";
      } else if (default_name == plain_name(option.name)) {
        option.default_value = "true";
      }
    }
  }
  return help;
}

std::string texts_of_executable(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  std::string texts;
  std::string text;
  const auto end_text = [&] {
    if (text.size() >= k_shortest_text) texts += text + '\n';
    text.clear();
  };
  for (std::istreambuf_iterator<char> byte(input), end; byte != end; ++byte) {
    if (is_printable(*byte)) {
      text += *byte;
    } else {
      end_text();
    }
    if (texts.size() + text.size() >= k_most_text_bytes) break;
  }
  end_text();
  return texts.substr(0, k_most_text_bytes);
}

}  // namespace steptune
