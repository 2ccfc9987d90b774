import { expect } from 'chai';
import {
  chatReply,
  fakeClock,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { CLIENTS } from '../pipeline/two-apis.ts';

type Json = Record<string, any>;

const RESPONSE: Json = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  error: null,
  output: [
    { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'hello', annotations: [] }] },
  ],
};

const effortIn = ({ reasoning_effort: onChat, reasoning }: Json): string | undefined => onChat ?? reasoning?.effort;

/** A vendor that takes fewer efforts than the rules of models say. Source: GitHub docker/docker-agent issue 4165, 2026-11-26. */
async function open(
  supported: string,
  more: object = {},
  refusal: object = {},
): Promise<{ upstream: StubUpstream; t: TestHost; clock: ReturnType<typeof fakeClock> }> {
  const upstream = await stubUpstream((request, response) => {
    const isSecond = request.url.endsWith('/responses');
    const effort = effortIn(request.json());
    if (effort === undefined || supported.includes(`'${effort}'`))
      replyJson(response, 200, isSecond ? RESPONSE : chatReply('hello'));
    else
      replyJson(response, 400, {
        error: {
          message: `Unsupported value: '${effort}' is not supported with this model. Supported values are: ${supported}.`,
          type: 'invalid_request_error',
          param: isSecond ? 'reasoning.effort' : 'reasoning_effort',
          code: 'unsupported_value',
          ...refusal,
        },
      });
  });
  const clock = fakeClock();
  const target = {
    virtual_key: 'openai',
    models: ['m'],
    model_map: { m: 'gpt-6-sol' },
    responses: 'translate',
    ...more,
  };
  const t = await startHost(
    { targets: [target] },
    { variables: { OPENAI_API_KEY: 'vendor-key-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` }, clock },
  );
  return { upstream, t, clock };
}

const effortsOf = ({ seen }: StubUpstream): (string | null)[] => seen.map((each) => effortIn(each.json()) ?? null);

describe('an effort that the provider refuses with a list of others', () => {
  for (const { name, ask } of CLIENTS)
    for (const hasTools of [false, true])
      it(`becomes the nearest of them, for an hour, for a client of ${name} ${hasTools ? 'on Responses' : 'on chat'}`, async () => {
        const { upstream, t, clock } = await open("'low' and 'medium'");
        const { path, body } = ask({ streaming: false, effort: 'high', hasTools });
        const send = async (): Promise<unknown> => {
          const { status, text, headers } = await t.post(path, body);
          expect(status, text).to.equal(200);
          return headers.get('x-gateway-attempts');
        };
        expect([await send(), await send()]).to.deep.equal(['2', '1']);
        expect(effortsOf(upstream)).to.deep.equal(['high', 'medium', 'medium']);
        expect(new Set(upstream.seen.map(({ url }) => url))).to.deep.equal(
          new Set([hasTools ? '/v1/responses' : '/v1/chat/completions']),
        );
        clock.advance(3_600_000);
        expect(await send()).to.equal('2');
        expect(
          t.samples
            .filter(({ name: figure }) => figure === 'gateway_upstream_repairs_total')
            .map(({ labels }) => labels),
        ).to.deep.equal(Array.from({ length: 2 }, () => ({ provider: 'openai', kind: 'effort', result: 'ok' })));
      });

  it('is left out, and named, where the list holds none', async () => {
    const { upstream, t } = await open("'sideways'");
    const { path, body } = CLIENTS[0]!.ask({ streaming: false, effort: 'high' });
    const answer = await t.post(path, body);
    expect([answer.status, answer.headers.get('x-gateway-ignored-params')]).to.deep.equal([200, 'reasoning_effort']);
    expect(effortsOf(upstream)).to.deep.equal(['high', null]);
  });

  it('is not corrected where another member is blamed, or the effort is on the list', async () => {
    for (const [supported, refusal] of [
      ["'low'", { param: 'model' }],
      ["'low'", { param: null }],
      ['high', {}],
    ] as const) {
      const { upstream, t } = await open(supported, {}, refusal);
      const { path, body } = CLIENTS[0]!.ask({ streaming: false, effort: 'high' });
      expect((await t.post(path, body)).status).to.equal(400);
      expect(upstream.seen).to.have.length(1);
    }
  });
});

describe('an organisation that may not have summaries', () => {
  it('gets answers without, and a client that named them hears of it', async () => {
    const upstream = await stubUpstream((request, response) => {
      if ((request.json()['reasoning'] as Json | undefined)?.['summary'])
        replyJson(response, 400, {
          error: {
            message: 'Your organization must be verified.',
            param: 'reasoning.summary',
            code: 'unsupported_value',
          },
        });
      else replyJson(response, 200, RESPONSE);
    });
    const target = { virtual_key: 'openai', models: ['m'], model_map: { m: 'gpt-6-sol' }, responses: 'translate' };
    const t = await startHost(
      { targets: [target] },
      { variables: { OPENAI_API_KEY: 'vendor-key-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
    );
    for (const { ask } of CLIENTS) {
      const { path, body } = ask({ streaming: false, wantsThoughts: true });
      expect((await t.post(path, body)).status).to.equal(200);
    }
    const named = await t.post('/v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      reasoning: { summary: 'detailed' },
    });
    expect([named.status, named.headers.get('x-gateway-ignored-params')]).to.deep.equal([200, 'reasoning.summary']);
    expect(upstream.seen, 'one of them is refused').to.have.length(6);
  });
});
