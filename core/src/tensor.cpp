// SPDX-License-Identifier: Apache-2.0
#include "tensor.hpp"

#include <cstdio>
#include <cstring>

#include "failure.hpp"

namespace gw {

void fail(gw_status status, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  throw Failure(status, text);
}

std::string shape_text(const gw_tensor& t) {
  std::string s = "(";
  for (int i = 0; i < t.rank && i < GW_MAX_RANK; ++i) s += (i ? ", " : "") + std::to_string(t.shape[i]);
  return s + (t.rank == 1 ? ",)" : ")");
}

const char* type_name(int32_t dtype) {
  static const char* const names[] = {"float32", "float64", "float16", "bfloat16", "uint8", "int8",
                                      "uint16",  "int16",   "int32",   "int64"};
  return dtype >= 0 && dtype <= GW_INT64 ? names[dtype] : "unknown";
}

int64_t type_size(int32_t dtype) {
  static const int64_t sizes[] = {4, 8, 2, 2, 1, 1, 2, 2, 4, 8};
  return sizes[dtype];
}

bool is_float(int32_t dtype) { return dtype >= GW_FLOAT32 && dtype <= GW_BFLOAT16; }

int64_t element_count(const gw_tensor& t) {
  int64_t count = 1;
  for (int i = 0; i < t.rank; ++i) count *= t.shape[i];
  return count;
}

namespace {

// Bytes from t.data to the lowest and past the highest byte of any element. False if that does not fit in 63 bits.
bool byte_range(const gw_tensor& t, int64_t* low, int64_t* high) {
  const int64_t size = type_size(t.dtype);
  *low = 0;
  *high = size;
  for (int i = 0; i < t.rank; ++i) {
    int64_t reach, bytes;
    if (__builtin_mul_overflow(t.shape[i] - 1, t.stride[i], &reach) || __builtin_mul_overflow(reach, size, &bytes))
      return false;
    if (__builtin_add_overflow(bytes < 0 ? *low : *high, bytes, bytes < 0 ? low : high)) return false;
  }
  return true;
}

}  // namespace

void check_tensor(const char* name, const gw_tensor& t, bool plan) {
  if (t.dtype < 0 || t.dtype > GW_INT64)
    fail(GW_ERROR_DTYPE, "%s has dtype code %d; the codes are those of gw_dtype, 0 to %d", name, t.dtype, GW_INT64);
  if (t.rank < 0 || t.rank > GW_MAX_RANK)
    fail(GW_ERROR_SHAPE, "%s must have at most %d axes; got %d", name, GW_MAX_RANK, t.rank);
  int64_t count = 1;
  for (int i = 0; i < t.rank; ++i) {
    if (t.shape[i] < 0) fail(GW_ERROR_SHAPE, "%s has a negative length: %s", name, shape_text(t).c_str());
    if (t.shape[i] != 0 && __builtin_mul_overflow(count, t.shape[i], &count))
      fail(GW_ERROR_SHAPE, "%s has more elements than 64 bits count: %s", name, shape_text(t).c_str());
  }
  int64_t bytes;
  if (__builtin_mul_overflow(count, int64_t{8}, &bytes))
    fail(GW_ERROR_SHAPE, "%s has more bytes than 64 bits count: %s", name, shape_text(t).c_str());
  if (element_count(t) == 0) return;
  int64_t low, high;
  if (!byte_range(t, &low, &high))
    fail(GW_ERROR_SHAPE, "%s has strides that reach past 64-bit addresses; shape %s", name, shape_text(t).c_str());
  if (!plan && t.data == nullptr) fail(GW_ERROR_ARGUMENT, "%s has no data: its pointer is null", name);
}

void check_no_overlap(const char* out_name, const gw_tensor& out, const char* in_name, const gw_tensor& in) {
  if (element_count(out) == 0 || element_count(in) == 0) return;
  int64_t a0, a1, b0, b1;
  byte_range(out, &a0, &a1);
  byte_range(in, &b0, &b1);
  const char* o = static_cast<const char*>(out.data);
  const char* i = static_cast<const char*>(in.data);
  if (o + a0 < i + b1 && i + b0 < o + a1)
    fail(GW_ERROR_SHAPE, "%s overlaps the memory of %s; give an array of its own", out_name, in_name);
}

void check_writable(const char* name, const gw_tensor& t) {
  // Enough for every array a slice or a transpose makes: sorted by stride, each axis must step over the ones below it.
  if (element_count(t) == 0) return;
  int order[GW_MAX_RANK], axes = 0;
  for (int i = 0; i < t.rank; ++i)
    if (t.shape[i] > 1) order[axes++] = i;
  const auto step = [&](int i) { return t.stride[order[i]] < 0 ? -t.stride[order[i]] : t.stride[order[i]]; };
  for (int i = 1; i < axes; ++i)
    for (int j = i; j > 0 && step(j) < step(j - 1); --j) {
      const int swap = order[j];
      order[j] = order[j - 1];
      order[j - 1] = swap;
    }
  int64_t reach = 0;
  for (int i = 0; i < axes; ++i) {
    if (step(i) <= reach)
      fail(GW_ERROR_SHAPE, "%s has elements that share memory (strides overlap); give an array without broadcasting", name);
    reach += step(i) * (t.shape[order[i]] - 1);
  }
}

gw_tensor permuted(const gw_tensor& t, const int (&order)[4]) {
  gw_tensor r = t;
  for (int i = 0; i < 4; ++i) {
    r.shape[i] = t.shape[order[i]];
    r.stride[i] = t.stride[order[i]];
  }
  return r;
}

gw_tensor contiguous(const gw_tensor& t, void* data) {
  gw_tensor r = t;
  r.data = data;
  int64_t stride = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    r.stride[i] = stride;
    stride *= t.shape[i];
  }
  return r;
}

namespace {

template <class E>
void copy_elements(const gw_tensor& from, const gw_tensor& to, int axis, const E* source, E* target) {
  const int64_t length = from.shape[axis], step = from.stride[axis], pace = to.stride[axis];
  if (axis + 1 < from.rank) {
    for (int64_t i = 0; i < length; ++i) copy_elements(from, to, axis + 1, source + i * step, target + i * pace);
  } else if (step == 1 && pace == 1) {
    std::memcpy(target, source, sizeof(E) * (size_t)length);
  } else {
    for (int64_t i = 0; i < length; ++i) target[i * pace] = source[i * step];
  }
}
template <class E>
void copy_elements(const gw_tensor& from, const gw_tensor& to) {
  const E* source = static_cast<const E*>(from.data);
  E* target = static_cast<E*>(to.data);
  if (from.rank == 0) *target = *source;
  else copy_elements(from, to, 0, source, target);
}

}  // namespace

void copy_tensor(const gw_tensor& from, const gw_tensor& to) {
  if (element_count(from) == 0) return;
  switch (type_size(from.dtype)) {
    case 1: copy_elements<uint8_t>(from, to); break;
    case 2: copy_elements<uint16_t>(from, to); break;
    case 4: copy_elements<uint32_t>(from, to); break;
    default: copy_elements<uint64_t>(from, to);
  }
}

bool is_contiguous(const gw_tensor& t) {
  int64_t stride = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    if (t.shape[i] != 1 && t.stride[i] != stride) return false;
    stride *= t.shape[i];
  }
  return true;
}

}  // namespace gw
