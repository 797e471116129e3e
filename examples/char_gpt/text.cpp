// SPDX-License-Identifier: Apache-2.0
#include "char_gpt/text.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

namespace steptune::example {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t k_text_bytes_max = std::uintmax_t{1} << 30U;
constexpr const char* k_default_folder = "/usr/share/common-licenses";
constexpr const char* k_hint = "name a text file with --data FILE";

Result<std::string> read_file(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) {
    return fail(ErrorKind::usage, "cannot read the text: " + error.message(), file.string(),
                k_hint);
  }
  if (size > k_text_bytes_max) {
    return fail(ErrorKind::usage, "cannot read the text: larger than 1 GiB", file.string(), k_hint);
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(size, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(size))) {
    return fail(ErrorKind::usage, "cannot read the text", file.string(), k_hint);
  }
  return text;
}

Result<std::string> read_licences() {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(k_default_folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    // Skip links: GPL is a link to GPL-3, which would be read twice.
    if (!it->is_symlink() && it->is_regular_file()) files.push_back(it->path());
  }
  if (error) {
    return fail(ErrorKind::usage, "cannot read the folder: " + error.message(), k_default_folder,
                k_hint);
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) {
    const Result<std::string> part = read_file(file);
    if (!part) return part;
    text += *part;
  }
  return text;
}

}  // namespace

Result<std::string> read_text(const fs::path& file) {
  return file.empty() ? read_licences() : read_file(file);
}

EncodedText encode(std::string_view text) {
  std::array<bool, 256> occurs = {};
  for (const char character : text)
    occurs[static_cast<std::uint8_t>(character)] = true;
  std::array<std::uint8_t, 256> symbol_of = {};
  EncodedText encoded;
  for (std::size_t byte = 0; byte < occurs.size(); ++byte) {
    if (occurs[byte]) symbol_of[byte] = static_cast<std::uint8_t>(encoded.symbol_count++);
  }
  encoded.symbols.reserve(text.size());
  for (const char character : text) {
    encoded.symbols.push_back(symbol_of[static_cast<std::uint8_t>(character)]);
  }
  return encoded;
}

}  // namespace steptune::example
