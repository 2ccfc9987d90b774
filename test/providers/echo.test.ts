import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import echo from '../../providers/echo/index.ts';
import { ECHO_MODELS } from '../../providers/echo/models.ts';
import {
  type Answer,
  ask,
  eventually,
  expectProportion,
  fakeClock,
  startHost,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const TARGETS = { targets: [{ virtual_key: 'echo' }] };
const docs = readFileSync(new URL('../../docs/echo.md', import.meta.url), 'utf8');

const hostOf = (options: TestHostOptions = {}, more: object = {}): Promise<TestHost> =>
  startHost({ ...TARGETS, ...more }, options);
const post = async (model: string, content: string, more: object = {}): Promise<Answer> =>
  (await hostOf()).post(PATH, ask(content, { model, ...more }));
const deltas = (answer: Answer): any[] =>
  answer
    .events()
    .filter((event) => event.choices?.length > 0)
    .map(({ choices: [choice] }) => choice);
const contentOf = (answer: Answer): string =>
  deltas(answer)
    .map(({ delta }) => delta.content ?? '')
    .join('');

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };

describe('echo', () => {
  it('needs no credential and no network', () => {
    expect(echo).to.include({ name: 'echo', wire: 'common', offline: true });
    expect(echo.connection.env).to.deep.equal([]);
  });

  it('answers with the last user message, whole or word by word', async () => {
    const messages = [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'then' },
      { role: 'user', content: 'Hello,  brave\nworld' },
      { role: 'tool', content: 'result', tool_call_id: 'c' },
    ];
    const whole = await post('echo', '', { messages });
    expect(whole.json().choices).to.deep.equal([
      { index: 0, message: { role: 'assistant', content: 'Hello,  brave\nworld' }, finish_reason: 'stop' },
    ]);
    const streamed = await post('echo', '', { messages, stream: true });
    expect(deltas(streamed).map(({ delta }) => delta.content)).to.deep.equal([
      '',
      'Hello,',
      '  brave',
      '\nworld',
      undefined,
    ]);
    expect(streamed.events().at(-1)).to.equal('[DONE]');
  });

  it('joins the text of parts, and says "echo" where there is none', async () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image_url', image_url: { url: 'https://h/i.png' } },
      { type: 'text', text: 'two' },
    ];
    expect((await post('echo', content as never)).json().choices[0].message.content).to.equal('one two');
    expect(
      (await post('echo', '', { messages: [{ role: 'system', content: 'rules' }] })).json().choices[0].message.content,
    ).to.equal('echo');
  });

  it('counts a word as a token, whole and streamed alike', async () => {
    const more = {
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'a b c' },
      ],
    };
    const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
    expect((await post('echo', '', more)).json().usage).to.deep.equal(usage);
    expect(
      (await post('echo', '', { ...more, stream: true })).events().find((event) => event.usage)?.usage,
    ).to.deep.equal(usage);
  });

  it('stops at the token ceiling, with finish reason length', async () => {
    for (const ceiling of [
      { max_tokens: 2 },
      { max_completion_tokens: 2 },
      { max_tokens: 9, max_completion_tokens: 2 },
    ]) {
      const [choice] = (await post('echo', 'a b c', ceiling)).json().choices;
      expect([choice.message.content, choice.finish_reason]).to.deep.equal(['a b', 'length']);
      const streamed = await post('echo', 'a b c', { ...ceiling, stream: true });
      expect([contentOf(streamed), deltas(streamed).at(-1).finish_reason]).to.deep.equal(['a b', 'length']);
    }
    expect((await post('echo', 'a b c', { max_tokens: 3 })).json().choices[0].finish_reason).to.equal('stop');
  });

  it('gives one request one answer, its id and time apart', async () => {
    const host = await hostOf();
    const [one, two] = [
      await host.post(PATH, ask('same', { model: 'echo' })),
      await host.post(PATH, ask('same', { model: 'echo' })),
    ];
    expect(one.json().choices).to.deep.equal(two.json().choices);
    expect(one.json().id)
      .to.match(/^chatcmpl-echo-[0-9a-f]{12}$/)
      .and.not.equal(two.json().id);
  });

  for (const unit of [' ', 'x', 'x ']) {
    it(`takes work in proportion to a message of nothing but ${JSON.stringify(unit)}`, async () => {
      const host = await hostOf();
      await expectProportion(50_000, (count) => {
        const content = unit.repeat(count);
        return async () => expect((await host.post(PATH, ask(content, { model: 'echo' }))).status).to.equal(200);
      });
    });
  }
});

describe('echo-tools', () => {
  it('calls the first tool, whole or in two fragments', async () => {
    const whole = await post('echo-tools', 'where "am" I', { tools: [TOOL, { ...TOOL, function: { name: 'other' } }] });
    const [choice] = whole.json().choices;
    expect(choice).to.deep.include({ finish_reason: 'tool_calls' });
    expect(choice.message).to.deep.equal({
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_echo_0',
          type: 'function',
          function: { name: 'look', arguments: JSON.stringify({ text: 'where "am" I' }) },
        },
      ],
    });
    const streamed = await post('echo-tools', 'where "am" I', { tools: [TOOL], stream: true });
    const calls = deltas(streamed).flatMap(({ delta }) => delta.tool_calls ?? []);
    expect(calls.map(({ function: { arguments: text } }) => text).join('')).to.equal(
      choice.message.tool_calls[0].function.arguments,
    );
    expect(calls.filter(({ id }) => id)).to.have.length(1);
    expect(deltas(streamed).at(-1).finish_reason).to.equal('tool_calls');
  });

  it('answers in words without tools', async () => {
    expect((await post('echo-tools', 'hi there')).json().choices[0]).to.deep.include({ finish_reason: 'stop' });
  });
});

describe('echo that fails', () => {
  it('fails with the status in its name, whole and streamed', async () => {
    const host = await hostOf();
    for (const [status, expected, code] of [
      [400, 400, 'invalid_request'],
      [401, 502, 'upstream_auth_error'],
      [404, 404, 'model_not_found'],
      [422, 422, 'invalid_request'],
      [429, 429, 'rate_limit_exceeded'],
      [503, 502, 'upstream_error'],
      [504, 504, 'upstream_timeout'],
    ] as const) {
      for (const stream of [false, true]) {
        const answer = await host.post(PATH, ask('hi', { model: `echo-error-${status}`, stream }));
        expect([answer.status, answer.json().error.code]).to.deep.equal([expected, code]);
        if (status === 400) expect(answer.json().error.message).to.equal('echo was asked to fail with 400');
      }
    }
  });

  it('breaks or cuts its stream after the first word, and is whole when it is not streamed', async () => {
    for (const model of ['echo-break', 'echo-cut']) {
      const answer = await post(model, 'one two', { stream: true });
      expect(contentOf(answer)).to.equal('one');
      expect(answer.events().at(-1).error.code).to.equal('stream_error');
      expect((await post(model, 'one two')).json().choices[0].message.content).to.equal('one two');
    }
  });
});

describe('echo-slow', () => {
  it('waits 300 ms before each word, and as long in all for a whole answer', async () => {
    for (const [stream, steps] of [
      [true, [300, 300, 300]],
      [false, [900]],
    ] as const) {
      const clock = fakeClock();
      const host = await hostOf({ clock, streamIdleMs: 3_600_000 });
      const pending = host.post(PATH, ask('a b c', { model: 'echo-slow', stream }));
      let isOver = false;
      void pending.then(() => {
        isOver = true;
      });
      for (const ms of steps) {
        await eventually(() => clock.next === ms);
        expect(isOver).to.equal(false);
        clock.advance(ms);
      }
      expect((await pending).status).to.equal(200);
    }
  });

  it('is left when the request has no time', async () => {
    const host = await hostOf({}, { request_timeout: '60ms' });
    expect((await host.post(PATH, ask('a b', { model: 'echo-slow' }))).json().error.code).to.equal('gateway_timeout');
  });
});

describe('documentation of echo', () => {
  it('names every model that is listed', () => {
    for (const model of ECHO_MODELS) expect(docs, model).to.include(`\`${model}\``);
  });
});
