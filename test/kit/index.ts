export { TEST_BUILTINS } from './builtins.ts';
export { copyCheckout, type MochaResult, mochaIn } from './checkout.ts';
export { atEnd, forSuite } from './cleanup.ts';
export { MOST_TURNS, turnsUntil } from './counted.ts';
export { fakeClock, type FakeClock } from './clock.ts';
export * from './faults/index.ts';
export { type PgBouncerOptions, startPgBouncer } from './faults/pgbouncer.ts';
export { Relay, type RelayMode, startRelay } from './faults/relay.ts';
export type { After } from './faults/relayed-connection.ts';
export { golden } from './golden.ts';
export { eventually, expectGivenBack, expectSoon, type Holdings, holdings, kept } from './holdings.ts';
export {
  type Answer,
  answerOf,
  ask,
  eventsOf,
  heldBy,
  MASTER_ID,
  MASTER_KEY,
  NO_DASHBOARD,
  NOTHING_HELD,
  slotsOf,
  startHost,
  type TestHost,
  type TestHostOptions,
} from './host.ts';
export { type PostgresServer, startOwnPostgres, startPostgres } from './postgres.ts';
export { expectProportion, growthProblem, type Prepare } from './proportion.ts';
export { startNginx } from './nginx.ts';
export { type RedisServer, startRedis } from './redis.ts';
export {
  type GatewayProcess,
  NODE_ARGS,
  type ProcessOptions,
  runGw,
  type RunResult,
  startGateway,
  temporaryFolder,
} from './process.ts';
export { BIN, program } from './program.ts';
export {
  callOf,
  canonicalChat,
  CHAT,
  connect,
  expectRejection,
  gatewayOf,
  type GatewayOptions,
  minimal,
  outcomeOf,
  type ProviderFacts,
  type ProviderGateway,
  readReply,
  ROUTES,
  sendText,
  type SurfaceFacts,
  translate,
  type Translated,
  translator,
  valueOf,
  variablesOf,
  wireReply,
} from './provider-case.ts';
export { expectStream, providerContract } from './provider-contract.ts';
export {
  answeredBy,
  connected,
  failedReply,
  refusedBy,
  rootOf,
  sentBy,
  type SentWire,
  unusableTo,
  type WireOptions,
} from './provider-wire.ts';
export { cases, Dice, inSoak, isSoak, seeded, some } from './random.ts';
export { rawClient, type RawClient } from './raw-client.ts';
export { findTool, requireTool } from './tools.ts';
export {
  chatChunks,
  chatReply,
  openSse,
  replyJson,
  replyStream,
  type SeenRequest,
  sseEvent,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
} from './upstream.ts';
export { callFor, everyCut, relayStream, type RelayedStream, sseBytes, translateReply, unaryReply } from './wire.ts';
export { localServer } from './local-server.ts';
