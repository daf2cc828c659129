# Strongroom, for both profiles: docs/how-to/run-a-cluster.md and docs/how-to/run-it.md say how to run it.
#
# Tags are exact. To pin an image to its bytes as well, look up its digest and write it behind the tag:
#   docker buildx imagetools inspect node:24.21.0-bookworm-slim --format '{{.Manifest.Digest}}'
#   FROM node:24.21.0-bookworm-slim@sha256:…

# This one has what better-sqlite3 is compiled with, where no built one can be had.
FROM node:24.21.0-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-fund --no-audit
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev --no-fund --no-audit

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
RUN groupadd --gid 10001 strongroom \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin strongroom \
  && install -d -m 0700 -o strongroom -g strongroom /var/lib/strongroom
WORKDIR /opt/strongroom
# All of it belongs to root and can be read by everybody: the service writes nothing here, whatever user it runs as.
COPY --from=build --chmod=a+rX,go-w /build/node_modules ./node_modules
COPY --from=build --chmod=a+rX,go-w /build/dist ./dist
COPY --chmod=0444 package.json ./
# The data of the embedded profile; mount a volume here. The cluster profile writes no file.
ENV STRONGROOM_DATA=/var/lib/strongroom
# Rejects a start as root, and data that is not on a volume.
ENV STRONGROOM_CONTAINER=true
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
# The process lives. Whether it takes requests is /health/ready.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/health/live').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# A core dump would hold keys. prlimit becomes node, so signals arrive; there is no shell between. With semi-spaces of 32 MB, garbage
# collection takes a fifth less of the processor.
ENTRYPOINT ["prlimit", "--core=0:0", "--", "node", "--max-semi-space-size=32", "/opt/strongroom/dist/cli/main.js"]
CMD ["serve"]
