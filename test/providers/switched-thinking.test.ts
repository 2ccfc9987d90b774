import { expect } from 'chai';
import type { ChatRequest, ProviderModule } from '../../host/contract/index.ts';
import deepseek from '../../providers/deepseek/index.ts';
import moonshot from '../../providers/moonshot/index.ts';
import qwen from '../../providers/qwen/index.ts';
import xai from '../../providers/xai/index.ts';
import { ask, sentBy } from '../kit/index.ts';

type Json = Record<string, any>;
const IGNORED = { IGNORED: ['reasoning_effort'] };
const BOUNDED = { BOUNDED: ['reasoning_effort'] };

/** What leaves for a model beside its conversation. */
async function left(module: ProviderModule, model: string, more: Json): Promise<Json> {
  const { body, ignored, bounded } = await sentBy(
    module,
    'chat',
    ask('hi', { model, ...more }) as unknown as ChatRequest,
  );
  const { model: _model, messages: _messages, ...fields } = body;
  return {
    ...fields,
    ...(ignored.length > 0 && { IGNORED: ignored }),
    ...(bounded.length > 0 && { BOUNDED: bounded }),
  };
}

type Row = readonly [model: string, asked: Json, sent: Json];
const ROWS: readonly (readonly [ProviderModule, readonly Row[]])[] = [
  [
    qwen,
    [
      ['qwen-plus', { reasoning_effort: 'none' }, { enable_thinking: false }],
      ['qwen-plus', { reasoning_effort: 'low' }, { enable_thinking: true, thinking_budget: 2048, ...BOUNDED }],
      ['qwen3.7-max', { reasoning_effort: 'max' }, { enable_thinking: true, thinking_budget: 30_720, ...BOUNDED }],
      [
        'qwen-plus',
        { reasoning_effort: 'low', thinking_budget: 99_999 },
        { enable_thinking: true, thinking_budget: 38_912, BOUNDED: ['thinking_budget', 'reasoning_effort'] },
      ],
      ['qwen3-235b-a22b-thinking-2507', { reasoning_effort: 'none' }, IGNORED],
      ['qwen3-coder-plus', { reasoning_effort: 'low' }, { reasoning_effort: 'low' }],
      ['qwen3-coder-plus', { reasoning_effort: 'none' }, { enable_thinking: false }],
    ],
  ],
  [
    moonshot,
    [
      ['kimi-k2.5', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
      ['kimi-k2.6', { reasoning_effort: 'high' }, { thinking: { type: 'enabled' }, ...BOUNDED }],
      [
        'kimi-k2.6',
        { reasoning_effort: 'high', thinking: { type: 'disabled' } },
        { thinking: { type: 'disabled' }, ...BOUNDED },
      ],
      ['kimi-k2.7-code', { reasoning_effort: 'none' }, IGNORED],
      ['kimi-k2.7-code', { reasoning_effort: 'low' }, BOUNDED],
      ['kimi-k3', { reasoning_effort: 'none' }, { reasoning_effort: 'low', ...IGNORED }],
      ['kimi-k3', { reasoning_effort: 'xhigh' }, { reasoning_effort: 'max', ...BOUNDED }],
      [
        'kimi-k3',
        { thinking: { type: 'enabled' }, reasoning_effort: 'low' },
        { reasoning_effort: 'low', IGNORED: ['thinking'] },
      ],
      ['kimi-k2.5', { temperature: 0.5, n: 1, seed: 3 }, { IGNORED: ['temperature', 'seed'] }],
      ['moonshot-v1-8k', { reasoning_effort: 'none' }, IGNORED],
      ['moonshot-v1-8k', { temperature: 0.5, thinking: { type: 'x' } }, { temperature: 0.5, thinking: { type: 'x' } }],
    ],
  ],
  [
    deepseek,
    [
      ['deepseek-v4-pro', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
      ['deepseek-v4-pro', { reasoning_effort: 'medium' }, { reasoning_effort: 'high', ...BOUNDED }],
      ['deepseek-v4-flash', { reasoning_effort: 'xhigh' }, { reasoning_effort: 'max', ...BOUNDED }],
      ['deepseek-chat', { reasoning_effort: 'medium' }, { reasoning_effort: 'medium' }],
    ],
  ],
  [
    xai,
    [
      ['grok-4.3', { reasoning_effort: 'none' }, { reasoning_effort: 'none' }],
      ['grok-4.6', { reasoning_effort: 'max' }, { reasoning_effort: 'xhigh', ...BOUNDED }],
      ['grok-4-0709', { reasoning_effort: 'low' }, IGNORED],
      ['grok-4.5', { stop: ['x'], presence_penalty: 0 }, { IGNORED: ['stop'] }],
      [
        'grok-4.5',
        { logprobs: true, top_logprobs: 20 },
        { logprobs: true, top_logprobs: 8, BOUNDED: ['top_logprobs'] },
      ],
    ],
  ],
];

for (const [module, rows] of ROWS)
  describe(`${module.name}, thinking by the rules of its models`, () => {
    for (const [model, asked, sent] of rows)
      it(`of ${model}: ${JSON.stringify(asked)}`, async () => {
        expect(await left(module, model, asked)).to.deep.equal(sent);
      });
  });
