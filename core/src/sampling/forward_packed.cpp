// SPDX-License-Identifier: Apache-2.0
// Forward kernels of one instruction set for grids that jump about: over an image whose channels
// have been packed into blocks, so that one cache line brings a point's pixel for a whole block of channels. From
// planes every channel would miss the cache again (64 planes of 128 x 128, random grid: 1.8 ns a value, 0.7 if cached).
#include "cpu/kernels.hpp"
#include "sampling/interleaved_cubic.hpp"
#include "sampling/nearest_table.hpp"
#include "simd/transpose.hpp"

namespace gw {
namespace GW_ISA {

// Channels of a block: a vector's lanes, or four floats where there are few; 0: not to be packed.
template <class T>
static int block_channels(int64_t channels) {
  if (channels >= 8 && channels * 2 > simd<T>::lanes) return simd<T>::lanes;
  return sizeof(T) == 4 ? 4 : 0;
}
static int any_block_channels(int32_t type, int64_t channels) {
  return type == GW_FLOAT64 ? block_channels<double>(channels) : block_channels<float>(channels);
}

// Rows [row0, row1) of image n, channels [c0, c1): the block that starts at channel c lies at to + (c - c0) * H * W.
template <class S>
static void pack_rows(const SampleJob& job, int64_t n, int64_t c0, int64_t c1, int64_t row0, int64_t row1, void* to) {
  typedef typename storage<S>::compute T;
  const int k = block_channels<T>(job.channels);
  T* packed = static_cast<T*>(to);
  for (int64_t c = c0; c < c1; c += k, packed += job.height * job.width * k) {
    const S* x = static_cast<const S*>(job.x) + n * job.x_n + c * job.x_c;
    const int here = (int)min_of<int64_t>(k, c1 - c);
    for (int64_t y = row0; y < row1; ++y) {
      if (k == simd<T>::lanes)
        planes_to_blocks(x + y * job.x_h, job.x_c, here, job.width, packed + y * job.width * k);
      else if constexpr (sizeof(T) == 4)
        planes_to_pixels(x + y * job.x_h, job.x_c, here, job.width, packed + y * job.width * 4);
    }
  }
}

// Points outside point anywhere valid and weigh 0, so no test is needed per point.
template <class T>
static GW_INLINE typename simd<T>::V blend(const T* upper, const T* lower, T l, T r, T a, T b) {
  typedef simd<T> s;
  typedef typename s::V V;
  constexpr int k = s::lanes;
  const V left = s::splat(l), right = s::splat(r);
  const V u = s::fma(s::load(upper + k), right, s::load(upper) * left);
  const V v = s::fma(s::load(lower + k), right, s::load(lower) * left);
  return s::fma(v, s::splat(b), u * s::splat(a));
}
static GW_INLINE VF4 blend4(const float* upper, const float* lower, float l, float r, float a, float b) {
  const VF4 left = l - VF4{}, right = r - VF4{};
  return (load4(upper) * left + load4(upper + 4) * right) * (a - VF4{}) +
         (load4(lower) * left + load4(lower + 4) * right) * (b - VF4{});
}

// Coordinates and tables of one tile of a packed image, for each mode, and the values of one of its points.
template <int mode, class T>
struct PackedTile;

template <class T>
struct PackedTile<GW_BILINEAR, T> {
  typedef typename simd<T>::V V;
  static constexpr bool folds_weights = true;  // an outside tap weighs 0 and may turn infinity into NaN
  Coordinates<T> at;
  PlanarTable<T> table;

  GW_INLINE void build(const SampleJob& job, int, int count) { build_pairs<T>(job, at, count, table); }
  GW_INLINE V block(const T* image, int i) const {
    constexpr int k = simd<T>::lanes;
    return blend<T>(image + (int64_t)table.upper[i] * k, image + (int64_t)table.lower[i] * k, table.left[i],
                 table.right[i], table.above[i], table.below[i]);
  }
  GW_INLINE VF4 pixel(const float* image, int i) const {
    return blend4(image + (int64_t)table.upper[i] * 4, image + (int64_t)table.lower[i] * 4, table.left[i],
                  table.right[i], table.above[i], table.below[i]);
  }
};

template <class T>
struct PackedTile<GW_NEAREST, T> {
  typedef typename simd<T>::V V;
  static constexpr bool folds_weights = false;
  Coordinates<T> at;
  NearestTable<T> table;

  GW_INLINE void build(const SampleJob& job, int, int count) { build_offsets<T>(job, at, count, table); }
  GW_INLINE V block(const T* image, int i) const {
    return table.keep[i] ? simd<T>::load(image + (int64_t)table.offset[i] * simd<T>::lanes) : V{};
  }
  GW_INLINE VF4 pixel(const float* image, int i) const {
    return table.keep[i] ? load4(image + (int64_t)table.offset[i] * 4) : VF4{};
  }
};

template <class T>
struct PackedTile<GW_BICUBIC, T> {
  typedef typename simd<T>::V V;
  static constexpr bool folds_weights = false;
  Coordinates<T> at;
  CubicTable<T> table;

  GW_INLINE void build(SampleJob& job, int k, int count) {
    job.x_w = k;
    job.x_h = job.width * k;
    tabulate_cubic<T>(job, count, at, table);
  }
  GW_INLINE V block(const T* image, int i) const {
    return table.row[0][i] == outside ? V{} : CubicPoint<T>(image, table, i).at(0);
  }
  GW_INLINE VF4 pixel(const float* image, int i) const {
    return table.row[0][i] == outside ? VF4{} : (VF4)cubic_pixel<4, float>(image, table, i);
  }
};

// Does again, by definition, what is not a number among `count` points of `channels` channels, `step` apart: it may owe
// it to a tap with a folded weight of zero.
template <class S, class T>
static __attribute__((noinline)) void settle(const SampleJob& job, const Piece& piece, const Coordinates<T>& at, int64_t c,
                                             int channels, int first, int count, T* values, int64_t step) {
  for (int j = 0; j < channels; ++j, values += step) {
    const Plane<S> plane = {static_cast<const S*>(job.x) + piece.n0 * job.x_n + (c + j) * job.x_c, job.x_h, 1,
                            job.height, job.width};
    for (int i = 0; i < count; ++i)
      if (values[i] != values[i]) values[i] = sample_bilinear<S, T>(plane, at.x[first + i], at.y[first + i]);
  }
}

// One block of channels of a tile, a vector of points at a time.
template <class S, int mode>
static void blocks_of_lanes(const SampleJob& job, const Piece& piece, const PackedTile<mode, typename storage<S>::compute>& tile,
                            const typename storage<S>::compute* image, int64_t c, int channels, int count) {
  typedef typename storage<S>::compute T;
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  constexpr int lanes = s::lanes;
  const bool streamed = is_streamed<S>(job);
  S* out = static_cast<S*>(job.out) + piece.n0 * job.o_n + c * job.o_c + piece.first;
  for (int i = 0; i < count; i += lanes) {
    V r[lanes];
    I odd = I{};
    for (int j = 0; j < lanes; ++j) {
      r[j] = tile.block(image, i + j);
      if (storage<S>::has_nan && PackedTile<mode, T>::folds_weights) odd |= r[j] != r[j];
    }
    transpose(r);
    if (storage<S>::has_nan && PackedTile<mode, T>::folds_weights && any(odd))
      settle<S>(job, piece, tile.at, c, channels, i, min_of(lanes, count - i), reinterpret_cast<T*>(r), lanes);
    if (i + lanes <= count) {
      for (int j = 0; j < channels; ++j) write_vector<S>(out + j * job.o_c + i, r[j], streamed);
    } else {
      S last[lanes];
      for (int j = 0; j < channels; ++j) {
        storage<S>::store_vector(last, r[j]);
        memcpy(out + j * job.o_c + i, last, sizeof(S) * (size_t)(count - i));
      }
    }
  }
}

// Up to four channels of a tile.
template <class S, int mode>
static void four_channels(const SampleJob& job, const Piece& piece, const PackedTile<mode, float>& tile, const float* image, int64_t c,
                          int channels, int count) {
  typedef simd<float> s;
  alignas(64) float values[4 * tile_points];
  VF4 odd = VF4{};  // sums stay NaN once they are
  for (int i = 0; i < count; i += 4) {
    VF4 r[4];
    for (int j = 0; j < 4; ++j) {
      r[j] = tile.pixel(image, i + j);
      odd += r[j] * 0.0f;
    }
    transpose4(r);
    for (int j = 0; j < channels; ++j) store4(values + j * tile_points + i, r[j]);
  }
  const float any_odd = odd[0] + odd[1] + odd[2] + odd[3];
  if (storage<S>::has_nan && PackedTile<mode, float>::folds_weights && any_odd != any_odd)
    settle<S>(job, piece, tile.at, c, channels, 0, count, values, tile_points);
  S* out = static_cast<S*>(job.out) + piece.n0 * job.o_n + c * job.o_c + piece.first;
  for (int j = 0; j < channels; ++j, out += job.o_c) {
    const float* v = values + j * tile_points;
    int i = 0;
    for (; i + s::lanes <= count; i += s::lanes) storage<S>::store_vector(out + i, s::load(v + i));
    for (; i < count; ++i) storage<S>::store(out + i, v[i]);
  }
}

template <class S, int mode>
static void packed_piece(const SampleJob& job, const Piece& piece, const void* packed) {
  typedef typename storage<S>::compute T;
  PackedTile<mode, T> tile;
  const int k = block_channels<T>(job.channels);
  const int count = coordinates<T>(job, piece.n0, piece, tile.at);
  SampleJob dense = job;  // the packed image has rows without gaps
  dense.x_h = job.width;
  tile.build(dense, k, count);
  for (int64_t c = piece.c0; c < piece.c1; c += k) {
    const T* image = static_cast<const T*>(packed) + (c - piece.c0) * job.height * job.width;
    const int here = (int)min_of<int64_t>(k, piece.c1 - c);
    if (k == simd<T>::lanes) blocks_of_lanes<S, mode>(job, piece, tile, image, c, here, count);
    else if constexpr (sizeof(T) == 4) four_channels<S, mode>(job, piece, tile, image, c, here, count);
  }
  if (is_streamed<S>(job)) stream_fence();
}

// How many of a piece's blocks are neither windows nor outside.
static int scattered_blocks(const SampleJob& job, const Piece& piece, int* blocks) {
  Coordinates<float> at;
  PlanarTable<float> table;
  const int count = coordinates<float>(job, piece.n0, piece, at);
  build_table<float>(job, at, count, table);
  *blocks = (count + simd<float>::lanes - 1) / simd<float>::lanes;
  int scattered = 0;
  for (int b = 0; b < *blocks; ++b)
    scattered += table.block[b].reach == Reach::pairs || table.block[b].reach == Reach::pairs_at_edge;
  return scattered;
}

template <class S>
static void add_packed(Kernels& k, int type) {
  k.pack_rows[type] = pack_rows<S>;
  k.forward_packed[GW_BILINEAR][type] = packed_piece<S, GW_BILINEAR>;
  k.forward_packed[GW_NEAREST][type] = packed_piece<S, GW_NEAREST>;
  k.forward_packed[GW_BICUBIC][type] = packed_piece<S, GW_BICUBIC>;
}

void add_packed_kernels(Kernels& k) {
  k.block_channels = any_block_channels;
  k.scattered_blocks = scattered_blocks;
  add_packed<float>(k, GW_FLOAT32);
  add_packed<double>(k, GW_FLOAT64);
  add_packed<float16>(k, GW_FLOAT16);
  add_packed<bfloat16>(k, GW_BFLOAT16);
  add_packed<uint8_t>(k, GW_UINT8);
  add_packed<int8_t>(k, GW_INT8);
  add_packed<uint16_t>(k, GW_UINT16);
}

}  // namespace GW_ISA
}  // namespace gw
