import { expect } from 'chai';
import type { WireRequest } from 'gw/contract';
import { defineBuiltin } from '../../host/builtin.ts';
import type { Attempt } from '../../host/pipeline/attempts/attempt.ts';
import { tapEventual } from '../../host/pipeline/eventual.ts';
import { createGenerationHooks, type Departure, type GenerationHooks } from '../../host/pipeline/hooks.ts';
import { outgoingRequest } from '../../host/pipeline/attempts/outgoing-request.ts';
import { ask, chatReply, replyJson, replyStream, startHost, stubUpstream } from '../kit/index.ts';

const WIRE: WireRequest = { path: '/chat', body: { model: 'm' } };

/** An attempt at a provider that signs what it is given: the credential tells the header it saw. */
const ATTEMPT = {
  provider: {
    root: 'http://h',
    credentials: {},
    basicAuthorization: undefined,
    authorize: ({ headers }: { headers: Record<string, string> }) => ({
      authorization: `signed ${headers['traceparent']}`,
    }),
  },
} as unknown as Attempt;

const withHeader = (departure: Departure, name: string, value: string): void => {
  departure.request = { ...departure.request, headers: { ...departure.request.headers, [name]: value } };
};

function hooksWith(...taps: readonly ((departure: Departure) => void | Promise<void>)[]): GenerationHooks {
  const hooks = createGenerationHooks();
  for (const [at, tap] of taps.entries()) tapEventual(hooks.outgoing, `tap ${at}`, tap);
  return hooks;
}

describe('the last change to a request', () => {
  const trace = (departure: Departure): void => withHeader(departure, 'traceparent', 'here');
  const headers = { 'content-type': 'application/json', traceparent: 'here', authorization: 'signed here' };

  it('is made at once while no tap waits: there is no promise, and the credential comes last', () => {
    const seen: Attempt[] = [];
    const hooks = hooksWith(({ attempt }) => void seen.push(attempt), trace);
    expect(outgoingRequest(ATTEMPT, WIRE, hooks)).to.deep.equal({
      method: 'POST',
      url: 'http://h/chat',
      headers,
      body: '{"model":"m"}',
    });
    expect(seen).to.deep.equal([ATTEMPT]);
  });

  it('is waited for where a tap waits, each tap behind the one before', async () => {
    const order: string[] = [];
    const late = async (departure: Departure): Promise<void> => {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      order.push('late');
      trace(departure);
    };
    const request = outgoingRequest(
      ATTEMPT,
      WIRE,
      hooksWith(late, (departure) => {
        order.push('next');
        expect(departure.request.headers['traceparent']).to.equal('here');
      }),
    );
    expect(request).to.be.instanceOf(Promise);
    expect((await request).headers).to.deep.equal(headers);
    expect(order).to.deep.equal(['late', 'next']);
  });

  it('fails the call with what a tap throws, or rejects with', async () => {
    expect(() =>
      outgoingRequest(
        ATTEMPT,
        WIRE,
        hooksWith(() => {
          throw new Error('at once');
        }),
      ),
    ).to.throw('at once');
    const late = await Promise.resolve(
      outgoingRequest(
        ATTEMPT,
        WIRE,
        hooksWith(async () => {
          throw new Error('later');
        }),
      ),
    ).then(
      () => undefined,
      (error: Error) => error.message,
    );
    expect(late).to.equal('later');
  });

  it('reaches the upstream, of whole answers and streams', async () => {
    const upstream = await stubUpstream((request, response) =>
      request.json()['stream'] === true ? replyStream(response, ['hi']) : replyJson(response, 200, chatReply('hello')),
    );
    const tracing = defineBuiltin({
      name: 'tracing',
      apply: ({ hooks }) =>
        hooks.assemble.tapPromise('tracing', async ({ hooks: pipeline }) =>
          tapEventual(pipeline.outgoing, 'tracing', (departure) => {
            withHeader(departure, 'traceparent', `${departure.attempt.exchange.id} ${departure.attempt.number}`);
          }),
        ),
    });
    const host = await startHost({ targets: [upstream.target('a')] }, { builtins: [tracing] });
    for (const stream of [false, true]) {
      const answer = await host.post('/v1/chat/completions', ask('hi', { stream }));
      expect(answer.status).to.equal(200);
      expect(upstream.seen.at(-1)?.headers['traceparent']).to.equal(`${answer.headers.get('x-request-id')} 1`);
    }
  });
});
