import { expect } from 'chai';
import { refusalsOf } from '../kit/strict/index.ts';
import { askModels } from './models.ts';

/** A slice of what `npm run test:soak` asks. */
const REQUESTS = 200;

describe('vendors that hold requests to what their models take', () => {
  it(`take what leaves for them, whatever the client's wire: ${REQUESTS} requests`, () => askModels(1, REQUESTS));

  const user = [{ role: 'user', content: 'hi' }];
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  const REFUSED: readonly (readonly [model: string, path: string, more: object, words: string | undefined])[] = [
    ['openai/gpt-5.6', '/chat/completions', { tools }, 'use /v1/responses'],
    ['openai/gpt-5.6', '/chat/completions', { tools, reasoning_effort: 'low' }, 'use /v1/responses'],
    ['openai/gpt-5.6', '/chat/completions', { tools, reasoning_effort: 'none' }, undefined],
    ['openai/gpt-5.4', '/chat/completions', { tools }, undefined],
    ['openai/gpt-5.4', '/chat/completions', { tools, reasoning_effort: 'high' }, 'use /v1/responses'],
    ['openai/gpt-6-astra', '/chat/completions', { tools, reasoning_effort: 'low' }, 'use /v1/responses'],
    ['openai/gpt-5-pro', '/chat/completions', {}, 'only supported in v1/responses'],
    ['openai/gpt-audio', '/responses', { input: [] }, 'not supported with the Responses API'],
    ['openai/gpt-5.6', '/responses', { input: [], reasoning: { effort: 'max' } }, "does not support 'max'"],
    ['openai/gpt-5.6', '/responses', { input: [], max_output_tokens: 1 }, '>= 16'],
    ['openai/gpt-5.6', '/responses', { input: [], stop: ['x'] }, "'stop'"],
    ['openai/gpt-5.6', '/responses', { input: [{ type: 'reasoning', summary: [] }] }, 'encrypted_content'],
    ['openai/gpt-5.6', '/responses', { input: [{ id: 'rs_1', role: 'user', content: 'hi' }] }, 'not persisted'],
    ['openai/gpt-5.6', '/responses', { input: [], reasoning: { effort: 'xhigh' }, tools: [] }, undefined],
    ['openai/gpt-4o', '/chat/completions', { reasoning_effort: 'low' }, 'Unrecognized request argument'],
    ['openai/gpt-5', '/chat/completions', { temperature: 0 }, "'temperature'"],
    ['openai/gpt-5', '/chat/completions', { temperature: 1 }, undefined],
    ['openai/gpt-5', '/chat/completions', { max_tokens: 9 }, 'max_completion_tokens'],
    ['openai/o3', '/chat/completions', { stop: ['x'] }, "'stop'"],
    ['deepseek/deepseek-v4-pro', '/chat/completions', { reasoning_effort: 'medium' }, 'unknown variant'],
    [
      'deepseek/deepseek-v4-pro',
      '/chat/completions',
      { messages: [...user, { role: 'assistant', content: 'x' }, ...user] },
      'must be passed back',
    ],
    ['anthropic/claude-opus-5-5', '/messages', { max_tokens: 9, thinking: { type: 'disabled' } }, '"disabled"'],
    ['anthropic/claude-opus-4-8', '/messages', { max_tokens: 9, thinking: { type: 'disabled' } }, undefined],
    ['anthropic/claude-opus-4-8', '/messages', { max_tokens: 9, temperature: 0.5 }, '`temperature`'],
    ['anthropic/claude-sonnet-4-6', '/messages', { max_tokens: 9, output_config: { effort: 'xhigh' } }, '"xhigh"'],
    ['anthropic/claude-opus-4-1', '/messages', { max_tokens: 64_000 }, 'max_tokens'],
    [
      'anthropic/claude-fable-5-1',
      '/messages',
      { max_tokens: 9, tools: [{ name: 'f', input_schema: { type: 'object' } }], tool_choice: { type: 'any' } },
      'forces tool use',
    ],
  ];
  for (const [model, path, more, words] of REFUSED)
    it(`${words === undefined ? 'take' : 'refuse'} what the real ones do: ${model} ${path} ${JSON.stringify(more).slice(0, 90)}`, () => {
      const [provider = '', name = ''] = model.split('/');
      const body = path === '/responses' ? { model: name, ...more } : { model: name, messages: user, ...more };
      const found = refusalsOf({ provider, model: name, path, body }).join('\n');
      if (words === undefined) expect(found).to.equal('');
      else expect(found).to.include(words);
    });
});
