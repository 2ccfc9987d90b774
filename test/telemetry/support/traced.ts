import { expect } from 'chai';
import {
  chatReply,
  replyJson,
  replyStream,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../../kit/index.ts';
import { type Collector, httpCollector, type ReceivedSpan } from '../../kit/otlp.ts';

/** Answers a chat, whole or streamed. */
export const serving: StubHandler = (request, response) =>
  request.json()['stream'] === true
    ? replyStream(response, ['he', 'llo'])
    : replyJson(response, 200, chatReply('hello'));

export interface Setup {
  readonly handler?: StubHandler;
  readonly tracing?: object;
  readonly target?: object;
  readonly provider?: object;
  readonly config?: object;
  readonly options?: TestHostOptions;
  readonly collector?: Collector;
}

export interface Traced {
  readonly host: TestHost;
  readonly collector: Collector;
  readonly upstream: StubUpstream;
  /** Ends the gateway, so that every span has left, and gives them all. */
  readonly finished: () => Promise<readonly ReceivedSpan[]>;
}

/** A gateway that sends its spans to a collector. */
export async function traced({
  handler = serving,
  tracing = {},
  target = {},
  provider = {},
  config = {},
  options = {},
  collector: given,
}: Setup = {}): Promise<Traced> {
  const collector = given ?? (await httpCollector());
  const upstream = await stubUpstream(handler);
  const observability = { tracing: { endpoint: collector.url, protocol: 'http/protobuf', ...tracing } };
  const host = await startHost(
    { strategy: { mode: 'fallback' }, targets: [upstream.target('a', target, provider)], observability, ...config },
    options,
  );
  return {
    host,
    collector,
    upstream,
    finished: async () => {
      await host.close();
      return collector.spans;
    },
  };
}

/** The only span of that name. */
export const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const found = spans.filter((span) => span.name === name);
  expect(found, name).to.have.lengthOf(1);
  return found[0]!;
};
