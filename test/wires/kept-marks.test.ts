import { expect } from 'chai';
import { sentOf } from './sent-history.ts';

const MARK = { cache_control: { type: 'ephemeral' } };

/** Two calls and their results, with a mark wherever one may stand. */
const MARKED = {
  system: [{ type: 'text', text: 's', ...MARK }],
  tools: [{ name: 'tide', input_schema: { type: 'object' }, ...MARK }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'u', ...MARK }] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'a', name: 'tide', input: {}, ...MARK },
        { type: 'tool_use', id: 'b', name: 'tide', input: {}, ...MARK },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'one', ...MARK },
        { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'two' }], ...MARK },
        { type: 'text', text: 'v' },
        { type: 'text', text: '', ...MARK },
      ],
    },
  ],
};
const PATHS = [
  'system[0].cache_control',
  'messages[0].content[0].cache_control',
  'messages[1].content[0].cache_control',
  'messages[1].content[1].cache_control',
  'messages[2].content[0].cache_control',
  'messages[2].content[1].cache_control',
  'messages[2].content[3].cache_control',
  'tools[0].cache_control',
];

describe('marks of caches', () => {
  for (const provider of ['openai', 'azure-openai', 'groq', 'xai', 'deepseek', 'moonshot', 'gemini'])
    it(`stand nowhere at ${provider}, which caches by itself, and are not named`, async () => {
      const { body, lost } = await sentOf(provider, 'some-model', MARKED);
      expect(JSON.stringify(body)).to.not.include('cache_control');
      expect(lost).to.deep.equal([]);
    });

  for (const provider of ['mistral', 'together', 'nvidia-nim', 'fireworks', 'cohere', 'ollama'])
    it(`stand nowhere at ${provider}, and each is named`, async () => {
      const { body, lost } = await sentOf(provider, 'some-model', MARKED);
      expect(JSON.stringify(body)).to.not.include('cache_control');
      expect(lost).to.deep.equal(PATHS);
    });

  it('stand at openrouter on tools, parts and messages; that of a call on its message where it is the last', async () => {
    const { body, lost } = await sentOf('openrouter', 'anthropic/claude-opus-5', MARKED);
    expect(lost).to.deep.equal(['messages[1].content[0].cache_control']);
    const calls = ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: 'tide', arguments: '{}' } }));
    expect(body.tools[0]).to.deep.include(MARK);
    expect(body.messages).to.deep.equal([
      { role: 'system', content: [{ type: 'text', text: 's', ...MARK }] },
      { role: 'user', content: [{ type: 'text', text: 'u', ...MARK }] },
      { role: 'assistant', content: '', tool_calls: calls, ...MARK },
      { role: 'tool', tool_call_id: 'a', content: 'one', ...MARK },
      { role: 'tool', tool_call_id: 'b', content: 'two', ...MARK },
      { role: 'user', content: [{ type: 'text', text: 'v', ...MARK }] },
    ]);
  });

  it('stand at qwen on texts, where a marked result is a list of one', async () => {
    const { body, lost } = await sentOf('qwen', 'qwen3.6-plus', MARKED);
    expect(lost).to.deep.equal([PATHS[2], PATHS[3], PATHS[7]]);
    expect(body.messages[2]).to.not.have.property('cache_control');
    expect(body.messages.slice(3)).to.deep.equal([
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'one', ...MARK }] },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'two', ...MARK }] },
      { role: 'user', content: [{ type: 'text', text: 'v', ...MARK }] },
    ]);
  });

  it('stand at Claude on calls too', async () => {
    const { messages } = MARKED;
    const { body, lost } = await sentOf('anthropic', 'claude-opus-5-5', { messages: messages.slice(0, 3) });
    expect(lost).to.deep.equal([]);
    expect(body.messages[1].content[1]).to.deep.include({ type: 'tool_use', id: 'b', ...MARK });
  });

  it('are lost where they stand on nothing that goes', async () => {
    const { body, lost } = await sentOf('openrouter', 'x', {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '', ...MARK },
            { type: 'text', text: 'a' },
          ],
        },
      ],
    });
    expect(lost).to.deep.equal(['messages[0].content[0].cache_control']);
    expect(JSON.stringify(body)).to.not.include('cache_control');
  });
});
