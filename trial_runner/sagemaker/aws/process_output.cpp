// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/process_output.hpp"

#include <cerrno>
#include <string_view>

#include <fmt/format.h>
#include <sys/wait.h>

#include "common/child_process.hpp"
#include "common/json.hpp"
#include "common/pipe.hpp"
#include "common/system_reason.hpp"

namespace steptune::aws {
namespace {

/// True if a backslash before `next` is an escape: always outside quotes, never in single quotes,
/// and before some characters in double quotes.
bool is_escape(char next, char quote) {
  constexpr std::string_view k_in_double_quotes = "\"\\$`\n";
  if (quote == '"') return k_in_double_quotes.find(next) != std::string_view::npos;
  return quote == '\0';
}

}  // namespace

Result<std::string> process_output(const std::vector<std::string>& argv) {
  if (argv.empty()) return fail(ErrorKind::runner, "the command is empty");
  auto pipe = make_pipe();
  if (!pipe) return tl::unexpected(pipe.error());
  ChildRequest request;
  request.argv = argv;
  request.environment = assignments(process_variables());
  request.scope = ChildScope::same_group;  // so that Ctrl-C ends the child, too
  request.out = pipe->write.get();
  const auto pid = start_child(request);
  pipe->write.reset();
  if (!pid) {
    return fail(ErrorKind::runner, "cannot start: " + system_reason(pid.error()), argv[0]);
  }
  std::string output = read_to_end(pipe->read, k_max_document_bytes);
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(ErrorKind::runner,
                WIFEXITED(status) ? fmt::format("ended with exit status {}", WEXITSTATUS(status))
                                  : fmt::format("killed by signal {}", WTERMSIG(status)),
                argv[0]);
  }
  return output;
}

Result<std::vector<std::string>> split_words(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t at = 0; at < command.size(); ++at) {
    const char character = command[at];
    if (character == '\\' && at + 1 < command.size() && is_escape(command[at + 1], quote)) {
      word += command[++at];
      in_word = true;
    } else if (quote != '\0') {
      if (character == quote) {
        quote = '\0';
      } else {
        word += character;
      }
    } else if (character == '\'' || character == '"') {
      quote = character;
      in_word = true;
    } else if (character == ' ' || character == '\t') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += character;
      in_word = true;
    }
  }
  if (quote != '\0') return fail(ErrorKind::runner, "unclosed quote");
  if (in_word) words.push_back(word);
  return words;
}

}  // namespace steptune::aws
