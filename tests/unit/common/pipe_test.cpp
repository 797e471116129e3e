// SPDX-License-Identifier: Apache-2.0
#include "common/pipe.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace steptune {
namespace {

Pipe pipe_with(const std::string& text) {
  auto pipe = make_pipe();
  if (!pipe) throw std::runtime_error(pipe.error().text());
  EXPECT_EQ(::write(pipe->write.get(), text.data(), text.size()),
            static_cast<ssize_t>(text.size()));
  pipe->write.reset();
  return *std::move(pipe);
}

TEST(Pipe, ChildrenInheritNoEnd) {
  const auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  for (const int end : {pipe->read.get(), pipe->write.get()})
    EXPECT_EQ(::fcntl(end, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(Pipe, IsReadToItsEnd) {
  const std::string text(10'000, 'x');
  EXPECT_EQ(read_to_end(pipe_with(text).read, std::numeric_limits<std::size_t>::max()), text);
  EXPECT_EQ(read_to_end(pipe_with("").read, 10), "");
}

TEST(Pipe, BytesBeyondTheLimitAreReadAndDropped) {
  const Pipe pipe = pipe_with(std::string(5'000, 'x') + std::string(5'000, 'y'));
  EXPECT_EQ(read_to_end(pipe.read, 5'001), std::string(5'000, 'x') + "y");
  char more = 0;
  EXPECT_EQ(::read(pipe.read.get(), &more, 1), 0) << "nothing is left";
}

}  // namespace
}  // namespace steptune
