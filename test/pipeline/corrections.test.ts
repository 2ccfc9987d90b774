import { expect } from 'chai';
import type { ModelFacts } from '../../host/contract/index.ts';
import {
  fakeClock,
  replyJson,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { answers, CLIENTS, TOOL, TRANSLATED, twofoldTarget } from './two-apis.ts';

type Json = Record<string, any>;

const HOUR_MS = 3_600_000;
const FACTS: ModelFacts = {
  efforts: ['none', 'low', 'high', 'max'],
  summaries: true,
  thoughts_back: 'sealed',
  chat_tools: 'any',
};
const SEALED = { type: 'reasoning.encrypted', format: 'openai-responses-v1', index: 0, origin: 'a', data: 'gAAA' };
const PHASE = {
  type: 'reasoning.phase',
  format: 'openai-responses-v1',
  index: 1,
  start: 0,
  end: 2,
  phase: 'commentary',
};

const ask = (more: object = {}): Json => ({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more });
const remembering = ask({
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'ok', reasoning_content: 'hm', reasoning_details: [SEALED, PHASE] },
    { role: 'user', content: 'go on' },
  ],
});

interface Kind {
  readonly facts?: ModelFacts;
  readonly config?: object;
  readonly request: Json;
  /** What the vendor says of a request that it refuses. */
  readonly refusal: Json;
  readonly status?: number;
  /** What the vendor does not take. */
  readonly refuses: (path: string, body: Json) => boolean;
  /** How long it is kept in mind. */
  readonly kept: 'once' | 'an hour' | 'until a swap';
  /** Other models of the target are spared too. */
  readonly isOfTarget?: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  to_responses: {
    request: ask({ tools: [TOOL], reasoning_effort: 'high' }),
    refusal: {
      message:
        'Function tools with reasoning_effort are not supported for m in /v1/chat/completions. Please use /v1/responses instead.',
    },
    refuses: (path, { tools }) => path === '/chat/completions' && tools,
    kept: 'until a swap',
  },
  no_summary: {
    request: ask({ include_reasoning: true }),
    refusal: { message: 'Your organization must be verified', param: 'reasoning.summary', code: 'unsupported_value' },
    refuses: (_path, { reasoning }) => reasoning?.summary !== undefined,
    kept: 'an hour',
    isOfTarget: true,
  },
  no_sealed: {
    request: remembering,
    refusal: { message: 'The encrypted content gAAA could not be verified.', code: 'invalid_encrypted_content' },
    refuses: (_path, { input = [] }) => JSON.stringify(input).includes('gAAA'),
    kept: 'once',
  },
  no_include: {
    facts: { ...FACTS, endpoints: ['responses'] },
    request: ask(),
    refusal: { message: 'Encrypted content is not supported', param: 'include' },
    refuses: (_path, { include }) => include !== undefined,
    kept: 'an hour',
  },
};

const refusing =
  ({ refuses, refusal, status = 400 }: Kind, answer: StubHandler = answers()): StubHandler =>
  (request, response) => {
    if (refuses(request.url, request.json()))
      replyJson(response, status, { error: { type: 'invalid_request_error', ...refusal } });
    else void answer(request, response);
  };

interface Opened {
  readonly upstream: StubUpstream;
  readonly t: TestHost;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly apply: () => Promise<void>;
}

async function open(kind: Kind, answer?: StubHandler, more: object = {}): Promise<Opened> {
  const upstream = await stubUpstream(refusing(kind, answer));
  const clock = fakeClock(0);
  const config = {
    ...TRANSLATED,
    targets: [twofoldTarget(upstream, 'a', kind.facts ?? FACTS, { models: ['m', 'n'], ...more, ...kind.config })],
  };
  const t = await startHost(config, { clock });
  return { upstream, t, clock, apply: () => t.apply(config) };
}

const post = (t: TestHost, body: object): ReturnType<TestHost['post']> => t.post('/v1/chat/completions', body);
const LINE = 'a request was corrected after the provider refused it';
const repairs = ({ samples }: TestHost): object[] =>
  samples.filter(({ name }) => name === 'gateway_upstream_repairs_total').map(({ labels }) => labels);

describe('a request that its provider refuses', () => {
  for (const [name, kind] of Object.entries(KINDS)) {
    describe(`of the kind ${name}`, () => {
      it('goes out once more, corrected, whole and streamed', async () => {
        for (const stream of [false, true]) {
          const { upstream, t } = await open(kind);
          const answer = await post(t, { ...kind.request, ...(stream && { stream }) });
          expect(answer.status, answer.text).to.equal(200);
          expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
          expect(upstream.seen).to.have.length(2);
          expect(repairs(t)).to.deep.equal([{ provider: 'a', kind: name, result: 'ok' }]);
        }
      });

      it(`is remembered ${kind.kept}`, async () => {
        const { upstream, t, clock, apply } = await open(kind);
        const calls = async (body: object): Promise<number> => {
          const before = upstream.seen.length;
          expect((await post(t, body)).status).to.equal(200);
          return upstream.seen.length - before;
        };
        expect(await calls(kind.request)).to.equal(2);
        expect(await calls(kind.request)).to.equal(kind.kept === 'once' ? 2 : 1);
        expect(await calls({ ...kind.request, model: 'n' })).to.equal(kind.isOfTarget ? 1 : 2);
        clock.advance(HOUR_MS - 1);
        expect(await calls(kind.request)).to.equal(kind.kept === 'once' ? 2 : 1);
        clock.advance(1);
        expect(await calls(kind.request)).to.equal(kind.kept === 'until a swap' ? 1 : 2);
        await apply();
        expect(await calls(kind.request)).to.equal(2);
      });

      it('has the error of the second call, and one call more at most', async () => {
        const refuse: StubHandler = (_request, response) =>
          replyJson(response, 400, { error: { message: 'too many' } });
        const { upstream, t } = await open(kind, refuse);
        const answer = await post(t, kind.request);
        expect([answer.status, answer.json().error.message]).to.deep.equal([400, 'too many']);
        expect(upstream.seen).to.have.length(2);
        expect(repairs(t)).to.deep.equal([{ provider: 'a', kind: name, result: 'failed' }]);
        const { upstream: stubborn, t: other } = await open({ ...kind, refuses: () => true });
        expect((await post(other, kind.request)).status).to.equal(400);
        expect(stubborn.seen).to.have.length(2);
      });

      it('is not repeated after another status', async () => {
        const { upstream, t } = await open({ ...kind, status: 403 });
        await post(t, kind.request);
        expect(upstream.seen).to.have.length(1);
      });

      it('is corrected for clients of every wire', async () => {
        if (name === 'no_sealed') return; // its history is that of a client of chat
        for (const { ask: asked } of CLIENTS) {
          const { upstream, t } = await open(kind);
          const { path, body } = asked({
            streaming: false,
            hasTools: name === 'to_responses',
            wantsThoughts: name === 'no_summary',
          });
          const answer = await t.post(path, body);
          expect(answer.status, answer.text).to.equal(200);
          expect(upstream.seen).to.have.length(2);
        }
      });
    });
  }

  it('goes to the Responses API by whichever words the vendor has for it', async () => {
    for (const refusal of [
      { message: 'This model is only supported in v1/responses and not in v1/chat/completions.', status: 404 },
      { message: 'This is not a chat model and thus not supported in the v1/chat/completions endpoint.', status: 404 },
      { message: 'The requested operation is unsupported.', code: 'unsupported_api_for_model' },
    ]) {
      const { status = 400, ...error } = refusal as Json;
      const { upstream, t } = await open({ ...KINDS['to_responses']!, refusal: error, status });
      expect((await post(t, KINDS['to_responses']!.request)).status).to.equal(200);
      expect(upstream.seen.map(({ url }) => url)).to.deep.equal(['/chat/completions', '/responses']);
    }
  });

  it('stays with chat where the configuration says so', async () => {
    const { upstream, t } = await open({ ...KINDS['to_responses']!, config: { chat_via: 'chat' } });
    expect((await post(t, KINDS['to_responses']!.request)).status).to.equal(400);
    expect(upstream.seen).to.have.length(1);
  });

  it('keeps phases of messages where thoughts are left behind', async () => {
    const { upstream, t } = await open(KINDS['no_sealed']!);
    await post(t, remembering);
    const [, answered] = upstream.seen.at(-1)!.json()['input'] as Json[];
    expect(answered).to.deep.equal({ role: 'assistant', content: 'ok', reasoning_details: [PHASE] });
  });

  it('is not corrected where it quotes the request', async () => {
    const kind = KINDS['to_responses']!;
    const { upstream, t } = await open(kind);
    const quoting = { ...kind.request, messages: [{ role: 'user', content: 'why "use /v1/responses"?' }] };
    expect((await post(t, quoting)).status).to.equal(400);
    expect(upstream.seen).to.have.length(1);
  });

  it('takes a retry of the budget, and none is left after ten', async () => {
    const kind = KINDS['no_sealed']!;
    const { upstream, t } = await open(kind, undefined, { retry: { attempts: 2 } });
    const statuses: number[] = [];
    for (let at = 0; at < 12; at += 1) statuses.push((await post(t, remembering)).status);
    expect(statuses).to.deep.equal([...Array<number>(10).fill(200), 400, 400]);
    expect(upstream.seen).to.have.length(22);
  });

  it('is logged once an hour for a target and kind', async () => {
    const { t, clock, apply } = await open(KINDS['no_sealed']!);
    const lines = (): number => t.lines.filter(({ msg }) => msg === LINE).length;
    await post(t, remembering);
    await apply();
    await post(t, remembering);
    expect(lines()).to.equal(1);
    clock.advance(HOUR_MS);
    await post(t, remembering);
    expect(lines()).to.equal(2);
    expect(t.lines.find(({ msg }) => msg === LINE)).to.deep.include({ target: 'a', model: 'm', kind: 'no_sealed' });
  });
});

/** Requests that are refused for what they alone ask, and what is said of them. */
const OWN: readonly (readonly [refusal: Json, request: Json])[] = [
  ...['x', 'concise', 'must be verified'].map((summary): readonly [Json, Json] => [
    { message: `Invalid value: '${summary}'. Supported values are: 'detailed'.`, param: 'reasoning.summary' },
    ask({ reasoning: { summary } }),
  ]),
  [
    { message: "Unknown parameter: 'reasoning.summary'.", param: 'reasoning.summary' },
    ask({ include_reasoning: true, 'reasoning.summary': 1 }),
  ],
  [{ message: "Invalid value: 'x'.", param: 'include' }, ask({ include_reasoning: true, include: ['x'] })],
];

describe('a refusal of what one client alone asks', () => {
  for (const [refusal, request] of OWN)
    it(`says nothing of the model: ${JSON.stringify(request)}`, async () => {
      let isRefused = true;
      const { upstream, t } = await open({ request, refusal, refuses: () => isRefused, kept: 'once' });
      expect((await post(t, request)).status).to.equal(400);
      expect(upstream.seen).to.have.length(1);
      isRefused = false;
      expect((await post(t, ask({ include_reasoning: true }))).status).to.equal(200);
      const { reasoning, include } = upstream.seen.at(-1)!.json() as Json;
      expect([reasoning.summary, include]).to.deep.equal(['auto', ['reasoning.encrypted_content']]);
    });

  it('of summaries speaks of the model, and of the account only where it says so', async () => {
    const message = "Unsupported parameter: 'reasoning.summary' is not supported with this model.";
    const { refuses, request } = KINDS['no_summary']!;
    const kind: Kind = { request, refuses, refusal: { message, param: 'reasoning.summary' }, kept: 'an hour' };
    const { upstream, t } = await open(kind);
    for (const model of ['m', 'm', 'n', 'n']) expect((await post(t, { ...request, model })).status).to.equal(200);
    const summaries = upstream.seen.map((seen) => (seen.json()['reasoning'] as Json)['summary'] ?? 'none');
    expect(summaries).to.deep.equal(['auto', 'none', 'none', 'auto', 'none', 'none']);
  });
});
