// SPDX-License-Identifier: Apache-2.0
// What every binding needs: arrays as gw_tensor, and calls of core whose failures become Python's exceptions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "gridwave/gridwave.h"

namespace nb = nanobind;
using Input = nb::ndarray<nb::ro, nb::device::cpu>;
using Output = nb::ndarray<nb::device::cpu>;

template <class Array>
gw_tensor tensor_of(const Array& a, int32_t dtype) {
  gw_tensor t = {};
  t.data = const_cast<void*>(static_cast<const void*>(a.data()));
  t.dtype = dtype;
  // A rank beyond the interface's is refused by core's checks, which look at `rank` first.
  t.rank = (int32_t)a.ndim();
  for (int32_t i = 0; i < t.rank && i < GW_MAX_RANK; ++i) {
    t.shape[i] = (int64_t)a.shape((size_t)i);
    t.stride[i] = a.stride((size_t)i);
  }
  return t;
}

// Signals are looked at from inside long calls; the Python error they raise is kept for after the call.
inline int32_t check_signals(void*) {
  nb::gil_scoped_acquire held;
  return PyErr_CheckSignals();
}

inline nb::handle failure_type;  // called with (status name, text), returns the exception to raise; lives as long as the process

template <class Call>
void run(Call&& call) {
  gw_status status;
  {
    nb::gil_scoped_release released;
    gw_set_interrupt_check(check_signals, nullptr);
    status = call();
    gw_set_interrupt_check(nullptr, nullptr);
  }
  if (status == GW_OK) return;
  if (status == GW_ERROR_INTERRUPTED && PyErr_Occurred()) throw nb::python_error();
  const nb::object error = failure_type(gw_status_name(status), gw_last_error());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

// One function for each family of operators; module.cpp calls them all.
void bind_sampling(nb::module_& m);
void bind_remapping(nb::module_& m);
void bind_transforming(nb::module_& m);
void bind_splines(nb::module_& m);
void bind_double_backward(nb::module_& m);
void bind_planning(nb::module_& m);
