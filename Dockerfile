# SPDX-License-Identifier: Apache-2.0
# One image for the agent, the collector and the tool: `make image` builds it (docs/image.md).
#
# DEBIAN names the base by what it is; sites without a registry tag one of their own so (docs/image.md). The programs are
# built and run on the same one, so what they are linked with is what is installed. BUILD_DEBIAN is that Debian for the machine
# that builds: an image for arm64 is cross-built there, and only its own packages are set up by an emulator.
ARG DEBIAN=docker.io/library/debian:trixie-slim
ARG BUILD_DEBIAN=${DEBIAN}

FROM --platform=$BUILDPLATFORM ${BUILD_DEBIAN} AS build
ENV DEBIAN_FRONTEND=noninteractive
ARG ARCH=
COPY tools/deps /src/tools/deps
COPY tests/e2e/axe.lock /src/tests/e2e/axe.lock
RUN apt-get update && cd /src && tools/deps ${ARCH:+--for "$ARCH"} build
COPY . /src
ARG VERSION=0.1.0-dev
RUN cd /src && v=${ARCH:-release} && make VARIANT="$v" VERSION="$VERSION" && \
    install -d /out/usr/bin /out/usr/share/doc/bankfull && \
    install -m 0711 build/$v/bankfull build/$v/bankfull-collector build/$v/bankfull-watch /out/usr/bin && \
    "${ARCH:+aarch64-linux-gnu-}strip" /out/usr/bin/* && \
    install -m 0644 LICENSE NOTICE /out/usr/share/doc/bankfull && \
    tools/image-packages /out/usr/bin/* >/packages

FROM ${DEBIAN}
# Programs that nobody may read: what runs them then cannot be looked into by its own user either (ptrace(2)).
COPY --from=build /packages /tmp/packages
RUN apt-get update && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates $(cat /tmp/packages) && \
    rm -rf /tmp/packages /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log && \
    echo 'bankfull:x:9999:' >>/etc/group && \
    echo 'bankfull:x:9999:9999:Bankfull:/nonexistent:/usr/sbin/nologin' >>/etc/passwd && \
    install -d -o 9999 -g 9999 -m 0750 /var/lib/bankfull
COPY --from=build /out/ /
ARG VERSION=0.1.0-dev
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Bankfull" \
      org.opencontainers.image.description="Who ate the memory of a Flink or Kafka Streams pod, before the kernel kills it" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED"
# User and group of Flink's own images: the kernel shows a process to one of the same two alone.
USER 9999:9999
ENTRYPOINT ["/usr/bin/bankfull"]
CMD ["--help"]
