import { expect } from 'chai';
import {
  ask,
  chatReply,
  replyJson,
  replyStream,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';

const answering: StubHandler = (request, response) => {
  if (request.json()['stream'] === true) replyStream(response, ['hello']);
  else replyJson(response, 200, chatReply('hello'));
};
const healthy = (): Promise<StubUpstream> => stubUpstream(answering);
const failing = (status: number, body: unknown = {}, headers: Record<string, string> = {}): Promise<StubUpstream> =>
  stubUpstream((_request, response) => replyJson(response, status, body, headers));

interface Pair {
  readonly first: StubUpstream;
  readonly second: StubUpstream;
  readonly host: TestHost;
}

async function pair(first: StubUpstream, strategy: object = {}, more: object = {}): Promise<Pair> {
  const second = await healthy();
  return {
    first,
    second,
    host: await startHost({
      strategy: { mode: 'fallback', ...strategy },
      targets: [first.target('a', more), second.target('b')],
    }),
  };
}

/** Which target answers in the end, unary and streamed. */
async function served({ host }: Pair): Promise<(string | null)[]> {
  const answers = [await host.post(PATH, ask()), await host.post(PATH, ask('hi', { stream: true }))];
  return answers.map(({ status, headers }) => (status === 200 ? headers.get('x-gateway-target') : String(status)));
}

describe('fallback', () => {
  it('tries the next target when the first answers 500', async () => {
    const broken = await stubUpstream((_request, response) => {
      response.writeHead(500).end();
    });
    const { host } = await pair(broken);
    const answer = await host.post(PATH, ask());
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('x-gateway-target')).to.equal('b');
    expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
  });

  for (const status of [201, 204, 302, 402, 408, 429, 500, 502, 503, 504, 529]) {
    it(`goes on after ${status}`, async () => {
      expect(await served(await pair(await failing(status)))).to.deep.equal(['b', 'b']);
    });
  }

  for (const [status, answer] of [
    [400, '400'],
    [401, '502'],
    [403, '502'],
    [404, '404'],
    [409, '502'],
    [413, '413'],
    [422, '422'],
  ] as const) {
    it(`stops after ${status}`, async () => {
      const both = await pair(await failing(status));
      expect(await served(both)).to.deep.equal([answer, answer]);
      expect(both.second.seen).to.deep.equal([]);
    });
  }

  it('goes on after a connection that fails, and after an answer of no use', async () => {
    expect(
      await served(
        await pair(
          await stubUpstream((_request, response) => {
            response.destroy();
          }),
        ),
      ),
    ).to.deep.equal(['b', 'b']);
    expect(
      await served(
        await pair(
          await stubUpstream((_request, response) => {
            response.end('not it');
          }),
        ),
      ),
    ).to.deep.equal(['b', 'b']);
  });

  it("goes on after the target's own deadline", async () => {
    const silent = await stubUpstream(() => {});
    expect(await served(await pair(silent, {}, { request_timeout: '60ms' }))).to.deep.equal(['b', 'b']);
  });

  it('goes on after faults that the strategy names, and only then', async () => {
    const context = (): Promise<StubUpstream> =>
      failing(400, { error: { message: 'too long', code: 'context_length_exceeded' } });
    const policy = (): Promise<StubUpstream> => failing(400, { error: { message: 'no', code: 'content_filter' } });
    expect(await served(await pair(await context()))).to.deep.equal(['400', '400']);
    expect(await served(await pair(await context(), { failover_on: ['context_length'] }))).to.deep.equal(['b', 'b']);
    expect(await served(await pair(await policy(), { failover_on: ['context_length'] }))).to.deep.equal(['400', '400']);
    expect(await served(await pair(await policy(), { failover_on: ['content_policy'] }))).to.deep.equal(['b', 'b']);
  });

  it('goes on after statuses that the strategy adds', async () => {
    expect(await served(await pair(await failing(401), { failover_on_status_codes: [401] }))).to.deep.equal(['b', 'b']);
    expect(await served(await pair(await failing(500), { failover_on_status_codes: [401] }))).to.deep.equal(['b', 'b']);
  });

  it('never goes on after a parameter that is refused', async () => {
    const first = await healthy();
    const second = await healthy();
    const host = await startHost({
      strategy: { mode: 'fallback' },
      compatibility: { on_unsupported_param: 'reject' },
      targets: [first.target('a', {}, { params: { seed: 'unsupported' } }), second.target('b')],
    });
    const answer = await host.post(PATH, ask('hi', { seed: 1 }));
    expect(answer.status).to.equal(400);
    expect(answer.json().error.code).to.equal('unsupported_parameter');
    expect(answer.headers.get('x-gateway-attempts')).to.equal('1');
    expect([...first.seen, ...second.seen]).to.deep.equal([]);
  });

  it('answers with the error of the last target, and with its headers', async () => {
    const first = await failing(500, {}, { 'retry-after': '3' });
    const last = await failing(429, {}, { 'retry-after': '9' });
    for (const stream of [false, true]) {
      const host = await startHost({
        strategy: { mode: 'fallback' },
        targets: [first.target('a'), last.target('b', { model_map: { m: 'mapped' } })],
      });
      const answer = await host.post(PATH, ask('hi', { stream }));
      expect(answer.status).to.equal(429);
      expect(answer.headers.get('retry-after')).to.equal('9');
      expect(
        ['provider', 'target', 'model', 'attempts'].map((name) => answer.headers.get(`x-gateway-${name}`)),
      ).to.deep.equal(['b', 'b', 'mapped', '2']);
    }
  });

  it('counts the failure that a later target hides, once, against its own target', async () => {
    const { host } = await pair(await failing(500));
    await host.post(PATH, ask());
    expect(
      host.samples
        .filter(({ name }) => name === 'gateway_provider_errors_total')
        .map(({ labels, value }) => [labels['provider'], labels['error_type'], value]),
    ).to.deep.equal([['a', 'provider_error', 1]]);
  });

  it('passes over targets that do not serve the model or cannot stream, without an attempt', async () => {
    const [first, second, third] = [await healthy(), await healthy(), await healthy()];
    const { chat } = first.provider('x').translators;
    const { openStream: _open, ...unaryOnly } = chat!;
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [
        first.target('a', { models: ['other'] }),
        second.target('b', {}, { translators: { chat: unaryOnly } }),
        third.target('c'),
      ],
    });
    const unary = await host.post(PATH, ask());
    expect([unary.headers.get('x-gateway-target'), unary.headers.get('x-gateway-attempts')]).to.deep.equal(['b', '1']);
    const streamed = await host.post(PATH, ask('hi', { stream: true }));
    expect([streamed.headers.get('x-gateway-target'), streamed.headers.get('x-gateway-attempts')]).to.deep.equal([
      'c',
      '1',
    ]);
  });

  it('says 404 when no target can stream the model', async () => {
    const only = await healthy();
    const { openStream: _open, ...unaryOnly } = only.provider('x').translators.chat!;
    const host = await startHost({ targets: [only.target('a', {}, { translators: { chat: unaryOnly } })] });
    expect((await host.post(PATH, ask('hi', { stream: true }))).json().error.code).to.equal('model_not_found');
  });

  it('offers a model to a target that accepts any only when no target owns it', async () => {
    const [any, owner] = [await healthy(), await healthy()];
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [any.target('any', { models: [] }, { anyModel: true }), owner.target('owner')],
    });
    expect((await host.post(PATH, ask())).headers.get('x-gateway-target')).to.equal('owner');
    expect((await host.post(PATH, ask('hi', { model: 'invented' }))).headers.get('x-gateway-target')).to.equal('any');
  });

  it('passes over a target whose provider is not registered, with a warning', async () => {
    const upstream = await healthy();
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [
        upstream.target('absent', {}, { connection: { env: ['NO_SUCH_VARIABLE'], baseUrl: upstream.url } }),
        upstream.target('b'),
      ],
    });
    const answer = await host.post(PATH, ask());
    expect([answer.headers.get('x-gateway-target'), answer.headers.get('x-gateway-attempts')]).to.deep.equal([
      'b',
      '1',
    ]);
    expect(
      host.lines
        .filter(({ msg }) => msg === 'provider not found, skipping')
        .map(({ level, provider }) => [level, provider]),
    ).to.deep.equal([['WARN', 'absent']]);
  });
});

describe('single', () => {
  it('asks its first target alone', async () => {
    const [first, second] = [await failing(500), await healthy()];
    const host = await startHost({ targets: [first.target('a'), second.target('b')] });
    const answer = await host.post(PATH, ask());
    expect([answer.status, answer.headers.get('x-gateway-target')]).to.deep.equal([502, 'a']);
    expect(second.seen).to.deep.equal([]);
  });

  it('says 404 for a model that only a later target serves', async () => {
    const [first, second] = [await healthy(), await healthy()];
    const host = await startHost({
      strategy: { mode: 'single' },
      targets: [first.target('a'), second.target('b', { models: ['other'] })],
    });
    expect((await host.post(PATH, ask('hi', { model: 'other' }))).json().error.code).to.equal('model_not_found');
  });
});
