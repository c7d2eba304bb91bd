# The words of the project. Continuous integration (.ci/run) says the same ones.
# SPDX-License-Identifier: Apache-2.0

set shell := ["bash", "-euo", "pipefail", "-c"]

export CMAKE_GENERATOR := env("CMAKE_GENERATOR", "Ninja")
export CMAKE_BUILD_PARALLEL_LEVEL := env("CMAKE_BUILD_PARALLEL_LEVEL", num_cpus())
export CTEST_OUTPUT_ON_FAILURE := "1"

build := env("GRIDWAVE_BUILD", "build")

# The words.
default:
    @just --list --unsorted

# Lint, types and test: what a change must pass.
check: lint types test

# pytest, on what is installed.
test *arguments:
    pytest {{ arguments }}

# ruff, and import-linter for the floors.
lint:
    ruff check .
    ruff format --check .
    lint-imports

# mypy, strict.
types:
    mypy

# Build the core alone and run its own tests.
core:
    cmake -S core -B {{ build }}/core
    cmake --build {{ build }}/core
    ctest --test-dir {{ build }}/core

# The core's kernel tests with the kernels of one instruction set: x86-64-v2, x86-64-v3 or x86-64-v4.
core-isa name: core
    GRIDWAVE_ISA={{ name }} ctest --test-dir {{ build }}/core -L kernels

# The core's tests under address, undefined-behaviour and thread sanitizers.
sanitize: sanitize-memory sanitize-threads

# Address and undefined-behaviour sanitizers.
sanitize-memory: (sanitizer "address,undefined" "memory")
    ctest --test-dir {{ build }}/memory

# Thread sanitizer: the drivers that use threads. Without address randomisation, where that may be had: GCC 12's does
# not stand much of it.
sanitize-threads: (sanitizer "thread" "threads")
    fixed=$(setarch --addr-no-randomize true 2>/dev/null && echo setarch --addr-no-randomize || true); \
    $fixed ctest --test-dir {{ build }}/threads -L threads

# One set of kernels: three would take three times as long, and the tests watch memory without sanitizers too.
[private]
sanitizer names folder:
    cmake -S core -B {{ build }}/{{ folder }} -DGRIDWAVE_SANITIZE={{ names }} -DGRIDWAVE_KERNELS=v3
    cmake --build {{ build }}/{{ folder }}

# Calls with random and hostile arguments over gridwave.h, under sanitizers.
fuzz seconds="60" *arguments: (sanitizer "address,undefined" "memory")
    {{ build }}/memory/tests/fuzz --seconds {{ seconds }} {{ arguments }}

# Cross-compile for 64-bit Arm and run the core's tests under QEMU.
aarch64:
    cmake -S core -B {{ build }}/aarch64 --toolchain "$PWD/core/cmake/aarch64-linux-gnu.cmake"
    cmake --build {{ build }}/aarch64
    ctest --test-dir {{ build }}/aarch64 -LE native

# Install the core, build the C example against it, and run it.
example: core
    cmake --install {{ build }}/core --prefix {{ build }}/prefix
    cmake -S examples/c -B {{ build }}/example -DCMAKE_PREFIX_PATH="$(realpath {{ build }}/prefix)"
    cmake --build {{ build }}/example
    ctest --test-dir {{ build }}/example

# A source distribution, and a wheel made from it, in dist/.
wheel:
    python -m build --outdir {{ build }}/dist

# Measure against the other libraries installed here.
bench *arguments:
    gridwave bench sampling {{ arguments }}

# Compare results with the other libraries, live: in an environment of its own, made on first use.
peers *arguments:
    test -x .venv-peers/bin/python || python3 -m venv .venv-peers
    .venv-peers/bin/python -m pip install --quiet --upgrade pip
    .venv-peers/bin/python -m pip install --quiet torch==2.13.0
    .venv-peers/bin/python -m pip install --quiet ".[test,peers]"
    .venv-peers/bin/python -m pytest {{ arguments }}
