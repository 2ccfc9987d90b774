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
ENV NODE_ENV=production \
  GATEWAY_ENV=production \
  GW_DATA_DIR=/data \
  SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
EXPOSE 8080
VOLUME /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["/usr/bin/node", "/opt/gw/dist/gw.js", "probe", "--ignore", "targets,mcp"]
ENTRYPOINT ["/usr/bin/node", "--max-old-space-size-percentage=60", "/opt/gw/dist/gw.js"]
CMD ["serve"]
