import {
  type Answer,
  chatReply,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { vendorAnswer } from './vendors.ts';

export const FORWARDS = { responses: true, passthrough: true } as const;

export const route = (target: string, model?: string, more: object = {}): object => ({
  target,
  ...(model !== undefined && { model }),
  ...more,
});

export interface Pair {
  readonly host: TestHost;
  readonly a: StubUpstream;
  readonly b: StubUpstream;
  /** Bodies that each got, as they were. */
  readonly sent: () => { readonly a: readonly string[]; readonly b: readonly string[] };
}

/** Two targets that requests are passed through to. */
export async function withPair(
  config: object,
  modules: { readonly a?: object; readonly b?: object } = {},
): Promise<Pair> {
  const stub = (): Promise<StubUpstream> =>
    stubUpstream((request, response) =>
      request.url.endsWith('/chat/completions')
        ? replyJson(response, 200, chatReply('hi'))
        : vendorAnswer(request, response),
    );
  const [a, b] = [await stub(), await stub()];
  const host = await startHost({
    strategy: { mode: 'fallback' },
    targets: [a.target('a', {}, { ...FORWARDS, ...modules.a }), b.target('b', {}, { ...FORWARDS, ...modules.b })],
    ...config,
  });
  return {
    host,
    a,
    b,
    sent: () => ({ a: a.seen.map(({ text }) => text), b: b.seen.map(({ text }) => text) }),
  };
}

/** Status, and who answered. */
export const served = ({ status, headers }: Answer): readonly unknown[] => [status, headers.get('x-gateway-provider')];
