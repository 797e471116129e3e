// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/input_file.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "common/system_reason.hpp"
#include "common/unique_fd.hpp"

namespace steptune {
namespace {

Result<UniqueFd> open_input_file(const std::string& file) {
  std::error_code fault;
  const bool is_folder = std::filesystem::is_directory(file, fault);
  UniqueFd input(is_folder ? -1 : ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (input) return input;
  return fail(ErrorKind::usage, "cannot be read: " + system_reason(is_folder ? EISDIR : errno),
              file, "--stdin takes a file that the program reads as its standard input");
}

}  // namespace

Result<void> check_input_file(const std::string& file) {
  if (file.empty()) return {};
  const auto input = open_input_file(file);
  return input ? Result<void>() : tl::unexpected(input.error());
}

Result<void> take_input_from(const std::string& file) {
  if (file.empty()) return {};
  const auto input = open_input_file(file);
  if (!input) return tl::unexpected(input.error());
  if (::dup2(input->get(), STDIN_FILENO) >= 0) return {};
  return fail(ErrorKind::usage, "cannot be the standard input: " + system_reason(errno), file);
}

}  // namespace steptune
