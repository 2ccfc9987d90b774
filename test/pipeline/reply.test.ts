import { expect } from 'chai';
import { type Answer, ask, chatReply, replyJson, startHost, stubUpstream } from '../kit/index.ts';

const answerTo = async (reply: object): Promise<Answer> => {
  const upstream = await stubUpstream((_request, response) => replyJson(response, 200, reply));
  const host = await startHost({ targets: [upstream.target('a')] });
  return host.post('/v1/chat/completions', ask());
};

const choice = (message: object, finish_reason: unknown = 'stop'): object => ({
  index: 0,
  message: { role: 'assistant', ...message },
  finish_reason,
});

describe('a whole chat reply', () => {
  it('says the model asked for and the target, and keeps what the upstream says of itself', async () => {
    const reply = (
      await answerTo(chatReply('hello', { system_fingerprint: 'f', provider_metadata: { citations: ['c'] } }))
    ).json();
    expect(reply).to.deep.include({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'm',
      provider: 'a',
      system_fingerprint: 'f',
      provider_metadata: { citations: ['c'] },
    });
  });

  it('is read behind a byte order mark, whatever type it says it has', async () => {
    for (const type of ['application/json', 'text/plain']) {
      const upstream = await stubUpstream((_request, response) => {
        response.writeHead(200, { 'content-type': type }).end(`\uFEFF${JSON.stringify(chatReply('hello'))}`);
      });
      const host = await startHost({ targets: [upstream.target('a')] });
      expect((await host.post('/v1/chat/completions', ask())).json().choices[0].message.content).to.equal('hello');
    }
  });

  for (const missing of [undefined, null, '', 0]) {
    it(`has object and time although the upstream sent ${JSON.stringify(missing)}`, async () => {
      const { object, created } = (await answerTo(chatReply('hello', { object: missing, created: missing }))).json();
      expect(object).to.equal('chat.completion');
      expect(created).to.be.closeTo(Date.now() / 1000, 5);
    });
  }

  it('has whole seconds although the upstream sent a fraction', async () => {
    expect((await answerTo(chatReply('hello', { created: 1_700_000_000.5 }))).json().created).to.satisfy(
      Number.isSafeInteger,
    );
  });

  it('always has content, null beside tool calls alone', async () => {
    const tool_calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }];
    for (const message of [{ tool_calls }, { content: null, tool_calls }, { content: '', tool_calls }]) {
      expect(
        (await answerTo({ ...chatReply(''), choices: [choice(message, 'tool_use')] })).json().choices[0],
      ).to.deep.equal({
        index: 0,
        message: { role: 'assistant', content: null, tool_calls },
        finish_reason: 'tool_calls',
      });
    }
    expect((await answerTo(chatReply(''))).json().choices[0].message.content).to.equal('');
  });

  it('has calls with an id, a type and arguments, whatever the upstream leaves out', async () => {
    const target = { name: 'f', arguments: '{}' };
    const sent = [
      { function: target },
      { id: null, type: null, function: { name: 'f' } },
      { id: '', type: '', function: target },
    ];
    const callsOf = async (calls: unknown): Promise<any[]> =>
      (await answerTo({ ...chatReply(''), choices: [choice({ tool_calls: calls }, 'tool_calls')] })).json().choices[0]
        .message.tool_calls;
    const calls = await callsOf(sent);
    expect(calls.map(({ id: _id, ...call }) => call)).to.deep.equal([
      { type: 'function', function: target },
      { type: 'function', function: { name: 'f', arguments: '' } },
      { type: 'function', function: target },
    ]);
    const made = [...calls, ...(await callsOf([sent[0]]))].map(({ id }) => id as string);
    for (const id of made) expect(id).to.match(/^call_[\da-f]{24}$/);
    expect(new Set(made).size).to.equal(4);
    expect(await callsOf({ id: 'a', type: 'function', function: target })).to.deep.equal([
      { id: 'a', type: 'function', function: target },
    ]);
  });

  it('names tools without the marks of a channel that some models leave behind them', async () => {
    const calls = ['f<|channel|>commentary', 'f', '<|f'].map((name, at) => ({
      id: `c${at}`,
      type: 'function',
      function: { name, arguments: '{}' },
    }));
    const answer = await answerTo({ ...chatReply(''), choices: [choice({ tool_calls: calls }, 'tool_calls')] });
    expect(answer.json().choices[0].message.tool_calls.map((call: any) => call.function.name)).to.deep.equal([
      'f',
      'f',
      '<|f',
    ]);
  });

  it('calls reasoning by one name, and keeps logprobs', async () => {
    const logprobs = { content: [{ token: 'a', logprob: -1 }] };
    const [first] = (
      await answerTo({ ...chatReply(''), choices: [{ ...choice({ content: 'x', reasoning: 'why' }), logprobs }] })
    ).json().choices;
    expect(first).to.deep.equal({
      index: 0,
      message: { role: 'assistant', content: 'x', reasoning_content: 'why' },
      logprobs,
      finish_reason: 'stop',
    });
  });
});
