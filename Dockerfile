# Strongroom for both profiles. docs/how-to/run-a-cluster.md and docs/how-to/run-it.md explain how to run it.
#
# Tags are exact. To pin the bytes of an image as well, look up its digest and append it to the tag:
#   docker buildx imagetools inspect node:24.21.0-bookworm-slim --format '{{.Manifest.Digest}}'
#   FROM node:24.21.0-bookworm-slim@sha256:…

# This image contains the tools to compile better-sqlite3 if there is no prebuilt binary.
FROM node:24.21.0-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-fund --no-audit
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/bundle.mjs ./scripts/
COPY src ./src
RUN npm run build && npm prune --omit=dev --no-fund --no-audit

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
RUN groupadd --gid 10001 strongroom \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin strongroom \
  && install -d -m 0700 -o strongroom -g strongroom /var/lib/strongroom
WORKDIR /opt/strongroom
# All files belong to root and are readable by all users. The service writes nothing here, regardless of the user that
# it runs as.
COPY --from=build --chmod=a+rX,go-w /build/node_modules ./node_modules
COPY --from=build --chmod=a+rX,go-w /build/dist ./dist
COPY --chmod=0444 package.json ./
# The data of the embedded profile. Mount a volume here. The cluster profile writes no files.
ENV STRONGROOM_DATA=/var/lib/strongroom
# Rejects a start as root and data that is not on a volume.
ENV STRONGROOM_CONTAINER=true
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
# Checks that the process is alive. /health/ready reports whether it accepts requests.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/health/live').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# A core dump would contain keys. prlimit replaces itself with node, with no shell in between, so signals arrive.
ENTRYPOINT ["prlimit", "--core=0:0", "--", "node", "/opt/strongroom/dist/bin/strongroom.js"]
CMD ["serve"]
