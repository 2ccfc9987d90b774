export { atEnd } from './cleanup.ts';
export { fakeClock, type FakeClock } from './clock.ts';
export { golden } from './golden.ts';
export { type Answer, answerOf, ask, eventsOf, MASTER_KEY, startHost, type TestHost, type TestHostOptions } from './host.ts';
export { BIN, type GatewayProcess, type ProcessOptions, runGw, type RunResult, startGateway, temporaryFolder } from './process.ts';
export { chatChunks, chatReply, openSse, replyJson, replyStream, type SeenRequest, sseEvent, type StubHandler, stubUpstream, type StubUpstream } from './upstream.ts';
