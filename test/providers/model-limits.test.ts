import { expect } from 'chai';
import type { ModelFacts } from '../../host/contract/index.ts';
import novita from '../../providers/novita/index.ts';
import { ask, sentBy } from '../kit/index.ts';

type Json = Record<string, any>;

/** What leaves of these fields for a model with these facts, at a provider that changes nothing by itself. */
async function left(more: Json, facts: ModelFacts, maxOutputTokens?: number): Promise<Json> {
  const options = { facts, ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
  const { body, ignored, bounded } = await sentBy(novita, 'chat', ask('hi', more) as never, options);
  const { model: _model, messages: _messages, ...fields } = body;
  return {
    ...fields,
    ...(ignored.length > 0 && { IGNORED: ignored }),
    ...(bounded.length > 0 && { BOUNDED: bounded }),
  };
}

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
const forced = { type: 'function', function: { name: 'f' } };

type Row = readonly [what: string, asked: Json, facts: ModelFacts, sent: Json];
const SAME = {};
const ROWS: readonly Row[] = [
  ['an effort it takes', { reasoning_effort: 'low' }, { efforts: ['low'] }, { reasoning_effort: 'low' }],
  [
    'the nearest effort',
    { reasoning_effort: 'max' },
    { efforts: ['low', 'high'] },
    { reasoning_effort: 'high', BOUNDED: ['reasoning_effort'] },
  ],
  [
    'the least effort, where it always thinks',
    { reasoning_effort: 'none' },
    { efforts: ['low', 'high'] },
    { reasoning_effort: 'low', IGNORED: ['reasoning_effort'] },
  ],
  ['no effort, where it takes none', { reasoning_effort: 'high' }, { efforts: [] }, { IGNORED: ['reasoning_effort'] }],
  ['no effort that is not one', { reasoning_effort: 'ultra' }, { efforts: ['low'] }, { IGNORED: ['reasoning_effort'] }],
  ['any effort, where nothing is known', { reasoning_effort: 'ultra' }, { summaries: true }, SAME],
  [
    'no effort of none, where thinking cannot be switched off',
    { reasoning_effort: 'none' },
    { thinking: 'switch', thinking_off: 'no' },
    { IGNORED: ['reasoning_effort'] },
  ],
  [
    "none for the provider's own switch",
    { reasoning_effort: 'none' },
    { thinking: 'switch', thinking_off: 'yes', efforts: ['low'] },
    SAME,
  ],
  ['sampling as it came', { temperature: 0.2, top_p: 0.5, top_k: 4 }, { sampling: 'always' }, SAME],
  [
    'one of temperature and top_p',
    { temperature: 0.2, top_p: 0.5, top_k: 4 },
    { sampling: 'one' },
    { temperature: 0.2, top_k: 4, IGNORED: ['top_p'] },
  ],
  ['top_p alone', { top_p: 0.5 }, { sampling: 'one' }, SAME],
  [
    'no sampling',
    { temperature: 0.2, top_p: 0.5, top_k: 4, logprobs: true, top_logprobs: 2 },
    { sampling: 'never' },
    { IGNORED: ['temperature', 'top_p', 'top_k', 'logprobs', 'top_logprobs'] },
  ],
  ['no word of what happens anyway', { temperature: 1, top_p: 1, logprobs: false }, { sampling: 'never' }, {}],
  [
    'sampling with an effort of none',
    { temperature: 0.2, reasoning_effort: 'none' },
    { sampling: 'effort_none', efforts: ['none', 'low'] },
    SAME,
  ],
  [
    'no sampling with another effort',
    { temperature: 0.2, reasoning_effort: 'low' },
    { sampling: 'effort_none', efforts: ['none', 'low'] },
    { reasoning_effort: 'low', IGNORED: ['temperature'] },
  ],
  [
    'no sampling where none became an effort',
    { temperature: 0.2, reasoning_effort: 'none' },
    { sampling: 'effort_none', efforts: ['low'] },
    { reasoning_effort: 'low', IGNORED: ['reasoning_effort', 'temperature'] },
  ],
  ['no sampling without an effort', { temperature: 0.2 }, { sampling: 'effort_none' }, { IGNORED: ['temperature'] }],
  [
    'nothing it refuses',
    { stop: ['x'], seed: 7, presence_penalty: 1, logit_bias: { 1: 2 }, user: 'u' },
    { refuses: ['stop', 'seed', 'presence_penalty', 'logit_bias', 'n'] },
    { user: 'u', IGNORED: ['stop', 'seed', 'presence_penalty', 'logit_bias'] },
  ],
  [
    'nothing it refuses, in silence where it asks for nothing',
    { stop: [], presence_penalty: 0, frequency_penalty: 0, logit_bias: {}, n: 1 },
    { refuses: ['stop', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'n'] },
    {},
  ],
  ['the ceiling by its name', { max_completion_tokens: 9 }, { ceiling: 'max_tokens' }, { max_tokens: 9 }],
  [
    'the ceiling by its newer name',
    { max_tokens: 9 },
    { ceiling: 'max_completion_tokens' },
    { max_completion_tokens: 9 },
  ],
  ['both ceilings', { max_tokens: 9, max_completion_tokens: 9 }, { ceiling: 'both' }, SAME],
  ['a ceiling within its longest answer', { max_tokens: 9 }, { max_output: 10 }, SAME],
  ['no higher ceiling', { max_tokens: 11 }, { max_output: 10 }, { max_tokens: 10, BOUNDED: ['max_tokens'] }],
  ['a forced tool', { tools, tool_choice: 'required' }, { forced_tool: 'any' }, SAME],
  [
    'no forced tool',
    { tools, tool_choice: forced },
    { forced_tool: 'never' },
    { tools, tool_choice: 'auto', IGNORED: ['tool_choice'] },
  ],
  ['a choice that forces nothing', { tools, tool_choice: 'none' }, { forced_tool: 'never' }, SAME],
  [
    'no forced tool while it thinks',
    { tools, tool_choice: 'required', reasoning_effort: 'low' },
    { forced_tool: 'not_thinking' },
    { tools, tool_choice: 'auto', reasoning_effort: 'low', IGNORED: ['tool_choice'] },
  ],
  [
    'a forced tool while it does not think',
    { tools, tool_choice: 'required', reasoning_effort: 'none' },
    { forced_tool: 'not_thinking' },
    SAME,
  ],
  ['a budget within bounds', { thinking_budget: 9 }, { budget: [0, 10] }, SAME],
  [
    'a budget at its bound',
    { thinking_budget: 11 },
    { budget: [0, 10] },
    { thinking_budget: 10, BOUNDED: ['thinking_budget'] },
  ],
];

describe('what a model takes of a chat in the common format', () => {
  for (const [what, asked, facts, sent] of ROWS)
    it(`is ${what}: ${JSON.stringify(asked).slice(0, 60)} by ${JSON.stringify(facts).slice(0, 60)}`, async () => {
      expect(await left(asked, facts)).to.deep.equal(sent === SAME ? asked : sent);
    });

  it('is bounded by the longest answer of the rules only where the catalog knows none', async () => {
    expect(await left({ max_tokens: 11 }, { max_output: 10 }, 20)).to.deep.equal({ max_tokens: 11 });
  });

  it('is a turn of the developer as the system only where the model knows no developer', async () => {
    const { default: openai } = await import('../../providers/openai/index.ts');
    const messages = [
      { role: 'developer', content: 'x' },
      { role: 'user', content: 'hi' },
    ];
    const rolesFor = async (facts: ModelFacts): Promise<string[]> =>
      (await sentBy(openai, 'chat', ask('hi', { messages }) as never, { facts })).body.messages.map(
        ({ role }: Json) => role,
      );
    expect(await rolesFor({ system_role: 'system' })).to.deep.equal(['system', 'user']);
    expect(await rolesFor({ system_role: 'developer' })).to.deep.equal(['developer', 'user']);
    expect(await rolesFor({})).to.deep.equal(['developer', 'user']);
  });

  it('is what the client wrote where nothing is known of the model', async () => {
    const asked = {
      reasoning_effort: 'max',
      temperature: 0.3,
      stop: ['x'],
      seed: 1,
      logprobs: true,
      top_logprobs: 3,
      max_tokens: 999_999,
      tools,
      tool_choice: 'required',
      thinking_budget: 5,
      thinking: { type: 'enabled' },
    };
    expect(await left(asked, {})).to.deep.equal(asked);
  });
});
