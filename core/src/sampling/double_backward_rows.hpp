// SPDX-License-Identifier: Apache-2.0
// A block's channels side by side in the arithmetic's type: read where they lie so already, packed where it pays, and
// gathered element by element for the few points of a large image.
#pragma once

#include "sampling/double_backward.hpp"
#include "simd/storage.hpp"

namespace gw {
namespace GW_ISA {

// A vector of any width, which the compiler splits into the machine's own. A template alias would lose the attribute.
template <class T, int width>
struct RowOf {
  typedef T V __attribute__((vector_size(sizeof(T) * width)));
};

template <class T>
GW_INLINE T load_as(int32_t type, const void* data, int64_t offset) {
  switch (type) {
    case GW_FLOAT64: return (T) static_cast<const double*>(data)[offset];
    case GW_FLOAT16: return (T)storage<float16>::load(static_cast<const float16*>(data) + offset);
    case GW_BFLOAT16: return (T)storage<bfloat16>::load(static_cast<const bfloat16*>(data) + offset);
    default: return (T) static_cast<const float*>(data)[offset];
  }
}
template <class T>
GW_INLINE void store_as(int32_t type, void* data, int64_t offset, T value) {
  switch (type) {
    case GW_FLOAT64: static_cast<double*>(data)[offset] = (double)value; break;
    case GW_FLOAT16: storage<float16>::store(static_cast<float16*>(data) + offset, (float)value); break;
    case GW_BFLOAT16: storage<bfloat16>::store(static_cast<bfloat16*>(data) + offset, (float)value); break;
    default: static_cast<float*>(data)[offset] = (float)value;
  }
}

// A block of one image: strides of its pixels and channels in elements of `type`; `rows`: its channels lie side by side
// in the arithmetic's type, as many as rows are wide.
struct Block {
  char* data;
  int64_t s[3], c;
  int32_t type, channels;
  bool rows;
};

template <class T>
inline Block block_of(const Strided& a, int32_t type, const DoubleBackwardPiece& piece) {
  Block b = {};
  const int64_t size = type == GW_FLOAT64 ? 8 : type == GW_FLOAT32 ? 4 : 2;
  b.data = static_cast<char*>(a.data) + (piece.n * a.n + piece.c0 * a.c) * size;
  for (int i = 0; i < 3; ++i) b.s[i] = a.s[i];
  b.c = a.c;
  b.type = type;
  b.channels = piece.channels;
  b.rows = size == (int64_t)sizeof(T) && piece.channels % piece.width == 0 && (a.c == 1 || piece.width == 1);
  return b;
}

// The same block packed at `memory`, dense.
template <class T>
inline Block packed(const Block& from, const int64_t (&lengths)[3], int32_t width, void* memory) {
  Block b = from;
  b.data = static_cast<char*>(memory);
  b.s[2] = width;
  b.s[1] = lengths[2] * width;
  b.s[0] = lengths[1] * b.s[1];
  b.c = 1;
  b.type = sizeof(T) == 8 ? GW_FLOAT64 : GW_FLOAT32;
  b.rows = true;
  return b;
}

template <class T, int width>
GW_INLINE typename RowOf<T, width>::V load_row(const Block& b, int64_t offset) {
  typename RowOf<T, width>::V v = {};
  if (b.rows) {
    memcpy(&v, b.data + offset * (int64_t)sizeof(T), sizeof v);
  } else {
    for (int c = 0; c < b.channels; ++c) v[c] = load_as<T>(b.type, b.data, offset + c * b.c);
  }
  return v;
}
template <class T, int width>
GW_INLINE void store_row(const Block& b, int64_t offset, typename RowOf<T, width>::V v) {
  if (b.rows) {
    memcpy(b.data + offset * (int64_t)sizeof(T), &v, sizeof v);
  } else {
    for (int c = 0; c < b.channels; ++c) store_as<T>(b.type, b.data, offset + c * b.c, v[c]);
  }
}

// Calls move(pixel of the packed block, offset in the other one, channel) for those of the lines [first, last), counted
// along the two outer axes, and inside a line along the shorter stride: sixteen pixels of a channel, a cache line of
// floats, before the next channel, so that rows stay in the cache until they are full.
template <class Move>
inline void each_element(const Block& b, const int64_t (&lengths)[3], int64_t first, int64_t last, Move&& move) {
  const auto size = [](int64_t stride) { return stride < 0 ? -stride : stride; };
  const bool by_channel = size(b.c) > size(b.s[2]);
  for (int64_t l = first; l < last; ++l) {
    const int64_t line = l / lengths[1] * b.s[0] + l % lengths[1] * b.s[1], pixel = l * lengths[2];
    for (int64_t k0 = 0; k0 < lengths[2]; k0 += 16) {
      const int64_t k1 = min_of(k0 + 16, lengths[2]);
      if (by_channel) {
        for (int c = 0; c < b.channels; ++c)
          for (int64_t k = k0; k < k1; ++k) move(pixel + k, line + c * b.c + k * b.s[2], c);
      } else {
        for (int64_t k = k0; k < k1; ++k)
          for (int c = 0; c < b.channels; ++c) move(pixel + k, line + c * b.c + k * b.s[2], c);
      }
    }
  }
}

template <class S, class T>
inline void pack_typed(const Block& from, const int64_t (&lengths)[3], int32_t width, T* to) {
  const S* data = reinterpret_cast<const S*>(from.data);
  if (from.channels < width) memset(to, 0, sizeof(T) * (size_t)(lengths[0] * lengths[1] * lengths[2] * width));
  each_element(from, lengths, 0, lengths[0] * lengths[1], [&](int64_t pixel, int64_t offset, int c) {
    to[pixel * width + c] = (T)storage<S>::load(data + offset);
  });
}

// The sum of `count` packed blocks, `step` elements apart, added in order.
template <class S, class T>
inline void unpack_typed(const T* from, int64_t count, int64_t step, const int64_t (&lengths)[3], int64_t first,
                         int64_t last, int32_t width, const Block& to) {
  S* data = reinterpret_cast<S*>(to.data);
  each_element(to, lengths, first, last, [&](int64_t pixel, int64_t offset, int c) {
    T sum = from[pixel * width + c];
    for (int64_t i = 1; i < count; ++i) sum += from[i * step + pixel * width + c];
    storage<S>::store(data + offset, sum);
  });
}

template <class T>
inline void pack_rows(const Block& from, const int64_t (&lengths)[3], int32_t width, T* to) {
  if (from.type == GW_FLOAT64) pack_typed<double, T>(from, lengths, width, to);
  else if (from.type == GW_FLOAT16) pack_typed<float16, T>(from, lengths, width, to);
  else if (from.type == GW_BFLOAT16) pack_typed<bfloat16, T>(from, lengths, width, to);
  else pack_typed<float, T>(from, lengths, width, to);
}
template <class T>
inline void unpack_rows(const T* from, int64_t count, int64_t step, const int64_t (&lengths)[3], int64_t first,
                        int64_t last, int32_t width, const Block& to) {
  if (to.type == GW_FLOAT64) unpack_typed<double, T>(from, count, step, lengths, first, last, width, to);
  else if (to.type == GW_FLOAT16) unpack_typed<float16, T>(from, count, step, lengths, first, last, width, to);
  else if (to.type == GW_BFLOAT16) unpack_typed<bfloat16, T>(from, count, step, lengths, first, last, width, to);
  else unpack_typed<float, T>(from, count, step, lengths, first, last, width, to);
}

// Elements at `offset`, plus those of the block's other channels, as rows at `to`; and back.
template <class S, class T>
inline void gather_typed(const Block& from, const int64_t* offset, int count, int32_t width, T* to) {
  const S* data = reinterpret_cast<const S*>(from.data);
  for (int c = 0; c < width; ++c)
    for (int p = 0; p < count; ++p)
      to[p * width + c] = c < from.channels ? (T)storage<S>::load(data + offset[p] + c * from.c) : T(0);
}
template <class S, class T>
inline void scatter_typed(const T* from, const int64_t* offset, int count, int32_t width, const Block& to) {
  S* data = reinterpret_cast<S*>(to.data);
  for (int c = 0; c < to.channels; ++c)
    for (int p = 0; p < count; ++p) storage<S>::store(data + offset[p] + c * to.c, from[p * width + c]);
}
template <class T>
inline void gather_points(const Block& from, const int64_t* offset, int count, int32_t width, T* to) {
  if (from.type == GW_FLOAT64) gather_typed<double, T>(from, offset, count, width, to);
  else if (from.type == GW_FLOAT16) gather_typed<float16, T>(from, offset, count, width, to);
  else if (from.type == GW_BFLOAT16) gather_typed<bfloat16, T>(from, offset, count, width, to);
  else gather_typed<float, T>(from, offset, count, width, to);
}
template <class T>
inline void scatter_points(const T* from, const int64_t* offset, int count, int32_t width, const Block& to) {
  if (to.type == GW_FLOAT64) scatter_typed<double, T>(from, offset, count, width, to);
  else if (to.type == GW_FLOAT16) scatter_typed<float16, T>(from, offset, count, width, to);
  else if (to.type == GW_BFLOAT16) scatter_typed<bfloat16, T>(from, offset, count, width, to);
  else scatter_typed<float, T>(from, offset, count, width, to);
}

// Zeros of any type are zero bits.
inline void clear(const Block& b, const int64_t (&lengths)[3]) {
  const bool eight = b.type == GW_FLOAT64, four = b.type == GW_FLOAT32;
  each_element(b, lengths, 0, lengths[0] * lengths[1], [&](int64_t, int64_t offset, int) {
    if (eight) reinterpret_cast<double*>(b.data)[offset] = 0;
    else if (four) reinterpret_cast<float*>(b.data)[offset] = 0;
    else reinterpret_cast<float16*>(b.data)[offset] = float16{0};
  });
}

}  // namespace GW_ISA
}  // namespace gw
