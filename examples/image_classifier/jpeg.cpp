// SPDX-License-Identifier: Apache-2.0
#include "image_classifier/jpeg.hpp"

#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

// Include these headers last: they need FILE and size_t but do not include their headers.
#include <jerror.h>
#include <jpeglib.h>

namespace steptune::example {

namespace {

constexpr std::uintmax_t k_file_bytes_max = 64U << 20U;
constexpr JDIMENSION k_side_px_max = 16'384;
constexpr const char* k_data_hint = "remove the file or choose another --data folder";

using FileHandle = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// libjpeg reports errors by a callback that must not return. C++ exceptions must not pass through
/// libjpeg's frames, so the callback uses `longjmp`.
struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf target;
  std::array<char, JMSG_LENGTH_MAX> message;
};

[[noreturn]] void jump_out(j_common_ptr codec) {
  auto* const manager = reinterpret_cast<ErrorManager*>(codec->err);
  manager->base.format_message(codec, manager->message.data());
  std::longjmp(manager->target, 1);
}

void on_message(j_common_ptr codec, int level) {
  if (level < 0 && codec->err->msg_code == JWRN_JPEG_EOF) jump_out(codec);
}

jpeg_error_mgr* install(ErrorManager& manager) {
  jpeg_error_mgr* const base = jpeg_std_error(&manager.base);
  base->error_exit = jump_out;
  base->emit_message = on_message;
  return base;
}

/// Decodes an image. Has no object with a destructor, because `jump_out` jumps back into this
/// function.
bool decode(const std::uint8_t* bytes, std::size_t size, ErrorManager& errors, Image& image) {
  jpeg_decompress_struct codec = {};
  codec.err = install(errors);
  if (setjmp(errors.target) != 0) {
    jpeg_destroy_decompress(&codec);
    return false;
  }
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, bytes, static_cast<unsigned long>(size));
  jpeg_read_header(&codec, TRUE);
  if (codec.image_width > k_side_px_max || codec.image_height > k_side_px_max) {
    codec.err->msg_code = JERR_IMAGE_TOO_BIG;
    codec.err->msg_parm.i[0] = static_cast<int>(k_side_px_max);
    jump_out(reinterpret_cast<j_common_ptr>(&codec));
  }
  codec.out_color_space = JCS_RGB;
  jpeg_start_decompress(&codec);
  image.width = static_cast<int>(codec.output_width);
  image.height = static_cast<int>(codec.output_height);
  image.pixels.resize(image.stride() * codec.output_height);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = image.pixels.data() + image.stride() * codec.output_scanline;
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
  jpeg_destroy_decompress(&codec);
  return true;
}

bool encode(std::FILE* file, const Image& image, int quality, ErrorManager& errors) {
  jpeg_compress_struct codec = {};
  codec.err = install(errors);
  if (setjmp(errors.target) != 0) {
    jpeg_destroy_compress(&codec);
    return false;
  }
  jpeg_create_compress(&codec);
  jpeg_stdio_dest(&codec, file);
  codec.image_width = static_cast<JDIMENSION>(image.width);
  codec.image_height = static_cast<JDIMENSION>(image.height);
  codec.input_components = 3;
  codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    // libjpeg does not write to the row, but its type is not const.
    auto* row = const_cast<JSAMPROW>(image.pixels.data() + image.stride() * codec.next_scanline);
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  return true;
}

std::string system_reason(int error) {
  return std::system_category().message(error);
}

}  // namespace

Result<Image> read_jpeg(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) {
    return fail(ErrorKind::usage, "cannot read the image: " + error.message(), file.string(),
                k_data_hint);
  }
  if (size > k_file_bytes_max) {
    return fail(ErrorKind::usage, "cannot read the image: larger than 64 MiB", file.string(),
                k_data_hint);
  }
  std::vector<std::uint8_t> bytes(size);
  const FileHandle handle(std::fopen(file.c_str(), "rb"), &std::fclose);
  if (!handle || std::fread(bytes.data(), 1, bytes.size(), handle.get()) != bytes.size()) {
    return fail(ErrorKind::usage, "cannot read the image: " + system_reason(errno), file.string(),
                k_data_hint);
  }
  ErrorManager errors;
  Image image;
  if (!decode(bytes.data(), bytes.size(), errors, image)) {
    return fail(ErrorKind::usage, std::string("cannot decode the image: ") + errors.message.data(),
                file.string(), k_data_hint);
  }
  return image;
}

Result<void> write_jpeg(const std::filesystem::path& file, const Image& image, int quality) {
  const std::filesystem::path part = file.string() + ".part";
  FileHandle handle(std::fopen(part.c_str(), "wb"), &std::fclose);
  if (!handle) {
    return fail(ErrorKind::usage, "cannot write: " + system_reason(errno), part.string());
  }
  ErrorManager errors;
  if (!encode(handle.get(), image, quality, errors)) {
    return fail(ErrorKind::usage, std::string("cannot write: ") + errors.message.data(),
                part.string());
  }
  if (std::fclose(handle.release()) != 0) {
    return fail(ErrorKind::usage, "cannot write: " + system_reason(errno), part.string());
  }
  std::error_code error;
  std::filesystem::rename(part, file, error);
  if (error) return fail(ErrorKind::usage, "cannot write: " + error.message(), file.string());
  return {};
}

}  // namespace steptune::example
