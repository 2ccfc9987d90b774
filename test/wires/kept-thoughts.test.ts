import { expect } from 'chai';
import type { ChatMessage } from '../../host/contract/index.ts';
import { sealEnvelope } from '../../builtins/wires/envelope.ts';
import { sentBy, startHost, stubUpstream } from '../kit/index.ts';
import { saying } from './messages-kit.ts';
import { sentOf, targetOf } from './sent-history.ts';

const THOUGHT = { type: 'thinking', thinking: 'because', signature: 'c2ln' };
const toolTurn = (...blocks: object[]): object => ({
  messages: [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: [...blocks, { type: 'tool_use', id: 't', name: 'tide', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'high' }] },
  ],
  tools: [{ name: 'tide', input_schema: { type: 'object' } }],
});

describe('a thought of Claude', () => {
  for (const [provider, model] of [
    ['openai', 'gpt-5.6-sol'],
    ['azure-openai', 'prod'],
    ['xai', 'grok-4.6'],
    ['perplexity', 'sonar'],
    ['together', 'acme/unheard-of'],
    ['groq', 'moonshotai/kimi-k2.6'],
    ['mistral', 'codestral-latest'],
  ] as const)
    it(`does not reach ${provider} with ${model}, and is named`, async () => {
      const { body, lost } = await sentOf(provider, model, toolTurn(THOUGHT));
      expect(lost).to.deep.equal(['messages[1].content[0]']);
      expect(JSON.stringify(body)).to.not.match(/because|c2ln|reasoning/);
    });

  for (const provider of [
    'deepseek',
    'moonshot',
    'together',
    'fireworks',
    'deepinfra',
    'novita',
    'nvidia-nim',
    'ollama',
  ])
    for (const model of ['deepseek-ai/DeepSeek-V4', 'moonshotai/Kimi-K2.6', 'Qwen/Qwen3.7-Max', 'zai-org/GLM-5'])
      it(`is reasoning_content at ${provider} with ${model}, and is not named`, async () => {
        const { body, lost } = await sentOf(provider, model, toolTurn(THOUGHT));
        expect(lost).to.deep.equal([]);
        expect(body.messages[1])
          .to.include({ reasoning_content: 'because' })
          .and.not.have.property('reasoning_details');
      });

  it('is `reasoning` at cerebras and openrouter, with its details there, and a part at mistral', async () => {
    const cerebras = await sentOf('cerebras', 'gpt-oss-120b', toolTurn(THOUGHT));
    expect(cerebras.body.messages[1]).to.include({ reasoning: 'because' }).and.not.have.property('reasoning_content');
    const { body } = await sentOf('openrouter', 'anthropic/claude-opus-5', toolTurn(THOUGHT));
    expect(body.messages[1]).to.deep.include({ reasoning: 'because' });
    expect(body.messages[1].reasoning_details).to.deep.equal([
      { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'because', signature: 'c2ln' },
    ]);
    const mistral = await sentOf('mistral', 'magistral-medium', toolTurn(THOUGHT));
    expect(mistral.body.messages[1].content[0]).to.deep.include({ type: 'thinking' });
  });

  it('comes back unchanged at every cloud of Claude', async () => {
    for (const provider of ['bedrock', 'azure-foundry', 'vertex-ai', 'anthropic']) {
      const model = provider === 'bedrock' ? 'us.anthropic.claude-opus-4-8-v1' : 'claude-opus-4-8';
      const { body, lost } = await sentOf(provider, model, toolTurn(THOUGHT));
      expect(lost, provider).to.deep.equal([]);
      expect(body.messages[1].content[0], provider).to.deep.equal(THOUGHT);
    }
  });

  it('is the plan of a turn that calls tools at cohere, and is named in others', async () => {
    expect((await sentOf('cohere', 'command-a', toolTurn(THOUGHT))).body.messages[1]).to.include({
      tool_plan: 'because',
    });
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [THOUGHT, { type: 'text', text: 'b' }] },
      { role: 'user', content: 'c' },
    ];
    const { body, lost } = await sentOf('cohere', 'command-a', { messages });
    expect(lost).to.deep.equal(['messages[1].content[0]']);
    expect(JSON.stringify(body)).to.not.include('because');
  });

  it('of a turn without calls is named where the model wants those of calls alone', async () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [THOUGHT, { type: 'text', text: 'b' }] },
      { role: 'user', content: 'c' },
    ];
    for (const [model, lost] of [
      ['kimi-k2.6', ['messages[1].content[0]']],
      ['deepseek-v4', []],
    ] as const) {
      const sent = await sentOf('together', model, { messages });
      expect(sent.lost).to.deep.equal(lost);
      expect(JSON.stringify(sent.body).includes('because')).to.equal(lost.length === 0);
    }
  });

  it('is a signature of a call at gemini where the turn makes that call, and named where it does not', async () => {
    const signed = (id: string): object => ({
      type: 'thinking',
      thinking: '',
      signature: sealEnvelope([
        { type: 'reasoning.encrypted', index: 0, format: 'google-gemini-v1', id, data: 'c2ln' },
      ]),
    });
    const own = await sentOf('gemini', 'gemini-3.1-pro', toolTurn(signed('t')));
    expect([own.lost, JSON.stringify(own.body).includes('"thoughtSignature":"c2ln"')]).to.deep.equal([[], true]);
    const other = await sentOf('gemini', 'gemini-3.1-pro', toolTurn(signed('x')));
    expect(other.lost).to.deep.equal(['messages[1].content[0]']);
    expect(JSON.stringify(other.body)).to.not.include('c2ln');
  });

  it('that holds no text for a target that takes text is named', async () => {
    const { lost } = await sentOf('deepseek', 'deepseek-v4', toolTurn({ type: 'redacted_thinking', data: 'c2VhbGVk' }));
    expect(lost).to.deep.equal(['messages[1].content[0]']);
  });

  it('is not sent without the rest of its turn, and the turn is left out', async () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [THOUGHT] },
      { role: 'user', content: 'b' },
    ];
    const { body, lost } = await sentOf('openai', 'gpt-5.6', { messages });
    expect(body.messages).to.deep.equal([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ]);
    expect(lost).to.deep.equal(['messages[1].content[0]']);
  });
});

describe('a turn without thoughts', () => {
  const CALL = { id: 't', type: 'function', function: { name: 'tide', arguments: '{}' } };
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
    { role: 'assistant', content: null, tool_calls: [CALL] },
    { role: 'tool', tool_call_id: 't', content: 'd' },
  ];
  const thoughtsOf = async (provider: string, model: string, more: object = {}): Promise<unknown[]> => {
    const { module } = targetOf(provider, model);
    const { body } = await sentBy(module, 'chat', { model, messages, ...more });
    return body.messages.filter(({ role }: any) => role === 'assistant').map((each: any) => each.reasoning_content);
  };

  it('has an empty text where the model wants one with every turn, or with calls, wherever it is hosted', async () => {
    for (const provider of ['deepseek', 'together', 'fireworks', 'hugging-face']) {
      expect(await thoughtsOf(provider, 'x/DeepSeek-V4'), provider).to.deep.equal(['', '']);
      expect(await thoughtsOf(provider, 'x/kimi-k2.6'), provider).to.deep.equal([undefined, '']);
      expect(await thoughtsOf(provider, 'x/unheard-of'), provider).to.deep.equal([undefined, undefined]);
    }
    expect(await thoughtsOf('groq', 'moonshotai/kimi-k2.6')).to.deep.equal([undefined, undefined]);
    expect(await thoughtsOf('openrouter', 'deepseek/deepseek-v4')).to.deep.equal([undefined, undefined]);
  });

  it('has none where thinking is off, in the words of any host', async () => {
    for (const off of [
      { reasoning_effort: 'none' },
      { thinking: { type: 'disabled' } },
      { enable_thinking: false },
      { reasoning: { enabled: false } },
      { reasoning: { effort: 'none' } },
    ])
      expect(await thoughtsOf('together', 'x/DeepSeek-V4', off), JSON.stringify(off)).to.deep.equal([
        undefined,
        undefined,
      ]);
  });
});

describe('thoughts of a chat client', () => {
  const message = {
    role: 'assistant',
    content: 'b',
    reasoning_content: 'why',
    reasoning: 'so',
    reasoning_details: [{}],
  };
  const messageAt = async (provider: string, model: string, own: ChatMessage = message): Promise<any> => {
    const messages = [{ role: 'user', content: 'a' }, own, { role: 'user', content: 'c' }];
    const { body } = await sentBy(targetOf(provider, model).module, 'chat', { model, messages });
    return body.messages[1];
  };

  it('go on as they came, where the host does not refuse them', async () => {
    for (const [provider, model] of [
      ['openai', 'gpt-5.6'],
      ['together', 'x/unheard-of'],
      ['deepseek', 'deepseek-v4'],
    ] as const)
      expect(await messageAt(provider, model), provider).to.deep.equal(message);
  });

  it('are taken out where the host refuses them, and have its name where it has another', async () => {
    expect(await messageAt('groq', 'llama')).to.deep.equal({ role: 'assistant', content: 'b' });
    expect(
      await messageAt('cerebras', 'llama', { role: 'assistant', content: 'b', reasoning_content: 'why' }),
    ).to.deep.equal({
      role: 'assistant',
      content: 'b',
      reasoning: 'why',
    });
  });

  it('have the vendor of qwen read them: a switch, for the models that have it', async () => {
    const bodyOf = async (model: string, own: ChatMessage, more: object = {}): Promise<any> => {
      const messages = [{ role: 'user', content: 'a' }, own, { role: 'user', content: 'c' }];
      return (await sentBy(targetOf('qwen', model).module, 'chat', { model, messages, ...more })).body;
    };
    const thinking = { role: 'assistant', content: 'b', reasoning_content: 'why' };
    for (const model of ['qwen3.6-plus', 'qwen3.6-max', 'qwen3.7-flash', 'qwen3.8-max'])
      expect(await bodyOf(model, thinking), model).to.include({ preserve_thinking: true });
    for (const model of ['qwen3.6-35b-a3b', 'qwen3-max', 'qwen-plus'])
      expect(await bodyOf(model, thinking), model).to.not.have.property('preserve_thinking');
    expect(await bodyOf('qwen3.7-max', { role: 'assistant', content: 'b' })).to.not.have.property('preserve_thinking');
    expect(await bodyOf('qwen3.7-max', thinking, { preserve_thinking: false })).to.include({
      preserve_thinking: false,
    });
    expect(await bodyOf('qwen3.7-max', thinking, { reasoning_effort: 'none' })).to.not.have.property(
      'preserve_thinking',
    );
  });
});

describe('a conversation of an agent that does not show thoughts', () => {
  it('gives DeepSeek V4 back what it thought, without showing it', async () => {
    const upstream = await stubUpstream(saying({ content: 'x', reasoning_content: 'because' }));
    const host = await startHost(
      { strategy: { mode: 'single' }, targets: [{ virtual_key: 'deepseek', models: ['deepseek-v4'] }] },
      { variables: { DEEPSEEK_API_KEY: 'x', DEEPSEEK_BASE_URL: upstream.url } },
    );
    const ask = { model: 'deepseek-v4', max_tokens: 64, thinking: { type: 'adaptive', display: 'omitted' } };
    const block = {
      type: 'thinking',
      thinking: '',
      signature: sealEnvelope([{ type: 'reasoning.text', text: 'because' }]),
    };
    const answer = await host.post('/v1/messages', {
      ...ask,
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [block, { type: 'text', text: 'x' }] },
        { role: 'user', content: 'b' },
      ],
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).to.not.include('because');
    const { messages } = upstream.seen[0]!.json() as { messages: object[] };
    expect(messages[1]).to.include({ reasoning_content: 'because' });
  });
});
