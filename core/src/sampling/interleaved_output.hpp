// SPDX-License-Identifier: Apache-2.0
// Where a piece's pixels go when channels are last: straight to the output, or by way of whole lines past the caches.
#pragma once

#include "sampling/job.hpp"
#include "simd/stream.hpp"

namespace gw {
namespace GW_ISA {

// No tap of this point counts. Offsets are larger: an image reaches less than 2^31 elements either way.
constexpr int32_t outside = INT32_MIN;

// Narrow pixels of an image larger than a core's own cache are asked for this many points ahead, four channels being too
// few to hide the way to memory (4 x 720 x 1280 x 3, float32: 38 ms without, 22 at 32 points, 18.4 at 64, 18.1 at 96).
// In cache it costs a sixth, and with wide pixels nothing is gained.
constexpr int prefetch_distance = 64;
template <class S>
GW_INLINE bool is_far(const SampleJob& job) {
  return job.height * job.width * job.channels * (int64_t)sizeof(S) > int64_t{1} << 20;
}

// Calls point(i, to, spill) for every point of a piece, i counted along its tile. With `spill` set it may also write
// into the pixel after its own: that one comes next, or lies in a buffer. `phase`: bytes by
// which `to` is best off a line's start.
template <class S, class F>
GW_INLINE void write_points(const SampleJob& job, const Piece& piece, int64_t n, int phase, F point) {
  const int64_t channels = job.channels, pixel_bytes = channels * (int64_t)sizeof(S);
  const bool streamed = piece.c0 == 0 && piece.c1 == channels && pixel_bytes <= LineBuffer::capacity &&
                        job.batches * job.points() * pixel_bytes > streamed_output_bytes;
  S* out = static_cast<S*>(job.out) + n * job.o_n + piece.first * channels + piece.c0;
  for (int r = 0, i = 0; r < piece.rows; ++r, out += job.out_width * channels) {
    if (streamed) {
      LineBuffer buffer(out, phase);
      for (int k = 0; k < piece.length; ++k, ++i) {
        point(i, reinterpret_cast<S*>(buffer.next()), true);
        buffer.advance((int)pixel_bytes);
      }
      buffer.finish();
    } else {
      S* to = out;
      const int last = i + piece.length - 1;
      for (; i < last; ++i, to += channels) point(i, to, true);
      for (; i <= last; ++i) point(i, to, false);
    }
  }
  if (streamed) stream_fence();
}

}  // namespace GW_ISA
}  // namespace gw
