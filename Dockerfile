# SPDX-License-Identifier: Apache-2.0
#   docker build --target test .                      build, and run all tests of the README
#   docker build -t gridwave . && docker run --rm -v "$PWD:/work" gridwave demo photo.jpg
FROM python:3.11-bookworm AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends cmake g++ ninja-build \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /gridwave
COPY . .
RUN pip install --no-cache-dir build rust-just && just wheel

FROM build AS test
RUN pip install --no-cache-dir ".[test]" && pytest
RUN just core example

FROM python:3.11-slim-bookworm AS runtime
RUN --mount=type=bind,from=build,source=/gridwave/build/dist,target=/dist pip install --no-cache-dir /dist/*.whl
WORKDIR /work
ENTRYPOINT ["gridwave"]
CMD ["--help"]
