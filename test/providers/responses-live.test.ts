import { createOpenAI } from '@ai-sdk/openai';
import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import { type Answer, answerOf, callsOf, sse, textsOf } from '../differential/answers/answer.ts';
import {
  type Heard,
  heardStreamed,
  heardStreamedByThem,
  heardWhole,
  heardWholeByThem,
} from '../differential/answers/heard.ts';
import { eventsOf, responseOf, responses } from '../differential/answers/responses.ts';
import {
  type Answer as Answered,
  ask,
  cases,
  chatReply,
  Dice,
  eventually,
  fakeClock,
  MASTER_KEY,
  openSse,
  replyJson,
  replyStream,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

type Fields = Record<string, any>;

const PATH = '/v1/chat/completions';

/** A target whose chats all go by the Responses API. */
const VIA = { chat_via: 'responses' };

const message = (words: string): Fields => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: words, annotations: [] }],
});
const TOLD = eventsOf(responseOf([message('tide')]), new Dice(1));
const failed = (error: unknown): Fields => ({
  type: 'response.failed',
  response: responseOf([], { status: 'failed', error, usage: null }),
});

const streamed =
  (events: readonly object[]): StubHandler =>
  (_request, response) => {
    openSse(response);
    response.end(sse(events, { isNamed: true }));
  };

/** A target by this API whose answers the test chooses, and one behind it that always answers. */
async function gateway(more: object = {}): Promise<TestHost & { answerWith: (handler: StubHandler) => void }> {
  let current: StubHandler = () => {};
  const first = await stubUpstream((request, response) => current(request, response));
  const second = await stubUpstream((request, response) =>
    request.json()['stream'] === true
      ? replyStream(response, ['second'])
      : replyJson(response, 200, chatReply('second')),
  );
  const targets = [first.target('a', VIA), second.target('b')];
  const host = await startHost({ strategy: { mode: 'fallback' }, targets, ...more });
  return Object.assign(host, {
    answerWith: (handler: StubHandler) => {
      current = handler;
    },
  });
}

const targetOf = ({ headers }: { readonly headers: Headers }): string | null => headers.get('x-gateway-target');

describe('chats by the Responses API, failures within a 200', () => {
  const ERRORS: readonly (readonly [Fields, number, string])[] = [
    [{ code: 'rate_limit_exceeded', message: 'Slow down.' }, 429, 'rate_limit_exceeded'],
    [{ code: 'insufficient_quota', message: 'No credit.' }, 429, 'rate_limit_exceeded'],
    [{ code: 'server_is_overloaded', message: 'Busy.' }, 502, 'upstream_error'],
    [{ code: 'slow_down', message: 'Busy.' }, 502, 'upstream_error'],
    [{ code: 'vector_store_timeout', message: 'Late.' }, 504, 'upstream_timeout'],
    [{ code: 'server_error', message: 'Sorry.' }, 502, 'upstream_error'],
    [{ code: null, type: 'server_error', message: 'Sorry.' }, 502, 'upstream_error'],
    [{ code: 'of_next_year', message: 'What?' }, 502, 'upstream_error'],
    [{}, 502, 'upstream_error'],
  ];
  const REFUSALS = [
    'context_length_exceeded',
    'invalid_prompt',
    'invalid_image_url',
    'image_too_large',
    'unsupported_image_media_type',
    'bio_policy',
    'cyber_policy',
    'misalignment_policy_violation',
    'data_residency_mismatch',
  ];

  /** A failure, whole or behind what a stream has said before. */
  const failing =
    (error: unknown, before = TOLD.slice(0, 2), end: Fields = failed(error)): StubHandler =>
    (request, response) =>
      request.json()['stream'] === true
        ? streamed([...before, end])(request, response)
        : replyJson(response, 200, responseOf([], { status: 'failed', error }));

  it('are answered by the next target: whole, before the first chunk of a stream, and after it an event', async () => {
    const shared = await gateway();
    for (const [at, [error, status]] of ERRORS.entries()) {
      const hostFor = status === 429 ? gateway : async () => shared; // a target that answers 429 rests for a while
      const answered = async (handler: StubHandler, stream: boolean): Promise<Answered> => {
        const host = await hostFor();
        host.answerWith(handler);
        return host.post(PATH, ask('hi', { stream }));
      };
      const shown = JSON.stringify(error);
      const answer = await answered(failing(error), false);
      expect([answer.status, targetOf(answer)], shown).to.deep.equal([200, 'b']);
      const end = [failed(error), { type: 'error', error }, { type: 'error', ...error }][at % 3]!;
      const early = await answered(failing(error, TOLD.slice(0, 2), end), true);
      expect([early.status, targetOf(early)], shown).to.deep.equal([200, 'b']);
      expect(early.text).to.include('second').and.to.include('[DONE]');
      const late = await answered(failing(error, TOLD.slice(0, 5), end), true);
      expect([late.status, targetOf(late)], shown).to.deep.equal([200, 'a']);
      expect(late.events().at(-1).error.type, shown).to.equal('stream_error');
    }
  });

  it('have the status of their code where there is no other target', async () => {
    const host = await gateway({ strategy: { mode: 'single' } });
    for (const [error, status, code] of ERRORS) {
      host.answerWith(failing(error));
      for (const stream of [false, true]) {
        const answer = await host.post(PATH, ask('hi', { stream }));
        expect([answer.status, answer.json().error.code], JSON.stringify([error, stream])).to.deep.equal([
          status,
          code,
        ]);
      }
    }
  });

  it('are 400 with the words of the vendor where the request is at fault, and no other target is asked', async () => {
    const host = await gateway();
    for (const code of REFUSALS) {
      const error = { code, message: `The request is at fault: ${code}.` };
      host.answerWith(failing(error));
      for (const stream of [false, true]) {
        const answer = await host.post(PATH, ask('hi', { stream }));
        expect(answer.status, code).to.equal(400);
        expect(answer.json().error.message).to.include(error.message);
      }
    }
  });
});

describe('chats by the Responses API, through the gateway', () => {
  it('are silent only where nothing comes at all: events without a chunk say that the answer goes on', async () => {
    const clock = fakeClock();
    const opened = Promise.withResolvers<ServerResponse>();
    const upstream = await stubUpstream((_request, response) => {
      openSse(response);
      opened.resolve(response);
    });
    const host = await startHost({ targets: [upstream.target('a', VIA)] }, { clock, streamIdleMs: 120 });
    const answer = host.post(PATH, ask('hi', { stream: true }));
    const response = await opened.promise;
    const events = [TOLD[0]!, TOLD[1]!, { type: 'keepalive' }, { type: 'response.web_search_call.searching' }];
    for (const event of events) {
      response.write(sse([event], { isNamed: true }));
      await eventually(() => clock.next === 120);
      clock.advance(100);
    }
    response.end(sse(TOLD.slice(2), { isNamed: true }));
    expect((await answer).text)
      .to.include('tide')
      .and.to.include('[DONE]');
  });

  it('end in 504 where only silence follows what gave no chunk', async () => {
    const clock = fakeClock();
    const upstream = await stubUpstream((_request, response) => {
      openSse(response);
      response.write(sse(TOLD.slice(0, 2), { isNamed: true }));
    });
    const host = await startHost({ targets: [upstream.target('a', VIA)] }, { clock, streamIdleMs: 120 });
    const answer = host.post(PATH, ask('hi', { stream: true }));
    await eventually(() => upstream.seen.length === 1);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    clock.advance(121);
    expect((await answer).status).to.equal(504);
  });

  it('leave out what the API does not have, as the configuration says', async () => {
    const asked = { stop: ['END'], seed: 7, n: 2, logit_bias: { 1: 2 }, prediction: { type: 'content', content: 'x' } };
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, responseOf([message('x')])));
    for (const policy of ['warn', 'drop', 'reject']) {
      upstream.seen.length = 0;
      const module = { params: { seed: 'unsupported', user: 'unsupported' } as const };
      const host = await startHost({
        targets: [upstream.target('a', VIA, module)],
        compatibility: { on_unsupported_param: policy },
      });
      const answer = await host.post(PATH, ask('hi', { ...asked, user: 'mate' }));
      const named = answer.headers.get('x-gateway-ignored-params')?.split(/, ?/) ?? [];
      if (policy === 'reject') {
        expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'unsupported_parameter']);
        for (const name of Object.keys(asked)) expect(answer.json().error.message).to.include(name);
        expect(upstream.seen).to.have.length(0);
        continue;
      }
      expect(answer.status).to.equal(200);
      expect(named).to.have.members(policy === 'warn' ? Object.keys(asked) : []);
      expect(upstream.seen[0]!.json())
        .to.include({ user: 'mate' })
        .and.not.have.any.keys(...Object.keys(asked));
    }
  });

  it('name a part that the API does not take by its place in the body of a client of another wire', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, {}));
    const host = await startHost({
      targets: [upstream.target('a', VIA)],
      responses: { translate: 'auto' },
    });
    const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
    const answer = await host.post('/v1/responses', {
      model: 'm',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'hear' }, sound] }],
    });
    expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'unsupported_parameter']);
    expect(answer.json().error.message).to.match(/^input\[0\]\.content\[1\]: /);
    expect(upstream.seen).to.have.length(0);
  });

  it('are heard by the official client as they were answered, and as another toolkit hears them', async () => {
    let sent: { readonly type: string; readonly bytes: Buffer } = { type: '', bytes: Buffer.alloc(0) };
    const upstream = await stubUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': sent.type }).end(sent.bytes);
    });
    const host = await startHost({ targets: [upstream.target('a', VIA)] });
    const client = new OpenAI({ baseURL: `${host.url}/v1`, apiKey: MASTER_KEY, maxRetries: 0 });
    const fetch = async (): Promise<Response> =>
      new Response(new Uint8Array(sent.bytes), { status: 200, headers: { 'content-type': sent.type } });
    const theirs = createOpenAI({ baseURL: 'http://127.0.0.1:9', apiKey: 'key', fetch }).responses('gpt-5.4');
    for (let seed = 1; seed <= cases(80); seed += 1) {
      const answer = answerOf(new Dice(seed));
      sent = { type: 'application/json', bytes: Buffer.from(JSON.stringify(responses.whole(answer, new Dice(seed)))) };
      const truth = truthOf(answer);
      expect(await heardWhole(client, 'm'), `seed ${seed}, whole`).to.deep.equal(truth);
      expect(await heardWholeByThem(theirs), `seed ${seed}, whole, by them`).to.deep.equal(truth);
      sent = { type: 'text/event-stream', bytes: responses.stream(answer, new Dice(seed)) };
      expect(await heardStreamed(client, 'm'), `seed ${seed}, streamed`).to.deep.equal(truth);
      expect(await heardStreamedByThem(theirs), `seed ${seed}, streamed, by them`).to.deep.equal(truth);
    }
  });
});

function truthOf(answer: Answer): Heard {
  const { finish, tokens } = answer;
  return {
    text: textsOf(answer, 'text'),
    reasoning: textsOf(answer, 'thought'),
    calls: callsOf(answer).map(({ name, input }) => ({ name, input })),
    finish: { stop: 'stop', length: 'length', calls: 'tool_calls', filter: 'content_filter' }[finish],
    usage: { input: tokens.input, output: tokens.output, cached: tokens.cached, reasoning: tokens.thought },
  };
}
