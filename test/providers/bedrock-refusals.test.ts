import { expect } from 'chai';
import { bodyOf, CLAUDE, LLAMA, MISTRAL, NOVA, PROFILE, refusal, sent, TITAN } from './bedrock-support.ts';

const EPHEMERAL = { type: 'ephemeral' };
const POINT = { cachePoint: { type: 'default' } };
const tool = (more: object = {}, of: object = {}): object => ({
  type: 'function',
  function: { name: 'tide', ...of },
  ...more,
});
const user = (content: unknown, more: object = {}): object => ({ role: 'user', content, ...more });
const assistant = (content: unknown, more: object = {}): object => ({ role: 'assistant', content, ...more });
const calling = (id: string): object =>
  assistant(null, { tool_calls: [{ id, type: 'function', function: { name: 'tide', arguments: '{}' } }] });
const result = (id: string, more: object = {}): object => ({ role: 'tool', tool_call_id: id, content: 'low', ...more });
const messagesOf = async (model: string, ...messages: readonly object[]): Promise<any[]> =>
  (await bodyOf(model, { messages })).messages;

describe('bedrock, the choice of a tool', () => {
  it("is Nova's too: auto, some, a certain one; none leaves the tools out", async () => {
    const chosen = async (tool_choice: unknown): Promise<unknown> =>
      (await bodyOf(NOVA, { tools: [tool()], tool_choice })).toolConfig?.toolChoice;
    expect(await chosen('auto')).to.deep.equal({ auto: {} });
    expect(await chosen('required')).to.deep.equal({ any: {} });
    expect(await chosen({ type: 'function', function: { name: 'tide' } })).to.deep.equal({ tool: { name: 'tide' } });
    const none = await sent(NOVA, { tools: [tool()], tool_choice: 'none' });
    expect([none.body.toolConfig, none.ignored]).to.deep.equal([undefined, []]);
    expect((await sent(NOVA, { tools: [tool()], tool_choice: 'sometimes' })).ignored).to.deep.equal(['tool_choice']);
  });
});

describe('bedrock, temperatures', () => {
  it('above 1 are bounded on every wire, and named so', async () => {
    const at: Readonly<Record<string, (body: any) => unknown>> = {
      [NOVA]: (body) => body.inferenceConfig.temperature,
      [MISTRAL]: (body) => body.inferenceConfig.temperature,
      [PROFILE]: (body) => body.inferenceConfig.temperature,
      [TITAN]: (body) => body.textGenerationConfig.temperature,
      [LLAMA]: (body) => body.temperature,
      [CLAUDE]: (body) => body.temperature,
    };
    for (const [model, temperatureIn] of Object.entries(at)) {
      const high = await sent(model, { temperature: 1.7 });
      expect([temperatureIn(high.body), high.bounded, high.ignored], model).to.deep.equal([1, ['temperature'], []]);
      for (const temperature of [0, 0.3, 1]) {
        const fits = await sent(model, { temperature });
        expect([temperatureIn(fits.body), fits.bounded], model).to.deep.equal([temperature, []]);
      }
    }
    const viaConverse = await sent(NOVA, { temperature: 2, tools: [tool()] });
    expect([viaConverse.body.inferenceConfig, viaConverse.bounded]).to.deep.equal([
      { temperature: 1 },
      ['temperature'],
    ]);
  });
});

describe('bedrock, turns that say nothing', () => {
  for (const model of [NOVA, MISTRAL]) {
    it(`are left out for ${model}, and their neighbours of one role become one`, async () => {
      expect(
        await messagesOf(
          model,
          user('a'),
          assistant(''),
          user(' \n'),
          assistant(null),
          user([
            { type: 'text', text: '' },
            { type: 'text', text: 'b' },
          ]),
        ),
      ).to.deep.equal([user([{ text: 'a' }, { text: 'b' }])]);
      expect(await messagesOf(model, user('a'), assistant('b'), user(''), assistant('c'), user('d'))).to.deep.equal([
        user([{ text: 'a' }]),
        assistant([{ text: 'b' }, { text: 'c' }]),
        user([{ text: 'd' }]),
      ]);
      for (const messages of [
        [user('')],
        [assistant([{ type: 'text', text: ' ' }])],
        [{ role: 'system', content: 's' }],
      ]) {
        expect(await refusal(model, { messages })).to.equal(
          'invalid_request: messages: bedrock needs a turn that says something',
        );
      }
    });

    it(`lose white space at the end of an answer that ${model} is to continue`, async () => {
      expect(
        (await messagesOf(model, user('a '), assistant('The tide is \n'))).map(({ content }) => content),
      ).to.deep.equal([[{ text: 'a ' }], [{ text: 'The tide is' }]]);
      expect((await messagesOf(model, user('a'), assistant('x '), user('b')))[1]).to.deep.equal(
        assistant([{ text: 'x ' }]),
      );
    });
  }

  it('may hold a refusal', async () => {
    expect(
      (await messagesOf(NOVA, user('a'), assistant([{ type: 'refusal', refusal: 'No.' }]), user('b')))[1],
    ).to.deep.equal(assistant([{ text: 'No.' }]));
    expect((await messagesOf(MISTRAL, user('a'), assistant(null, { refusal: 'No.' }), user('b')))[1]).to.deep.equal(
      assistant([{ text: 'No.' }]),
    );
    expect(
      (await bodyOf(TITAN, { messages: [user('a'), assistant([{ type: 'refusal', refusal: 'No.' }]), user('b')] }))
        .inputText,
    ).to.include('assistant: No.\n');
  });
});

describe('bedrock, ids of calls', () => {
  it('are made fit, apart and paired on Converse', async () => {
    const long = 'x'.repeat(65);
    const messages = await messagesOf(
      NOVA,
      user('a'),
      calling('a:b'),
      result('a:b'),
      calling('a;b'),
      result('a;b'),
      calling(long),
      result(long),
      calling('call_0_0'),
      result('call_0_0'),
      calling('call_0_0'),
      result('call_0_0'),
    );
    const ids = messages
      .slice(1)
      .map(({ content: [{ toolUse, toolResult }] }) => (toolUse ?? toolResult).toolUseId as string);
    for (let at = 0; at < ids.length; at += 2)
      expect(ids[at])
        .to.equal(ids[at + 1])
        .and.to.match(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(ids)).to.have.lengthOf(5);
    expect(ids).to.include('call_0_0');
  });
});

describe('bedrock, cache marks', () => {
  it('on messages, results and in functions are points where the model has them', async () => {
    const at = { cache_control: EPHEMERAL };
    const body = await bodyOf(NOVA, {
      messages: [{ role: 'system', content: 's', ...at }, user('a', at), calling('t'), result('t', at), user('b')],
    });
    expect(body.system).to.deep.equal([{ text: 's' }, POINT]);
    expect(body.messages[0].content).to.deep.equal([{ text: 'a' }, POINT]);
    expect(body.messages[2].content).to.deep.equal([
      { toolResult: { toolUseId: 't', content: [{ text: 'low' }] } },
      POINT,
      { text: 'b' },
    ]);
    expect(
      (await bodyOf(NOVA, { messages: [user([{ type: 'text', text: 'a', ...at }], at)] })).messages[0].content,
      'once',
    ).to.deep.equal([{ text: 'a' }, POINT]);
    expect((await bodyOf(PROFILE, { tools: [tool({}, at)] })).toolConfig.tools[1]).to.deep.equal(POINT);
  });

  it('are named where they have no place', async () => {
    for (const more of [
      { messages: [user('a', { cache_control: EPHEMERAL })] },
      { tools: [tool({}, { cache_control: EPHEMERAL })] },
    ]) {
      for (const model of [MISTRAL, LLAMA])
        expect((await sent(model, more)).ignored, model).to.deep.equal(['cache_control']);
    }
    expect((await sent(NOVA, { tools: [tool({}, { cache_control: EPHEMERAL })] })).ignored).to.deep.equal([
      'cache_control',
    ]);
    expect(
      (
        await sent(NOVA, {
          messages: [
            user([
              { type: 'text', text: '', cache_control: EPHEMERAL },
              { type: 'text', text: 'a' },
            ]),
          ],
        })
      ).ignored,
    ).to.deep.equal(['cache_control']);
  });

  it('are four at most, the last ones of the conversation', async () => {
    const at = { cache_control: EPHEMERAL };
    const turns = [user('a', at), assistant('b', at), user('c', at), assistant('d', at), user('e', at)];
    for (const more of [{}, { tools: [tool()] }]) {
      const { body, ignored } = await sent(NOVA, {
        messages: [{ role: 'system', content: 's', ...at }, ...turns],
        ...more,
      });
      expect(body.messages.map(({ content }: any) => content.length)).to.deep.equal([1, 1, 2, 2, 2]);
      expect([body.system.length, ignored]).to.deep.equal([2, ['cache_control']]);
    }
  });
});

describe('bedrock, strict tools', () => {
  it('are named on Converse, which has no field for strictness', async () => {
    for (const model of [NOVA, LLAMA, MISTRAL])
      expect((await sent(model, { tools: [tool({}, { strict: true })] })).ignored, model).to.deep.equal(['strict']);
    expect((await sent(NOVA, { tools: [tool({}, { strict: false })] })).ignored).to.deep.equal([]);
  });
});
