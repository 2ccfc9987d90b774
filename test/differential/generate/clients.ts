import type { Dice } from '../../kit/index.ts';

type Json = Record<string, any>;

/** Clients' own formats. */
export const CLIENT_WIRES = ['chat', 'messages', 'gemini', 'responses'] as const;
export type ClientWire = (typeof CLIENT_WIRES)[number];

const some = (dice: Dice, one: number, make: () => Json): Json => (dice.below(one) === 0 ? make() : {});
const CEILINGS = [16, 4000, 70_000, 200_000];
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

/** A request of a client of this wire: tools, how hard to think, ceilings, sampling, and turns before it, each now and then. */
export const clientBody = (dice: Dice, wire: ClientWire): Json => BODIES[wire](dice);

const BODIES: Readonly<Record<ClientWire, (dice: Dice) => Json>> = {
  chat: (dice) => {
    const calls = dice.below(3) === 0;
    return {
      messages: [
        ...(dice.below(2) === 0 ? [{ role: dice.pick(['system', 'developer']), content: 'Be brief.' }] : []),
        { role: 'user', content: 'hi' },
        ...(calls ? chatTurns(dice) : []),
        { role: 'user', content: 'go on' },
      ],
      ...some(dice, 2, () => ({ reasoning_effort: dice.pick(EFFORTS) })),
      ...some(dice, 3, () => ({ [dice.pick(['max_tokens', 'max_completion_tokens'])]: dice.pick(CEILINGS) })),
      ...some(dice, 4, () => ({ temperature: dice.pick([0, 0.5, 1]) })),
      ...some(dice, 5, () => ({ top_p: dice.pick([0.5, 1]) })),
      ...some(dice, 6, () => ({ stop: dice.pick([['END'], []]) })),
      ...some(dice, 6, () => ({ presence_penalty: dice.pick([0, 1]) })),
      ...some(dice, 6, () => ({ logit_bias: dice.pick([{}, { 50256: -100 }]) })),
      ...some(dice, 8, () => ({ logprobs: true, top_logprobs: 2 })),
      ...(calls || dice.below(3) === 0 ? chatTools(dice) : {}),
    };
  },
  messages: (dice) => {
    const calls = dice.below(3) === 0;
    const most = dice.pick(CEILINGS);
    return {
      max_tokens: most,
      messages: [
        { role: 'user', content: 'hi' },
        ...(calls
          ? [
              { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'tide', input: {} }] },
              { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'high' }] },
              { role: 'assistant', content: 'It is high.' },
              { role: 'user', content: 'go on' },
            ]
          : []),
      ],
      ...some(dice, 2, () => ({ system: 'Be brief.' })),
      ...some(dice, 2, () => ({ thinking: thinkingOf(dice, most) })),
      ...some(dice, 3, () => ({ output_config: { effort: dice.pick(EFFORTS.slice(2)) } })),
      ...some(dice, 4, () => ({ temperature: dice.pick([0, 0.5, 1]) })),
      ...some(dice, 5, () => ({ top_p: dice.pick([0.5, 1]) })),
      ...some(dice, 6, () => ({ top_k: 40 })),
      ...some(dice, 6, () => ({ stop_sequences: ['END'] })),
      ...(calls || dice.below(3) === 0
        ? {
            tools: [{ name: 'tide', input_schema: SCHEMA }],
            ...some(dice, 3, () => ({ tool_choice: { type: dice.pick(['auto', 'any', 'none']) } })),
          }
        : {}),
    };
  },
  gemini: (dice) => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: {
      ...some(dice, 3, () => ({ maxOutputTokens: dice.pick(CEILINGS) })),
      ...some(dice, 4, () => ({ temperature: dice.pick([0, 0.5, 1]) })),
      ...some(dice, 5, () => ({ topP: 0.5 })),
      ...some(dice, 6, () => ({ presencePenalty: 1 })),
      ...some(dice, 2, () => ({
        thinkingConfig: dice.pick([
          ...['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'].map((thinkingLevel) => ({ thinkingLevel })),
          ...[-1, 0, 512, 8000, 31_000].map((thinkingBudget) => ({ thinkingBudget })),
        ]),
      })),
    },
    ...some(dice, 3, () => ({
      tools: [{ functionDeclarations: [{ name: 'tide', parameters: SCHEMA }] }],
      ...some(dice, 3, () => ({ toolConfig: { functionCallingConfig: { mode: dice.pick(['AUTO', 'ANY', 'NONE']) } } })),
    })),
  }),
  responses: (dice) => {
    const calls = dice.below(3) === 0;
    return {
      input: [
        { role: 'user', content: 'hi' },
        ...(calls
          ? [
              { type: 'function_call', call_id: 'call_1', name: 'tide', arguments: '{}' },
              { type: 'function_call_output', call_id: 'call_1', output: 'high' },
            ]
          : []),
      ],
      ...some(dice, 2, () => ({ instructions: 'Be brief.' })),
      ...some(dice, 2, () => ({ reasoning: { effort: dice.pick(EFFORTS) } })),
      ...some(dice, 3, () => ({ max_output_tokens: dice.pick(CEILINGS) })),
      ...some(dice, 4, () => ({ temperature: dice.pick([0, 0.5, 1]) })),
      ...some(dice, 5, () => ({ top_p: 0.5 })),
      ...(calls || dice.below(3) === 0
        ? {
            tools: [{ type: 'function', name: 'tide', parameters: SCHEMA, strict: false }],
            ...some(dice, 3, () => ({ tool_choice: dice.pick(['auto', 'required', 'none']) })),
          }
        : {}),
    };
  },
};

function thinkingOf(dice: Dice, most: number): Json {
  const budgets = [1024, 2048, 8000, 31_000].filter((budget) => budget < most);
  return dice.pick([
    { type: 'adaptive' },
    { type: 'disabled' },
    { type: 'between_tools' },
    ...budgets.map((budget_tokens) => ({ type: 'enabled', budget_tokens })),
  ]);
}

const chatTurns = (dice: Dice): Json[] => [
  {
    role: 'assistant',
    content: '',
    ...some(dice, 2, () => ({ reasoning_content: 'The tide.' })),
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'high' },
  { role: 'assistant', content: 'It is high.' },
];

const chatTools = (dice: Dice): Json => ({
  tools: [{ type: 'function', function: { name: 'tide', parameters: SCHEMA } }],
  ...some(dice, 3, () => ({
    tool_choice: dice.pick(['auto', 'required', 'none', { type: 'function', function: { name: 'tide' } }]),
  })),
});
