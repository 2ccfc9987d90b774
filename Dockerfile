# The image of the gateway: a root file system with Node, the gateway and nothing else. No shell, no package manager.
FROM node:26-trixie-slim AS build
WORKDIR /src
COPY . .
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends mmdebstrap \
  && npm ci \
  && npm run image:rootfs -- --out /rootfs

FROM scratch
COPY --from=build /rootfs/ /
USER 65532:0
WORKDIR /data
# Names of files, not secrets.
# hadolint ignore=DL3064
ENV NODE_ENV=production \
  GATEWAY_ENV=production \
  API_KEY_STORE_BACKEND=sqlite \
  API_KEY_STORE_DSN=/data/keys.db \
  CONFIG_STORE_BACKEND=sqlite \
  CONFIG_STORE_DSN=/data/config.db \
  REQUEST_LOG_STORE_BACKEND=sqlite \
  REQUEST_LOG_STORE_DSN=/data/requests.db \
  SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
EXPOSE 8080
VOLUME /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["/usr/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/readyz?ignore=targets,mcp`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/bin/node", "--max-old-space-size-percentage=60", "/opt/gw/dist/gw.js"]
CMD ["serve"]
