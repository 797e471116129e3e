// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/hooks/hook_reach.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <linux/binfmts.h>

#include "common/text.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "trial_runner/hooks/python_path.hpp"

namespace steptune {
namespace {

std::string program_name(std::string_view word) {
  return std::filesystem::path(word).filename().string();
}

bool is_python(std::string_view word) {
  const std::string name = program_name(word);
  return name.starts_with("python") || name.starts_with("pypy");
}

/// Options of the interpreter whose value may be the next word.
constexpr std::string_view k_with_value = "WX";
/// Options of the interpreter after which the program's arguments follow.
constexpr std::string_view k_last = "cm";

/// Returns the option that withholds the environment or sitecustomize from this interpreter.
std::optional<std::string> isolating_option(std::span<const std::string> argv) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    if (word.size() < 2 || word[0] != '-') return std::nullopt;
    if (word[1] == '-') continue;
    for (std::size_t at = 1; at < word.size(); ++at) {
      const char letter = word[at];
      if (letter == 'I' || letter == 'E' || letter == 'S') return fmt::format("-{}", letter);
      if (k_last.find(letter) != std::string_view::npos) return std::nullopt;
      if (k_with_value.find(letter) != std::string_view::npos) {
        if (at + 1 == word.size()) ++i;
        break;
      }
    }
  }
  return std::nullopt;
}

/// Returns the words after `#!` in a script's first line; empty for other files.
std::vector<std::string> interpreter_words(const std::filesystem::path& script) {
  std::ifstream stream(script, std::ios::binary);
  std::string line(BINPRM_BUF_SIZE, '\0');
  stream.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(stream.gcount()));
  if (!line.starts_with("#!")) return {};
  line.resize(std::min(line.find('\n'), line.size()));
  std::istringstream words(line.substr(2));
  std::vector<std::string> result;
  for (std::string word; words >> word;)
    result.push_back(std::move(word));
  return result;
}

/// True if an interpreter with these arguments runs a program.
bool runs_something(std::span<const std::string> arguments) {
  return std::ranges::any_of(arguments, [](const std::string& word) {
    return word.ends_with(".py") || word == "-m" || word == "-c";
  });
}

/// True for shells. A shell's script decides what it starts.
bool is_shell(std::string_view word) {
  constexpr std::array<std::string_view, 5> k_shells{"sh", "bash", "dash", "zsh", "ksh"};
  return std::ranges::find(k_shells, program_name(word)) != k_shells.end();
}

/// True if the words of `docker run` pass this variable on: `-e NAME`, `--env=NAME`, with or
/// without a value.
bool passes_variable(std::span<const std::string> words, std::string_view name) {
  return std::ranges::any_of(words, [name](std::string_view word) {
    for (const std::string_view option : {"--env=", "-e"}) {
      if (word.starts_with(option)) word.remove_prefix(option.size());
    }
    return word == name || word.starts_with(std::string(name) + "=");
  });
}

/// Says why the hook cannot enter a container's program: a container gets only the variables that
/// its command names.
std::optional<std::string> why_of_container(std::span<const std::string> argv) {
  constexpr std::array<std::string_view, 3> k_tools{"docker", "podman", "nerdctl"};
  if (std::ranges::find(k_tools, program_name(argv.front())) == k_tools.end()) return std::nullopt;
  const auto starts = std::ranges::find_if(
      argv, [](const std::string& word) { return word == "run" || word == "exec"; });
  if (starts == argv.end()) return std::nullopt;
  // These options may pass any variable.
  const bool passes_others = std::ranges::any_of(argv, [](const std::string& word) {
    return word.starts_with("--env-file") || word.starts_with("--env-host") ||
           word.starts_with("--env-merge");
  });
  if (passes_others) return std::nullopt;
  for (const char* name : {k_python_path, k_python_hook_variable}) {
    if (passes_variable(argv, name)) continue;
    return fmt::format(
        "\"{} {}\" starts the program in a separate environment, without {}: docs/hooks.md, "
        "\"Containers\", says what to pass",
        program_name(argv.front()), *starts, name);
  }
  return std::nullopt;
}

std::optional<std::string> why_of_words(std::span<const std::string> argv) {
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (is_shell(argv[i])) return std::nullopt;
    if (auto why = why_of_container(argv.subspan(i))) return why;
    const std::string name = program_name(argv[i]);
    if (name == "sudo") return "sudo starts the program in a separate environment";
    if (name == "env" && i + 1 < argv.size() &&
        (argv[i + 1] == "-i" || argv[i + 1] == "-" || argv[i + 1] == "--ignore-environment")) {
      return fmt::format("\"env {}\" gives the program an empty environment", argv[i + 1]);
    }
    if (!is_python(argv[i])) continue;
    // `--lang python` starts no interpreter; `--exclusive python3 -I train.py` does.
    if (i > 0 && argv[i - 1].starts_with("--") && !runs_something(argv.subspan(i + 1))) continue;
    if (const auto option = isolating_option(argv.subspan(i))) {
      return fmt::format("\"{} {}\" keeps {} away from Python", program_name(argv[i]), *option,
                         *option == "-S" ? "sitecustomize" : k_python_path);
    }
    return std::nullopt;
  }
  return std::nullopt;
}

/// Larger programs are not searched, because reading them takes longer than trying the hook.
constexpr std::uintmax_t k_largest_program_bytes = std::uintmax_t{64} << 20;

bool mentions_python(const std::filesystem::path& program) {
  std::ifstream stream(program, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  // Matches libpython3.11.so, PYTHONPATH, python3: the program embeds Python or starts it.
  return bytes.find("python") != std::string::npos || bytes.find("PYTHON") != std::string::npos;
}

bool is_elf(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 4> begin{};
  stream.read(begin.data(), begin.size());
  return stream && std::string_view(begin.data(), begin.size()) ==
                       "\x7f"
                       "ELF";
}

}  // namespace

bool hands_over(std::string_view word) {
  constexpr std::array<std::string_view, 8> k_wrappers{"env",  "nice",   "stdbuf",  "taskset",
                                                       "time", "ionice", "numactl", "nohup"};
  return std::ranges::find(k_wrappers, program_name(word)) != k_wrappers.end();
}

std::size_t handed_over_to(std::span<const std::string> argv) {
  if (argv.empty() || !hands_over(argv.front())) return 0;
  for (std::size_t at = 1; at < argv.size(); ++at) {
    const std::string& word = argv[at];
    const bool is_path = word.find('/') != std::string::npos;
    const bool is_option = word.starts_with('-') || word.find('=') != std::string::npos;
    // Values of options are numbers (`nice -n 10`) or single letters (`stdbuf -o L`).
    const bool is_value = !is_path && (word.size() == 1 || word.find_first_of("0123456789") == 0);
    if (is_option || is_value || hands_over(word)) continue;
    // Other words behind an option may be its value, too: `env -u NAME`.
    const std::string& before = argv[at - 1];
    const bool follows_option =
        before.find('=') == std::string::npos &&
        (before.starts_with("--") || (before.starts_with('-') && before.size() == 2));
    return is_path || !follows_option ? at : 0;
  }
  return 0;
}

bool is_native_program(std::span<const std::string> argv, const std::filesystem::path& folder) {
  if (argv.empty()) return false;
  const std::string& program = argv[handed_over_to(argv)];
  if (program.find('/') == std::string::npos || program.starts_with('-')) return false;
  const std::filesystem::path file = folder / program;
  std::error_code fault;
  const auto bytes = std::filesystem::file_size(file, fault);
  // A launcher in a system folder may start any program named in its arguments.
  const std::string place = std::filesystem::weakly_canonical(file, fault).parent_path().string();
  const bool is_in_system_folder = place == "/usr/bin" || place == "/bin" || place == "/usr/sbin";
  if (fault || is_in_system_folder || bytes > k_largest_program_bytes) return false;
  return is_elf(file) && !mentions_python(file);
}

std::optional<std::string> why_out_of_reach(std::span<const std::string> argv,
                                            const std::filesystem::path& folder) {
  if (auto why = why_of_words(argv)) return why;
  if (argv.empty() || argv.front().find('/') == std::string::npos) return std::nullopt;
  const auto words = interpreter_words(folder / argv.front());
  if (auto why = why_of_words(words)) {
    return fmt::format("in the first line of {}, {}", printable_line(argv.front(), 100), *why);
  }
  return std::nullopt;
}

}  // namespace steptune
