import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import type { FaultReason, ProviderModule } from '../../host/contract/index.ts';
import { PROVIDERS } from '../contract/hostile/wires.ts';
import {
  type Answer,
  chatChunks,
  fakeClock,
  openSse,
  some,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';
import { STANDARD } from '../resilience/support/map.ts';
import { PROMISED } from '../upstream/fault-promises.ts';
import { bodyText, FAULT_VECTORS, type FaultVector, titleOf } from '../upstream/fault-vectors.ts';

type Wire = 'common' | 'messages' | 'gemini' | 'responses';
/** Where the failure stands: a status, a whole answer that says 200, a stream's first frame, one behind a text. */
type Way = 'status' | 'inside' | 'first' | 'late';

interface Ask {
  readonly name: string;
  readonly wire: Wire;
  readonly path: string;
  readonly body: object;
  readonly isStream?: boolean;
  /** What its upstream sends first; chunks of a chat unless said. */
  readonly begun?: readonly object[];
}

const messages = [{ role: 'user', content: 'hi' }];
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
const ASKS: readonly Ask[] = [
  { name: 'chat', wire: 'common', path: '/v1/chat/completions', body: { messages } },
  { name: 'completions', wire: 'common', path: '/v1/completions', body: { prompt: 'hi' } },
  { name: 'embeddings', wire: 'common', path: '/v1/embeddings', body: { input: 'hi' } },
  { name: 'images', wire: 'common', path: '/v1/images/generations', body: { prompt: 'a quay' } },
  { name: 'rerank', wire: 'common', path: '/v1/rerank', body: { query: 'q', documents: ['a', 'b'] } },
  { name: 'moderations', wire: 'common', path: '/v1/moderations', body: { input: 'hi' } },
  { name: 'speech', wire: 'common', path: '/v1/audio/speech', body: { input: 'hi', voice: 'alloy' } },
  { name: 'messages', wire: 'messages', path: '/v1/messages', body: { messages, max_tokens: 9 } },
  { name: 'gemini', wire: 'gemini', path: '/v1beta/models/m:generateContent', body: { contents } },
  { name: 'responses', wire: 'responses', path: '/v1/responses', body: { input: 'hi' } },
  {
    name: 'chat stream',
    wire: 'common',
    path: '/v1/chat/completions',
    body: { messages, stream: true },
    isStream: true,
  },
  {
    name: 'images stream',
    wire: 'common',
    path: '/v1/images/generations',
    body: { prompt: 'a quay', stream: true },
    isStream: true,
    begun: [{ type: 'image_generation.partial_image', b64_json: 'aGk=', partial_image_index: 0 }],
  },
  {
    name: 'speech stream',
    wire: 'common',
    path: '/v1/audio/speech',
    body: { input: 'hi', voice: 'alloy', stream_format: 'sse' },
    isStream: true,
    begun: [{ type: 'speech.audio.delta', audio: 'aGk=' }],
  },
  {
    name: 'messages stream',
    wire: 'messages',
    path: '/v1/messages',
    body: { messages, max_tokens: 9, stream: true },
    isStream: true,
  },
  {
    name: 'gemini stream',
    wire: 'gemini',
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: { contents },
    isStream: true,
  },
  {
    name: 'responses stream',
    wire: 'responses',
    path: '/v1/responses',
    body: { input: 'hi', stream: true },
    isStream: true,
  },
];

/** Events beside those of a chat go on unread, unless they look like an error of some kind. */
const isSeen = (ask: Ask, { body, reason, inside }: FaultVector): boolean =>
  ask.begun === undefined || 'error' in Object(body) || (reason !== undefined && inside === undefined);

const CASES = ASKS.flatMap((ask) =>
  ((ask.isStream ? ['status', 'inside', 'first', 'late'] : ['status', 'inside']) as readonly Way[]).flatMap((way) =>
    FAULT_VECTORS.filter(
      (vector) => way === 'status' || (typeof vector.body !== 'string' && (way === 'inside' || isSeen(ask, vector))),
    ).map((vector) => ({ ask, way, vector })),
  ),
);
type Case = (typeof CASES)[number];
/** What an upstream says, of a case or by itself. */
type Answered = Pick<Case, 'way' | 'vector'> & { readonly ask?: Ask };

function answer({ way, vector, ask }: Answered, response: ServerResponse): void {
  const { status, headers = {} } = vector;
  const text = bodyText(vector);
  const type = text.startsWith('<') ? 'text/html' : 'application/json';
  if (way === 'status' || way === 'inside') {
    response.writeHead(way === 'status' ? status : 200, { 'content-type': type, ...headers }).end(text);
    return;
  }
  openSse(response);
  const before = way === 'late' ? (ask?.begun ?? chatChunks(['some text']).slice(0, 2)).map(sseEvent).join('') : '';
  response.end(`${before}${sseEvent(text)}`);
}

interface Scene {
  readonly host: TestHost;
  /** Answers of the first target from now on. */
  answers(next: Answered): void;
  readonly calls: () => number;
}

/** A gateway whose target `a` reads errors as the vector's provider does. */
async function sceneOf(
  config: object = {},
  more: object = {},
  healthy: readonly object[] = [],
  options: TestHostOptions = {},
): Promise<Scene> {
  let current: Answered | undefined;
  const upstream = await stubUpstream((_request, response) => {
    if (current) answer(current, response);
  });
  const toFault: NonNullable<ProviderModule['toFault']> = (reply) =>
    PROVIDERS.find(({ name }) => name === current?.vector.module)?.toFault?.(reply);
  const host = await startHost(
    {
      strategy: { mode: 'single' },
      responses: { translate: 'auto' },
      targets: [upstream.target('a', more, { ...everySurface, toFault }), ...healthy],
      ...config,
    },
    options,
  );
  return {
    host,
    answers: (next) => {
      current = next;
    },
    calls: () => upstream.seen.length,
  };
}

const post = ({ host }: Scene, { path, body }: Ask): Promise<Answer> => host.post(path, { model: 'm', ...body });

/** The class that a case has. */
const reasonOf = ({ way, vector: { reason, inside } }: Pick<Case, 'way' | 'vector'>): FaultReason | undefined =>
  way === 'status' || inside === undefined ? reason : inside === 'none' ? undefined : inside;

/** The status that the body of an answer states itself. */
function statedStatus({ body }: FaultVector): number | undefined {
  const [first]: readonly any[] = Array.isArray(body) ? body : [body];
  const code = Number(first?.error?.code ?? first?.error?.error?.code);
  return code >= 400 && code <= 599 && code !== 421 ? code : undefined;
}

function expectedClient(one: Case): readonly [number, string] {
  const status = one.way === 'status' ? one.vector.status : statedStatus(one.vector);
  const reason = reasonOf(one);
  const own = reason && PROMISED[reason].client?.(one.vector.message?.includes('API key') ? 401 : status);
  if (own) return own;
  const code = STANDARD[status ?? 0] ?? 'upstream_error';
  const statuses: Readonly<Record<string, number>> = {
    upstream_auth_error: 502,
    model_not_found: 404,
    upstream_timeout: 504,
    rate_limit_exceeded: 429,
    upstream_error: 502,
  };
  return [statuses[code] ?? status ?? 0, code];
}

/** What a client of the wire reads of an overflow. */
function overflowSaid(wire: Wire, { tokens, body, message }: FaultVector, said: string): void {
  const { asked, limit } = tokens ?? {};
  const isCounted = asked !== undefined && limit !== undefined;
  const words = message ?? said;
  expect(JSON.stringify(body)).to.be.a('string');
  if (wire === 'messages') {
    expect(said).to.match(/prompt is too long|input length and `max_tokens` exceed context limit/);
    if (isCounted && !/exceed context limit|prompt is too long: \d+,/.test(said))
      expect(said).to.equal(`prompt is too long: ${asked} tokens > ${limit} maximum`);
  } else if (wire === 'gemini') {
    expect(said).to.match(/^The input token count .*exceeds the maximum number of tokens allowed/);
    if (isCounted)
      expect(said).to.equal(
        `The input token count (${asked}) exceeds the maximum number of tokens allowed (${limit}).`,
      );
  } else {
    expect(said).to.match(/context length|context window|prompt is too long/i);
    expect(said).to.include(words);
  }
}

interface Read {
  readonly code: string;
  readonly message: string;
}

function readError(wire: Wire, reply: Answer): Read {
  const { error } = reply.json();
  if (wire === 'messages') return { code: error.details.error_code, message: error.message };
  if (wire === 'gemini') return { code: error.details[0].reason.toLowerCase(), message: error.message };
  return { code: error.code, message: error.message };
}

/** The events of any wire. */
const eventsIn = ({ text }: Answer): any[] =>
  text.split(/\r?\n/).flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));

const whole = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Nothing of what the upstream said about the account. */
function expectPrivate(one: Case, reply: Answer): void {
  const reason = reasonOf(one);
  if (!reason || !PROMISED[reason].isPrivate) return;
  const { error, message } = one.vector.body as { error?: any; message?: unknown };
  const words = [error, error?.message, message].find((text): text is string => typeof text === 'string');
  if (words !== undefined) expect(reply.text).to.not.include(whole(words));
  expect(reply.text).to.not.match(/credit balance is too low/i);
}

function expectFailure(one: Case, reply: Answer): void {
  const { ask, vector } = one;
  const reason = reasonOf(one);
  expectPrivate(one, reply);
  if (reason === 'context_length' && ask.name === 'responses stream') {
    expect(reply.status).to.equal(200);
    const events = eventsIn(reply);
    expect(events.map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.in_progress',
      'response.failed',
    ]);
    const { error } = events.at(-1).response;
    expect(error.code).to.equal('context_length_exceeded');
    overflowSaid(ask.wire, vector, error.message);
    return;
  }
  const { code, message } = readError(ask.wire, reply);
  expect([reply.status, code]).to.deep.equal(expectedClient(one));
  const promised = reason ? PROMISED[reason] : {};
  const isFinal = promised.isFinal === true;
  expect(reply.headers.get('x-should-retry')).to.equal(isFinal ? 'false' : null);
  if (reason === 'context_length') overflowSaid(ask.wire, vector, message);
  else if (promised.says !== undefined) expect(message).to.equal(promised.says);
  if (ask.wire !== 'messages') return;
  const { type } = reply.json().error;
  if (reason === 'overload') expect(type).to.equal('overloaded_error');
  if (reason === 'billing') expect(type).to.equal('api_error');
  if (reason === 'too_large') expect(type).to.equal('request_too_large');
}

/** The error that ends a stream which had begun. */
function expectBroken(one: Case, reply: Answer): void {
  expect(reply.status).to.equal(200);
  expectPrivate(one, reply);
  const last = eventsIn(reply).at(-1);
  const { wire } = one.ask;
  const error = wire === 'responses' ? last.response.error : last.error;
  expect(error).to.be.an('object');
  const reason = reasonOf(one);
  if (reason === 'context_length') overflowSaid(wire, one.vector, error.message);
  if (wire !== 'responses') return;
  if (reason === 'context_length') expect(error.code).to.equal('context_length_exceeded');
  if (reason === 'content_policy') expect(error.code).to.equal('invalid_prompt');
  if (reason === 'billing') expect(error.code).to.equal('server_error');
}

describe('the classes of faults, on every surface and wire', () => {
  for (const wire of new Set(ASKS.map((ask) => ask.wire)))
    it(`are what clients are answered by, wherever the failure stands: ${wire}`, async function () {
      this.timeout(120_000);
      const scene = await sceneOf();
      for (const one of some(CASES, { every: 7, from: 2 }).filter(({ ask }) => ask.wire === wire)) {
        scene.answers(one);
        const before = scene.calls();
        const reply = await post(scene, one.ask);
        const where = `${one.ask.name}, ${titleOf(one.vector)} (${one.way}): ${reply.text}`;
        expect(scene.calls() - before, where).to.equal(1);
        try {
          if (one.way === 'late') expectBroken(one, reply);
          else expectFailure(one, reply);
        } catch (error) {
          throw new Error(where, { cause: error });
        }
      }
    });
});

const vectorOf = (id: string, vendor: string, status?: number): FaultVector => {
  const found = FAULT_VECTORS.find(
    (each) => each.id === id && each.vendor === vendor && (status === undefined || each.status === status),
  );
  if (!found) throw new Error(`no vector ${id} of ${vendor}`);
  return found;
};

const healthy: StubHandler = (request, response) => {
  if (request.json()['stream'] === true) {
    openSse(response);
    response.end([...chatChunks(['well']), '[DONE]'].map(sseEvent).join(''));
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'well' }, finish_reason: 'stop' }] }),
  );
};

const [CHAT] = ASKS as [Ask];

/** Which target answers in the end, or the status of the error. */
async function servedBy(
  scene: Scene,
  ask: Ask = CHAT,
  more: object = {},
  sent: Record<string, string> = {},
): Promise<string> {
  const { status, headers } = await scene.host.post(ask.path, { model: 'm', ...ask.body, ...more }, sent);
  return status === 200 ? (headers.get('x-gateway-target') ?? 'none') : String(status);
}

describe('the next target', () => {
  const WORDS = ['context_length', 'content_policy', 'too_large', 'model_access'];

  for (const failover_on of [[], WORDS])
    it(`follows by class, with failover_on: [${failover_on.join(', ')}]`, async () => {
      const [second, clock] = [await stubUpstream(healthy), fakeClock()];
      const config = { strategy: { mode: 'fallback', failover_on } };
      const scene = await sceneOf(config, {}, [second.target('b')], { clock });
      for (const vector of FAULT_VECTORS.filter(({ reason }) => reason !== undefined)) {
        const { goesOn } = PROMISED[vector.reason as FaultReason];
        const isFollowed =
          goesOn === 'always' || (goesOn === 'listed' && failover_on.length > 0) || vector.reason === 'overload';
        scene.answers({ way: 'status', vector });
        const before = scene.calls();
        expect((await servedBy(scene)) === 'b', titleOf(vector)).to.equal(isFollowed);
        expect(scene.calls() - before, titleOf(vector)).to.equal(1);
        clock.advance(61_000); // it may rest
      }
    });
});

describe('a target whose account has no credit left', () => {
  async function pairWith(clock = fakeClock()): Promise<Scene & { readonly clock: ReturnType<typeof fakeClock> }> {
    const second = await stubUpstream(healthy);
    let current: FaultVector | undefined;
    const first = await stubUpstream((request, response) => {
      if (current) answer({ way: 'status', vector: current }, response);
      else void healthy(request, response);
    });
    const host = await startHost(
      {
        strategy: { mode: 'fallback' },
        targets: [first.target('a', { circuit_breaker: { failure_threshold: 2 } }), second.target('b')],
      },
      { clock },
    );
    return {
      host,
      clock,
      answers: ({ vector }) => {
        current = vector;
      },
      calls: () => first.seen.length,
    };
  }

  it('is passed over for 60 s, whatever it says, and tried again then', async () => {
    for (const vector of [vectorOf('B2', 'deepseek'), vectorOf('B4', 'xai', 429)]) {
      const scene = await pairWith();
      scene.answers({ way: 'status', vector });
      expect(await servedBy(scene)).to.equal('b');
      scene.clock.advance(59_000);
      expect(await servedBy(scene)).to.equal('b');
      expect(scene.calls()).to.equal(1);
      scene.clock.advance(2000);
      expect(await servedBy(scene)).to.equal('b');
      expect(scene.calls()).to.equal(2);
      await scene.host.close();
    }
  });

  it('is asked all the same where the refusal depends on the request, and its circuit stays closed', async () => {
    const ofRequest = FAULT_VECTORS.filter((vector) => vector.ofRequest);
    const asRates = ofRequest.map((vector) => ({ ...vector, status: 429 }));
    for (const vector of [...ofRequest, ...asRates, vectorOf('E8', 'openai')]) {
      const scene = await pairWith();
      scene.answers({ way: 'status', vector });
      for (let asked = 1; asked <= 4; asked += 1) {
        expect(await servedBy(scene)).to.equal('b');
        expect(scene.calls()).to.equal(asked);
      }
      await scene.host.close();
    }
  });

  it('is asked all the same where the words may be those of the client itself', async () => {
    const words = 'your Credit balance is too low to access';
    const body = { error: { message: `${words} is not a valid model ID`, code: 400 } };
    const vector: FaultVector = { id: 'own', vendor: 'any', status: 400, body, reason: 'billing' };
    for (const more of [
      { user: words },
      { metadata: { [words]: 'x' } },
      { messages: [{ role: 'user', content: [{ type: 'text', text: words }] }] },
    ]) {
      const scene = await pairWith();
      scene.answers({ way: 'status', vector });
      for (let asked = 1; asked <= 4; asked += 1) {
        expect(await servedBy(scene, CHAT, more)).to.equal('b');
        expect(scene.calls(), JSON.stringify(more)).to.equal(asked);
      }
      await scene.host.close();
    }
    const quoted = await pairWith(); // providers quote headers as well: "Unexpected value(s) `x` for the `anthropic-beta` header"
    quoted.answers({ way: 'status', vector });
    for (let asked = 1; asked <= 4; asked += 1) {
      expect(await servedBy(quoted, CHAT, {}, { 'anthropic-beta': words })).to.equal('b');
      expect(quoted.calls(), 'in a header').to.equal(asked);
    }
    await quoted.host.close();
    const scene = await pairWith();
    scene.answers({ way: 'status', vector });
    for (let asked = 1; asked <= 3; asked += 1) await servedBy(scene);
    expect(scene.calls(), 'without them in the request').to.equal(1);
  });

  it('is in the log with what the provider said, and nowhere else, where another target answers', async () => {
    const scene = await pairWith();
    scene.answers({ way: 'status', vector: vectorOf('B2', 'deepseek') });
    const reply = await post(scene, CHAT);
    expect(reply.text).to.not.include('Insufficient');
    const line = scene.host.lines.find(({ msg }) => String(msg).startsWith('the account at a provider was refused'));
    expect(line).to.include({ target: 'a', 'fault.reason': 'billing' });
    expect(JSON.stringify(line)).to.include('Insufficient Balance');
  });

  it('is in the line of a request that fails', async () => {
    const scene = await sceneOf();
    scene.answers({ way: 'status', vector: vectorOf('B2', 'deepseek') });
    await post(scene, CHAT);
    const line = scene.host.lines.find(({ msg }) => msg === 'request failed');
    expect(line).to.include({ 'fault.reason': 'billing' });
    expect(JSON.stringify(line)).to.include('Insufficient Balance');
  });
});

describe('refused content', () => {
  for (const [vendor, status] of [
    ['xai', 403],
    ['openrouter', 403],
  ] as const)
    it(`at ${vendor} leaves the circuit closed`, async () => {
      const scene = await sceneOf({}, { circuit_breaker: { failure_threshold: 1 } });
      scene.answers({ way: 'status', vector: vectorOf('P5', vendor, status) });
      for (let flagged = 0; flagged < 3; flagged += 1) expect((await post(scene, CHAT)).status).to.equal(400);
      expect(scene.calls()).to.equal(3);
    });
});
