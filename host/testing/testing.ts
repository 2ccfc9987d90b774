/** The public entry point `gw/testing`: tries modules without a gateway, under any test runner. What does not hold throws. */
export type { Check } from './module-checks.ts';
export { pluginContract, strategyContract } from './module-checks.ts';
export type { PluginFacts, StrategyFacts } from './module-checks.ts';
export { madeUpExchange, madeUpPluginDeps, madeUpStrategyDeps } from './made-up.ts';
export type { ExchangeFacts, Heard } from './made-up.ts';
export { expectGolden, golden } from './golden.ts';
export { providerContract } from './provider-checks.ts';
export type { ProviderFacts } from './provider-checks.ts';
export { rank } from './rank.ts';
export type { RankOptions, Ranked } from './rank.ts';
export { callFor, relayStream, translateReply, unaryReply } from './relay-stream.ts';
export type { RelayedStream } from './relay-stream.ts';
export { chatChunks, chatReply, replyJson, replyStream, sseEvent, stubUpstream } from './stub-upstream.ts';
export type { SeenRequest, StubHandler, StubServer } from './stub-upstream.ts';
export { tryPlugin } from './try-plugin.ts';
export type { Tried } from './try-plugin.ts';
