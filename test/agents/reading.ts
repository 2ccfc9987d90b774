import type { Exchange } from './recorder.ts';
import type { Call } from './script.ts';

type Json = Record<string, any>;

/** What the answer to one request of an agent says. */
export interface Heard {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly Call[];
  /** Events of errors; a complete stream has none. */
  readonly errors: readonly string[];
}

type Reader = (events: readonly Json[]) => Omit<Heard, 'errors'>;

const joined = (texts: readonly unknown[]): string => texts.filter((text) => typeof text === 'string').join('');
const argsOf = (text: string): Call['args'] => JSON.parse(text || '{}') as Call['args'];

const messages: Reader = (events) => {
  const deltas = events.filter(({ type }) => type === 'content_block_delta');
  const said = (name: string): string => joined(deltas.map(({ delta }) => delta[name]));
  return {
    text: said('text'),
    thoughts: said('thinking'),
    calls: events
      .filter(({ type, content_block: block }) => type === 'content_block_start' && block.type === 'tool_use')
      .map(({ index, content_block: block }) => ({
        tool: block.name as string,
        args: argsOf(joined(deltas.filter((one) => one['index'] === index).map(({ delta }) => delta.partial_json))),
      })),
  };
};

const chat: Reader = (events) => {
  const deltas = events.flatMap(({ choices = [] }) => (choices as Json[]).map(({ delta }) => delta as Json));
  const pieces = deltas.flatMap(({ tool_calls: calls = [] }) => calls as Json[]);
  const indices = [...new Set(pieces.map(({ index }) => index as number))];
  return {
    text: joined(deltas.map(({ content }) => content)),
    thoughts: joined(deltas.map(({ reasoning_content: thought }) => thought)),
    calls: indices.map((index) => {
      const own = pieces.filter((piece) => piece['index'] === index).map(({ function: called }) => called as Json);
      return {
        tool: joined(own.map(({ name }) => name)),
        args: argsOf(joined(own.map(({ arguments: text }) => text))),
      };
    }),
  };
};

const responses: Reader = (events) => {
  const items = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item as Json);
  const deltas = (type: string): string =>
    joined(events.filter((event) => event['type'] === type).map(({ delta }) => delta));
  return {
    text: deltas('response.output_text.delta'),
    thoughts: deltas('response.reasoning_summary_text.delta'),
    calls: items
      .filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
      .map(({ namespace, name, arguments: text, input }) => ({
        tool: namespace === undefined ? name : `${namespace}__${name}`,
        args: input === undefined ? argsOf(text) : { input },
      })),
  };
};

const generateContent: Reader = (events) => {
  const parts = events.flatMap(({ candidates = [] }) =>
    (candidates as Json[]).flatMap(({ content }) => (content?.parts ?? []) as Json[]),
  );
  return {
    text: joined(parts.filter(({ thought }) => thought !== true).map(({ text }) => text)),
    thoughts: joined(parts.filter(({ thought }) => thought === true).map(({ text }) => text)),
    calls: parts.flatMap(({ functionCall: call }) => (call ? [{ tool: call.name as string, args: call.args }] : [])),
  };
};

/** The wires of agents, by the path of their requests. */
const READERS: readonly (readonly [path: RegExp, read: Reader])[] = [
  [/\/v1\/messages$/, messages],
  [/\/chat\/completions$/, chat],
  [/\/v1\/responses$/, responses],
  [/:streamGenerateContent$/, generateContent],
];

/** Whether an exchange asked a model for something. */
export const isAsking = ({ method, path }: Exchange): boolean =>
  method === 'POST' && READERS.some(([end]) => end.test(path));

/** Reads a streamed answer of any wire. Arguments that are not JSON throw. */
export function heardIn({ path, answer }: Exchange): Heard {
  const read = READERS.find(([end]) => end.test(path))?.[1] ?? chat;
  const events = [...answer.matchAll(/^data: (.*?)\r?$/gm)]
    .map(([, data = '']) => data)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as Json);
  const errors = events.filter(
    ({ type, error }) => Boolean(error) || ['error', 'response.failed', 'response.incomplete'].includes(type),
  );
  return { ...read(events), errors: errors.map((event) => JSON.stringify(event)) };
}

/** The results of tools in a request of any wire, in JSON as they stand there. */
export function resultsIn(request: string): readonly string[] {
  const results: string[] = [];
  const keep = (text: string): number => results.push(text);
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, role, content, output, functionResponse } = value as Json;
    if (type === 'tool_result' || role === 'tool') textsOf(content).forEach(keep);
    else if (String(type).endsWith('_call_output')) textsOf(output).forEach(keep);
    else if (functionResponse)
      Object.values(functionResponse.response as object)
        .flatMap(textsOf)
        .forEach(keep);
    else Object.values(value).forEach(visit);
  };
  visit(JSON.parse(request));
  return results;
}

const textsOf = (content: unknown): string[] =>
  (Array.isArray(content) ? content.map(({ text }: Json) => text as unknown) : [content])
    .filter((text) => typeof text === 'string')
    .map((text) => JSON.stringify(text));

/** The words of a text in JSON, alike however often it was put into JSON again. */
export const wordsOf = (text: string): string =>
  text
    .replaceAll(/\\+[a-z]|[^a-zA-Z0-9]+/g, ' ')
    .replaceAll(/ +/g, ' ')
    .trim();
