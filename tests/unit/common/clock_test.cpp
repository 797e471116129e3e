// SPDX-License-Identifier: Apache-2.0
#include "common/clock.hpp"

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "common/secret.hpp"
#include "common/unique_fd.hpp"

namespace steptune {
namespace {

TEST(VirtualClock, AdvancesOnlyOnRequest) {
  VirtualClock clock(1000.0);
  EXPECT_EQ(clock.now_s(), 0.0);
  EXPECT_EQ(clock.wall_time_s(), 1000.0);
  clock.advance_to(2.5);
  EXPECT_EQ(clock.now_s(), 2.5);
  EXPECT_EQ(clock.wall_time_s(), 1002.5);
  clock.advance_to(1.0);
  EXPECT_EQ(clock.now_s(), 2.5) << "time never goes back";
}

TEST(SystemClock, NeverGoesBack) {
  const SystemClock clock;
  double last_s = clock.now_s();
  for (int i = 0; i < 1000; ++i) {
    const double now_s = clock.now_s();
    EXPECT_GE(now_s, last_s);
    last_s = now_s;
  }
  EXPECT_GT(clock.wall_time_s(), 1.6e9) << "after 2020";
}

TEST(Error, TextHasPlaceAndHint) {
  EXPECT_EQ((Error{ErrorKind::usage, "is not valid", "", ""}.text()), "is not valid");
  EXPECT_EQ((Error{ErrorKind::usage, "is not valid", "a.json#/x", ""}.text()),
            "a.json#/x: is not valid");
  EXPECT_EQ((Error{ErrorKind::usage, "is not valid", "a.json", "write 1"}.text()),
            "a.json: is not valid\n  write 1");
}

TEST(Error, AFailedResultHasAllPartsOfIt) {
  const Result<int> result = fail(ErrorKind::runner, "no such program", "trial 1", "install it");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), (Error{ErrorKind::runner, "no such program", "trial 1", "install it"}));
}

template <typename T>
concept Streamable = requires(std::ostream& stream, const T& value) {
  stream << value;
};

TEST(Secret, IsRevealedOnPurposeOnly) {
  static_assert(!Streamable<Secret>);
  static_assert(!std::is_convertible_v<Secret, std::string>);
  EXPECT_TRUE(Secret().empty());
  EXPECT_EQ(Secret("key").reveal(), "key");
  EXPECT_EQ(Secret("key"), Secret("key"));
  EXPECT_NE(Secret("key"), Secret("kez"));
}

bool is_open(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) >= 0;
}

TEST(UniqueFd, ClosesItsDescriptorAtTheEndOfItsScope) {
  int number = -1;
  {
    const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(file);
    number = file.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
  EXPECT_FALSE(UniqueFd());
}

TEST(UniqueFd, MovesOwnership) {
  UniqueFd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = first.get();
  UniqueFd second(std::move(first));
  EXPECT_EQ(second.get(), number);
  UniqueFd third(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_EQ(third.get(), number);
  EXPECT_FALSE(is_open(replaced)) << "the previous descriptor is closed";
  third.reset();
  EXPECT_FALSE(third);
  EXPECT_FALSE(is_open(number));
}

}  // namespace
}  // namespace steptune
