# One image for every process of UndoLog; the command says which:
#   node services/api/dist/main.js · node services/compensator/dist/main.js · node migrations/dist/main.js

FROM node:22-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/shared/package.json packages/shared/
COPY packages/backends/package.json packages/backends/
COPY packages/receiver/package.json packages/receiver/
COPY packages/client/package.json packages/client/
COPY packages/cli/package.json packages/cli/
COPY packages/dashboard/package.json packages/dashboard/
COPY services/api/package.json services/api/
COPY services/compensator/package.json services/compensator/
COPY migrations/package.json migrations/
COPY demo/package.json demo/
COPY bench/package.json bench/
COPY test/package.json test/
ENV PRODUCT="-w @undolog/api -w @undolog/compensator -w @undolog/migrations -w @undolog/shared"

FROM manifests AS production
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund $PRODUCT

FROM manifests AS build
RUN npm ci --ignore-scripts --no-audit --no-fund --include-workspace-root $PRODUCT -w @undolog/dashboard -w @undolog/client
COPY tsconfig.base.json ./
COPY scripts/bundle.mjs scripts/
COPY packages/shared packages/shared
COPY packages/client packages/client
COPY packages/dashboard packages/dashboard
COPY services services
COPY migrations migrations
RUN node scripts/bundle.mjs

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=production /app ./
COPY --from=build /app/packages/dashboard/dist packages/dashboard/dist
COPY --from=build /app/services/api/dist services/api/dist
COPY --from=build /app/services/compensator/dist services/compensator/dist
COPY --from=build /app/migrations/dist migrations/dist
USER node
EXPOSE 8080 8081
# Both processes answer here without a key. A one-shot command ends before the first question.
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.UNDOLOG_HEALTH_PORT || 8081) + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Exec form: Node is the first process and gets the SIGTERM that starts the drain. (npm or a shell would keep it.)
CMD ["node", "services/api/dist/main.js"]
