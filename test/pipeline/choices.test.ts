import { expect } from 'chai';
import { MAX_CHOICES } from '../../host/answer/chunk-normalizer.ts';
import {
  ask,
  chatReply,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  type StubHandler,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';
const FILTER = {
  name: 'word-filter',
  stage: 'after_request',
  enabled: true,
  config: { blocked_words: ['secret'], stream: 'window' },
};

const hostOf = async (handler: StubHandler, plugins: readonly object[] = []): Promise<TestHost> => {
  const upstream = await stubUpstream(handler);
  return startHost({ targets: [upstream.target('a')], plugins });
};

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const whole = (choices: readonly object[]): object => ({ ...chatReply(''), choices });

describe('the choices of an answer', () => {
  it(`are ${MAX_CHOICES} at most, of a whole one`, async () => {
    const message = { role: 'assistant', content: 'x' };
    let choices = times(MAX_CHOICES, (index) => ({ index, message, finish_reason: 'stop' }));
    const host = await hostOf((_request, response) => replyJson(response, 200, whole(choices)));
    expect((await host.post(CHAT, ask())).json().choices).to.have.length(MAX_CHOICES);
    for (const more of [MAX_CHOICES + 1, 300_000]) {
      choices = times(more, () => ({ message }) as any);
      const answer = await host.post(CHAT, ask());
      expect([answer.status, answer.json().error.code]).to.deep.equal([502, 'upstream_error']);
    }
  });

  for (const [what, plugins] of [
    ['without a guard', []],
    ['under a guard', [FILTER]],
  ] as const) {
    it(`are as many of a frame, and of all frames: ${what}`, async () => {
      let frames: readonly object[] = [];
      const host = await hostOf((_request, response) => {
        openSse(response);
        response.end([...frames, '[DONE]'].map(sseEvent).join(''));
      }, plugins);
      const run = async (...sent: readonly object[]): Promise<{ status: number; last: any }> => {
        frames = sent;
        const answer = await host.post(CHAT, ask('hi', { stream: true }));
        return { status: answer.status, last: answer.status === 200 ? answer.events().at(-1) : answer.json() };
      };
      const piece = (index: number, finish_reason: string | null = 'stop'): object => ({
        index,
        delta: { content: 'x' },
        finish_reason,
      });
      const frame = (choices: readonly object[]): object => ({ id: 'c', choices });
      expect(await run(frame(times(MAX_CHOICES, (index) => piece(index))))).to.deep.equal({
        status: 200,
        last: '[DONE]',
      });
      for (const choices of [times(MAX_CHOICES + 1, (index) => piece(index)), times(300_000, () => ({}))]) {
        const { status, last } = await run(frame(choices));
        expect([status, last.error.code]).to.deep.equal([502, 'upstream_error']);
      }
      const { status, last } = await run(...times(MAX_CHOICES + 1, (index) => frame([piece(index, null)])));
      expect([status, last.error?.code]).to.deep.equal([200, 'stream_error']);
    });
  }

  it('have an index that is a place, and calls too', async () => {
    const odd = [-1, 1.5, '0', null, { a: 1 }, [], true, 2 ** 53];
    const call = (index: unknown): object => ({
      index,
      id: 'c',
      type: 'function',
      function: { name: 'f', arguments: '{}' },
    });
    const host = await hostOf((request, response) => {
      if (request.json()['stream'] !== true) {
        replyJson(
          response,
          200,
          whole(
            odd.map((index) => ({
              index,
              message: { role: 'assistant', tool_calls: [call(index)] },
              finish_reason: 'stop',
            })),
          ),
        );
        return;
      }
      openSse(response);
      response.end(
        [
          ...odd.map((index) => ({ choices: [{ index, delta: { tool_calls: [call(index)] } }] })),
          { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
          '[DONE]',
        ]
          .map(sseEvent)
          .join(''),
      );
    });
    const { choices } = (await host.post(CHAT, ask())).json();
    expect(choices.map(({ index }: any) => index)).to.deep.equal(odd.map((_, place) => place));
    expect(
      choices.flatMap(({ message }: any) => message.tool_calls.filter((each: object) => 'index' in each)),
    ).to.deep.equal([]);
    const events = (await host.post(CHAT, ask('hi', { stream: true }))).events().slice(0, -1);
    expect(new Set(events.flatMap((event) => event.choices.map(({ index }: any) => index)))).to.deep.equal(
      new Set([0]),
    );
    expect(
      events.flatMap((event) =>
        event.choices.flatMap(({ delta }: any) => (delta.tool_calls ?? []).map(({ index }: any) => index)),
      ),
      'one call, in pieces',
    ).to.deep.equal(odd.map(() => 0));
  });

  it('end once each, though the upstream repeats their end in a later chunk', async () => {
    const chunk = (delta: object, finish_reason: string | null, more: object = {}): object => ({
      id: 'c',
      choices: [{ index: 0, delta, finish_reason }],
      ...more,
    });
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    let repeated: object = {};
    const host = await hostOf((_request, response) => {
      openSse(response);
      response.end(
        [chunk({ role: 'assistant', content: 'x' }, null), chunk({}, 'stop'), repeated, '[DONE]']
          .map(sseEvent)
          .join(''),
      );
    });
    const bare = { role: 'assistant', content: '', reasoning_details: [] };
    for (const [what, delta, more] of [
      ['alone', bare, {}],
      ['beside usage', bare, { usage }],
      ['empty', {}, {}],
    ] as const) {
      repeated = chunk(delta, 'stop', more);
      const ends = (await host.post(CHAT, ask('hi', { stream: true })))
        .events()
        .filter((event) => event.choices?.some((choice: any) => choice.finish_reason !== null));
      expect(ends, what).to.have.length(1);
    }
    repeated = chunk({ content: 'more' }, 'stop');
    expect((await host.post(CHAT, ask('hi', { stream: true }))).text).to.include('more');
  });
});
