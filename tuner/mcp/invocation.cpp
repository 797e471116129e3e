// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/invocation.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/study/judge_defaults.hpp"

namespace steptune::mcp {
namespace {

namespace fs = std::filesystem;

constexpr double k_usual_tuning_s = 600.0;
/// Longest time of a program besides its measurements: to read the history, or to end after
/// `--time`, which is at most `ServerLimits::most_time_s`. Then the server interrupts the program.
constexpr double k_besides_measuring_s = 60.0;

/// Builds the command line of one call.
class Building {
 public:
  Building(const Json& arguments, const ServerLimits& limits)
      : arguments_(arguments), limits_(limits) {}

  Result<Invocation> build(const Tool& tool) {
    auto folder = limits_.roots.folder(text("folder"));
    if (!folder) return tl::unexpected(folder.error());
    made_.folder = *std::move(folder);
    made_.most_time_s = (tool.measures ? limits_.most_time_s : 0.0) + k_besides_measuring_s;
    if (const auto added = add_words(tool.id); !added) return tl::unexpected(added.error());
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool has(const char* name) const { return arguments_.contains(name); }
  [[nodiscard]] std::string text(const char* name) const { return text_at(arguments_, name); }
  [[nodiscard]] bool is_set(const char* name) const { return arguments_.value(name, false); }

  void add(std::string word) { made_.words.push_back(std::move(word)); }
  /// Adds `--option=value`, so that a value that begins with `-` is not read as an option.
  void add_option(const char* name) {
    if (has(name)) add(fmt::format("--{}={}", name, plain_text(arguments_[name])));
  }
  void add_common() {
    add("--json");
    add("--color=never");
    if (!limits_.database.empty()) add("--db=" + limits_.database);
  }
  void add_command(const Json& words) {
    for (const Json& word : words)
      add(word.get<std::string>());
  }

  Result<void> add_words(ToolName tool) {
    switch (tool) {
      case ToolName::survey:
        return add_survey();
      case ToolName::tune:
        return add_tune();
      case ToolName::judge:
        return add_judge();
      case ToolName::status:
        return add_status();
      case ToolName::explain:
        return add_explain();
      case ToolName::stop:
        break;
    }
    return fail(ErrorKind::internal, "this tool has no command line");
  }

  Result<void> add_survey() {
    add("check");
    add_common();
    add("--show=1");
    add_option("name");
    if (is_set("safe")) add("--safe");
    add("--");
    add_command(arguments_["command"]);
    return {};
  }

  Result<void> add_tune() {
    if (has("command") == has("study")) {
      return fail(ErrorKind::usage, "give either \"command\" or \"study\"");
    }
    add("run");
    add_common();
    add_option("trials");
    if (has("study")) {
      if (has("name") || is_set("safe")) {
        return fail(ErrorKind::usage, "\"name\" and \"safe\" need \"command\"", "",
                    "edit the study file instead");
      }
      const auto timed = has("time") ? add_time(0.0) : Result<void>();
      return timed ? add_study_file() : timed;
    }
    if (auto timed = add_time(k_usual_tuning_s); !timed) return timed;
    add_option("name");
    if (is_set("safe")) add("--safe");
    add("--");
    add_command(arguments_["command"]);
    return {};
  }

  Result<void> add_study_file() {
    const auto file = limits_.roots.file(text("study"), made_.folder);
    if (!file) return tl::unexpected(file.error());
    const auto document = read_json_file(*file);
    if (!document) return tl::unexpected(document.error());
    const std::string folder = text_at(*document, "working_directory");
    // The study's command runs in the folder `working_directory`, so this folder must be within the
    // roots, too.
    const auto inside = limits_.roots.folder((file->parent_path() / folder).string());
    if (!inside) return tl::unexpected(inside.error());
    add(file->string());
    return {};
  }

  Result<void> add_judge() {
    if (has("commands") == has("command")) {
      return fail(ErrorKind::usage, "give either \"commands\", or \"command\" and \"revisions\"");
    }
    if (has("command") != has("revisions")) {
      return fail(ErrorKind::usage, "\"revisions\" and \"command\" need each other");
    }
    if (has("build") && !has("revisions")) {
      return fail(ErrorKind::usage, "\"build\" needs \"revisions\"", "",
                  "build before you call judge");
    }
    add("judge");
    add_common();
    if (auto timed = add_time(k_judge_time_s); !timed) return timed;
    add_option("margin");
    add_option("campaign");
    add_option("build");
    return has("commands") ? add_commands() : add_revisions();
  }

  Result<void> add_commands() {
    add("--");
    bool is_first = true;
    for (const Json& command : arguments_["commands"]) {
      if (std::ranges::find(command, Json(k_next_command)) != command.end()) {
        return fail(ErrorKind::usage, fmt::format("a command has the word {}", k_next_command), "",
                    "put the command into a script");
      }
      if (!std::exchange(is_first, false)) add(k_next_command);
      add_command(command);
    }
    return {};
  }

  Result<void> add_revisions() {
    add("--git");
    for (const Json& revision : arguments_["revisions"]) {
      const auto name = revision.get<std::string>();
      if (name.empty() || name.starts_with('-')) {
        return fail(ErrorKind::usage,
                    fmt::format("\"{}\" is no git revision", printable_line(name, 80)));
      }
      add(name);
    }
    add("--");
    add_command(arguments_["command"]);
    return {};
  }

  Result<void> add_status() {
    if (has("limit") && !has("study")) {
      return fail(ErrorKind::usage, "\"limit\" needs \"study\"", "", "leave it out");
    }
    if (has("campaign")) {
      if (has("study")) return fail(ErrorKind::usage, "give either \"study\" or \"campaign\"");
      add("campaign");
      add_common();
      return add_name("campaign");
    }
    add(has("study") ? "leaderboard" : "studies");
    add_common();
    if (!has("study")) return {};
    add(has("limit") ? fmt::format("--limit={}", plain_text(arguments_["limit"])) : "--limit=5");
    return add_name("study");
  }

  Result<void> add_explain() {
    const std::string about = text("about");
    const bool is_output = about == "output";
    if (about == "bottleneck" || about == "importance") {
      if (about == "importance" && has("trial")) {
        return fail(ErrorKind::usage, "\"importance\" is about all trials of a study", "",
                    "leave \"trial\" out");
      }
      add(about);
      add_common();
      add_option("trial");
      return add_name("study");
    }
    if (!has("trial")) {
      return fail(ErrorKind::usage, "the argument \"trial\" is missing", "",
                  "status lists the trials of a study");
    }
    add("show");
    add_common();
    if (is_output) {
      std::erase(made_.words, "--json");
      add("--log");
    }
    if (auto named = add_name("study"); !named) return named;
    add(plain_text(arguments_["trial"]));
    return {};
  }

  /// Adds the name that the agent gave, if any. `argument` is `study` or `campaign`.
  Result<void> add_name(const char* argument) {
    if (!has(argument)) return {};
    const std::string name = text(argument);
    if (name.starts_with('-')) {
      return fail(ErrorKind::usage,
                  fmt::format("\"{}\" is no {}", printable_line(name, 80), argument));
    }
    add(name);
    return {};
  }

  /// Adds the requested time; without a request, the usual time.
  Result<void> add_time(double usual_s) {
    double time_s = std::min(usual_s, limits_.most_time_s);
    if (has("time")) {
      const auto asked_s = parse_duration_s(text("time"));
      if (!asked_s) return tl::unexpected(asked_s.error());
      if (*asked_s > limits_.most_time_s) {
        return fail(ErrorKind::usage,
                    fmt::format("{} is more than a call may take", format_duration(*asked_s)),
                    "time",
                    fmt::format("ask for at most {}; a person can allow more with --most-time",
                                format_duration(limits_.most_time_s)));
      }
      time_s = *asked_s;
    }
    made_.time_s = time_s;
    add(fmt::format("--time={}", time_s));
    return {};
  }

  const Json& arguments_;
  const ServerLimits& limits_;
  Invocation made_;
};

}  // namespace

Result<Invocation> invocation_of(const Tool& tool, const Json& arguments,
                                 const ServerLimits& limits) {
  return Building(arguments, limits).build(tool);
}

}  // namespace steptune::mcp
