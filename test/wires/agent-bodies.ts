import { expect } from 'chai';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import type { ChatRequest } from '../../host/contract/index.ts';

/** The least body of the Messages wire. */
export const hello = {
  model: 'm',
  max_tokens: 1000,
  tools: [{ name: 'Bash', description: 'Runs a command', input_schema: { type: 'object', properties: {} } }],
};

export const MARK = { cache_control: { type: 'ephemeral' } };

/** How an agent writes a system message that it does not mark. */
export const FORMS = {
  string: (text: string) => text,
  blocks: (text: string) => [{ type: 'text', text }],
} as const;
export type Form = keyof typeof FORMS;

export const leftOf = (turn: number): string => `<total_tokens>${200_000 - turn} tokens left</total_tokens>`;
export const ENVIRONMENT = 'Working folder: /w, platform: linux';

/** What a coding agent sends as its request number `turns`: a system message behind each turn of the user, and one mark, on the last of them. */
export function agentBody(turns: number, form: Form, thoughts: readonly object[] = []): any {
  const late = (text: string, isLast: boolean): object => ({
    role: 'system',
    content: isLast ? [{ type: 'text', text, ...MARK }] : FORMS[form](text),
  });
  const messages: object[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Some context.' },
        { type: 'text', text: 'Mend the tests.' },
      ],
    },
    late(ENVIRONMENT, turns === 1),
  ];
  for (let turn = 1; turn < turns; turn += 1) {
    const calls = Array.from({ length: 1 + (turn % 2) }, (_, at) => `toolu_0${turn}|${at}/x`);
    messages.push(
      {
        role: 'assistant',
        content: [
          ...thoughts.slice((turn - 1) % Math.max(thoughts.length, 1)).slice(0, 1),
          { type: 'text', text: `Step ${turn}.` },
          ...calls.map((id) => ({ type: 'tool_use', id, name: 'Bash', input: { command: `ls ${turn}` } })),
        ],
      },
      {
        role: 'user',
        content: calls.map((id) => ({ type: 'tool_result', tool_use_id: id, content: `listing ${turn}` })),
      },
      late(leftOf(turn), turn === turns - 1),
    );
  }
  return {
    model: 'm',
    max_tokens: 1000,
    system: [{ type: 'text', text: 'You are an agent.' }],
    tools: [{ name: 'Bash', description: 'Runs a command', input_schema: { type: 'object', properties: {} } }],
    messages,
  };
}

/** A body of the Messages wire with the common request that is read of it. */
export function read(value: any): { request: ChatRequest; value: any } {
  const { request, notes } = readMessages(value, undefined);
  expect(notes.refusal).to.equal(undefined);
  return { request, value };
}

/** What an agent that speaks Responses sends: the developer says something behind each turn. */
export function responsesBody(turns: number): any {
  const developer = (text: string): object => ({
    type: 'message',
    role: 'developer',
    content: [{ type: 'input_text', text }],
  });
  const input: object[] = [
    developer('Follow the rules.'),
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Mend the tests.' }] },
    developer(ENVIRONMENT),
  ];
  for (let turn = 1; turn < turns; turn += 1) {
    const id = `call|${turn}`;
    input.push(
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: `Step ${turn}.` }] },
      { type: 'function_call', call_id: id, name: 'shell', arguments: `{"n":${turn}}` },
      developer(leftOf(turn)),
      { type: 'function_call_output', call_id: id, output: `listing ${turn}` },
    );
  }
  return {
    model: 'm',
    instructions: 'You are an agent.',
    tools: [{ type: 'function', name: 'shell', description: 'd', parameters: { type: 'object', properties: {} } }],
    input,
  };
}

/** What an agent that speaks Gemini sends: calls have no ids. */
export function geminiBody(turns: number): any {
  const contents: object[] = [{ role: 'user', parts: [{ text: 'Mend the tests.' }] }];
  for (let turn = 1; turn < turns; turn += 1) {
    contents.push(
      { role: 'model', parts: [{ text: `Step ${turn}.` }, { functionCall: { name: 'shell', args: { n: turn } } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'shell', response: { output: `listing ${turn}` } } }] },
    );
  }
  return {
    systemInstruction: { parts: [{ text: 'You are an agent.' }] },
    tools: [{ functionDeclarations: [{ name: 'shell', description: 'd', parameters: { type: 'OBJECT' } }] }],
    contents,
  };
}

/** A conversation with a system message in each place where a client may put one, and a mark on the last. */
export const mixedBody = {
  model: 'm',
  max_tokens: 1000,
  system: 'You are an agent.',
  tools: [{ name: 'Bash', description: 'Runs a command', input_schema: { type: 'object', properties: {} } }],
  messages: [
    { role: 'system', content: 'Leading.' },
    { role: 'user', content: 'Mend the tests.' },
    { role: 'system', content: ENVIRONMENT },
    {
      role: 'system',
      content: [
        { type: 'text', text: 'Two' },
        { type: 'text', text: 'blocks' },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_01', name: 'Bash', input: { command: 'ls' } }] },
    { role: 'system', content: 'Between a call and its result.' },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_01', content: 'listing' },
        { type: 'text', text: 'Go on.' },
      ],
    },
    { role: 'assistant', content: 'Done.' },
    { role: 'system', content: 'Behind the assistant.' },
    { role: 'user', content: 'Thanks. Another one.' },
    { role: 'system', content: [{ type: 'text', text: leftOf(1), ...MARK }] },
  ],
};
