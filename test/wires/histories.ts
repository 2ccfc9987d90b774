import { geminiDialect } from '../../builtins/wires/gemini/dialect.ts';
import { readGenerate } from '../../builtins/wires/gemini/request/request.ts';
import { sealEnvelope } from '../../builtins/wires/envelope.ts';
import { messagesDialect } from '../../builtins/wires/messages/dialect.ts';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import { responsesDialect } from '../../builtins/wires/responses/dialect.ts';
import { readResponses } from '../../builtins/wires/responses/request.ts';
import type { ChatRequest } from '../../host/contract/index.ts';
import type { Dialect } from '../../host/wire/client-request.ts';
import type { Dice } from '../kit/index.ts';

/** A thought of a generated history: where it stands, and the texts that say whether it arrived. */
export interface Thought {
  readonly path: string;
  readonly text: string | undefined;
  readonly secrets: readonly string[];
}

/** A conversation that a client brings along, each piece of it with a text of its own. */
export interface Written {
  readonly value: Record<string, any>;
  /** Texts that every target must get. */
  readonly said: readonly string[];
  readonly thoughts: readonly Thought[];
  readonly marks: readonly string[];
}

/** A written body as the gateway reads it. */
export interface Read {
  readonly request: ChatRequest;
  readonly value: object;
  readonly dialect: Dialect;
  readonly lost: readonly string[];
}

const MARK = { cache_control: { type: 'ephemeral' } };

/** Pieces of a body while it is written. */
class Pen {
  readonly dice: Dice;
  readonly said: string[] = [];
  readonly thoughts: Thought[] = [];
  readonly marks: string[] = [];
  #count = 0;

  constructor(dice: Dice) {
    this.dice = dice;
  }

  written(value: Record<string, any>): Written {
    const { said, thoughts, marks } = this;
    return { value, said, thoughts, marks };
  }

  word(kind: string): string {
    this.#count += 1;
    return `${kind}x${this.#count}z`;
  }

  speak(): string {
    const word = this.word('said');
    this.said.push(word);
    return word;
  }

  secret(): string {
    return Buffer.from(this.word('secret')).toString('base64');
  }

  /** A mark now and then. */
  marked(path: string): object {
    if (this.dice.below(3) > 0) return {};
    this.marks.push(`${path}.cache_control`);
    return MARK;
  }
}

/** Who made the thoughts of a turn: each has its own way to write what it wants back. */
const MAKERS = [
  'claude',
  'claude-sealed',
  'claude-hidden',
  'gemini',
  'sealed',
  'unknown',
  'plain',
  'plain-hidden',
] as const;

/** A thought as it comes back in a block of Messages. */
function thoughtBlock(pen: Pen, path: string): object {
  const [text, data] = [pen.word('thought'), pen.secret()];
  const note = (shown: string | undefined, ...secrets: string[]): void => {
    pen.thoughts.push({ path, text: shown, secrets });
  };
  const sealed = (item: object, shown = ''): object => {
    note(shown || undefined, data);
    return { type: 'thinking', thinking: shown, signature: sealEnvelope([{ index: 0, ...item, data }]) };
  };
  switch (pen.dice.pick(MAKERS)) {
    case 'claude':
      note(text, data);
      return { type: 'thinking', thinking: text, signature: data };
    case 'claude-sealed':
      note(undefined, data);
      return { type: 'redacted_thinking', data };
    case 'claude-hidden':
      note(undefined, data);
      return { type: 'thinking', thinking: '', signature: data };
    case 'gemini':
      return sealed(
        { type: 'reasoning.encrypted', format: 'google-gemini-v1', thought: true, start: 0, end: text.length },
        text,
      );
    case 'sealed':
      return sealed({ type: 'reasoning.encrypted', format: 'openai-responses-v1' });
    case 'unknown':
      return sealed({ type: 'reasoning.encrypted', format: 'unheard-of-v1' }, text);
    case 'plain':
      note(text);
      return { type: 'thinking', thinking: text, signature: sealEnvelope([]) };
    default:
      note(text);
      return { type: 'thinking', thinking: '', signature: sealEnvelope([{ type: 'reasoning.text', text }]) };
  }
}

/** A body of Messages: turns with thoughts, calls and results, and marks in every place that has any. */
export function messagesHistory(dice: Dice): Written {
  const pen = new Pen(dice);
  const messages: object[] = [];
  const system = [{ type: 'text', text: pen.speak(), ...pen.marked('system[0]') }];
  for (let turn = 0, turns = 1 + dice.below(3); turn < turns; turn += 1) {
    const user = `messages[${messages.length}].content[0]`;
    messages.push({ role: 'user', content: [{ type: 'text', text: pen.speak(), ...pen.marked(user) }] });
    const at = `messages[${messages.length}].content`;
    const blocks: object[] = dice.below(4) > 0 ? [thoughtBlock(pen, `${at}[0]`)] : [];
    if (dice.below(3) > 0) blocks.push({ type: 'text', text: pen.speak(), ...pen.marked(`${at}[${blocks.length}]`) });
    const calls = Array.from({ length: blocks.length === 0 ? 1 : dice.below(3) }, (_none, each) => `c${turn}${each}`);
    for (const id of calls)
      blocks.push({
        type: 'tool_use',
        id,
        name: 'tide',
        input: { a: pen.speak() },
        ...pen.marked(`${at}[${blocks.length}]`),
      });
    messages.push({ role: 'assistant', content: blocks });
    if (calls.length > 0) messages.push({ role: 'user', content: resultBlocks(pen, calls, messages.length) });
  }
  messages.push({ role: 'user', content: pen.speak() });
  const tools = [{ name: 'tide', input_schema: { type: 'object' }, ...pen.marked('tools[0]') }];
  return pen.written({ model: 'm', max_tokens: 2048, system, messages, tools });
}

function resultBlocks(pen: Pen, calls: readonly string[], turn: number): object[] {
  const asParts = pen.dice.below(2) === 0;
  return calls.map((id, at) => {
    const path = `messages[${turn}].content[${at}]`;
    const content = asParts
      ? [
          { type: 'text', text: pen.speak() },
          { type: 'text', text: pen.speak() },
        ]
      : pen.speak();
    return { type: 'tool_result', tool_use_id: id, content, ...pen.marked(path) };
  });
}

/** A body of Gemini: thoughts with and without signatures, signatures of calls. */
export function geminiHistory(dice: Dice): Written {
  const pen = new Pen(dice);
  const contents: object[] = [];
  for (let turn = 0, turns = 1 + dice.below(3); turn < turns; turn += 1) {
    contents.push({ role: 'user', parts: [{ text: pen.speak() }] });
    const at = `contents[${contents.length}].parts`;
    const parts: object[] = [];
    if (dice.below(3) > 0) {
      const [text, secret] = [pen.word('thought'), pen.secret()];
      const isSigned = dice.below(2) === 0;
      pen.thoughts.push({ path: `${at}[0]`, text, secrets: isSigned ? [secret] : [] });
      parts.push({ text, thought: true, ...(isSigned && { thoughtSignature: secret }) });
    }
    const [secret, call] = [pen.secret(), { name: 'tide', args: { a: pen.speak() } }];
    pen.thoughts.push({ path: `${at}[${parts.length}].thoughtSignature`, text: undefined, secrets: [secret] });
    parts.push({ functionCall: call, thoughtSignature: secret });
    contents.push({ role: 'model', parts });
    contents.push({ role: 'user', parts: [{ functionResponse: { name: 'tide', response: { output: pen.speak() } } }] });
  }
  contents.push({ role: 'model', parts: [{ text: pen.speak() }] }, { role: 'user', parts: [{ text: pen.speak() }] });
  const tools = [{ functionDeclarations: [{ name: 'tide', parametersJsonSchema: { type: 'object' } }] }];
  return pen.written({ contents, tools });
}

/** A body of Responses: items of reasoning in front of what they belong to. */
export function responsesHistory(dice: Dice): Written {
  const pen = new Pen(dice);
  const input: object[] = [];
  for (let turn = 0, turns = 1 + dice.below(3); turn < turns; turn += 1) {
    input.push({ role: 'user', content: pen.speak() });
    if (dice.below(4) > 0) {
      const [text, data] = [pen.word('thought'), pen.secret()];
      const isShown = dice.below(2) === 0;
      const format = dice.pick(['anthropic-claude-v1', 'unheard-of-v1', 'openai-responses-v1']);
      const sealed =
        format === 'openai-responses-v1'
          ? data
          : sealEnvelope([{ type: 'reasoning.encrypted', index: 0, format, data }]);
      pen.thoughts.push({ path: `input[${input.length}]`, text: isShown ? text : undefined, secrets: [data] });
      input.push({
        type: 'reasoning',
        summary: isShown ? [{ type: 'summary_text', text }] : [],
        encrypted_content: sealed,
      });
    }
    const id = `c${turn}`;
    input.push({ type: 'function_call', call_id: id, name: 'tide', arguments: JSON.stringify({ a: pen.speak() }) });
    input.push({ type: 'function_call_output', call_id: id, output: pen.speak() });
  }
  input.push({ role: 'user', content: pen.speak() });
  return pen.written({
    model: 'm',
    input,
    tools: [{ type: 'function', name: 'tide', parameters: { type: 'object' } }],
  });
}

/** How bodies of each wire are written and read. */
export const WIRES: Readonly<
  Record<string, { readonly write: (dice: Dice) => Written; readonly read: (value: any) => Read }>
> = {
  messages: {
    write: messagesHistory,
    read: (value) => {
      const { request, notes } = readMessages(value, undefined);
      if (notes.refusal) throw notes.refusal;
      return { request, value, dialect: messagesDialect(notes.history), lost: notes.lost };
    },
  },
  gemini: {
    write: geminiHistory,
    read: (value) => {
      const { request, history, lost } = readGenerate(value, 'm');
      return { request, value, dialect: geminiDialect(history), lost };
    },
  },
  responses: {
    write: responsesHistory,
    read: (value) => {
      const { request, history, lost } = readResponses(value);
      return { request, value, dialect: responsesDialect(history), lost };
    },
  },
};
