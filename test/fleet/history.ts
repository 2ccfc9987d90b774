/** What a conversation says, alike in every vendor's format: thoughts, ids and the cut of texts into pieces left aside. */
import type { VendorName } from './vendors.ts';

type Json = Readonly<Record<string, any>>;

export interface Meaning {
  readonly role: 'user' | 'model';
  readonly text: string;
  readonly calls: readonly unknown[];
  readonly results: readonly unknown[];
}

/** Turns of a request as it reached a vendor. A result stands with the place of its call, so that pairs are compared and ids are not. */
export function meaningOf(vendor: VendorName, body: Json): Meaning[] {
  const turns = { pool: chatTurns, claude: messageTurns, gemini: contentTurns }[vendor](body);
  return turns
    .reduce<Meaning[]>((joined, turn) => {
      const last = joined.at(-1);
      if (last?.role !== turn.role) return [...joined, turn];
      return [
        ...joined.slice(0, -1),
        {
          role: turn.role,
          text: last.text + turn.text,
          calls: [...last.calls, ...turn.calls],
          results: [...last.results, ...turn.results],
        },
      ];
    }, [])
    .map((turn) => ({ ...turn, results: turn.results.map((one) => JSON.stringify(one)).toSorted() }));
}

const placeOf = (id: unknown): string => /_step_(\w+)/.exec(String(id))?.[1] ?? `an unknown place: ${String(id)}`;
const textOf = (content: unknown): string =>
  Array.isArray(content)
    ? (content as Json[]).map(({ type, text }) => (type === undefined || type === 'text' ? (text ?? '') : '')).join('')
    : typeof content === 'string'
      ? content
      : '';

const chatTurns = ({ messages }: Json): Meaning[] =>
  (messages as Json[])
    .filter(({ role }) => role !== 'system' && role !== 'developer')
    .map(({ role, content, tool_calls: calls = [], tool_call_id: id }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      text: role === 'tool' ? '' : textOf(content),
      calls: (calls as Json[]).map((call) => ({
        place: placeOf(call['id']),
        name: call['function'].name,
        args: JSON.parse(call['function'].arguments as string) as unknown,
      })),
      results: role === 'tool' ? [{ place: placeOf(id), text: plain(textOf(content)) }] : [],
    }));

const messageTurns = ({ messages }: Json): Meaning[] =>
  (messages as Json[]).map(({ role, content }) => {
    const blocks: Json[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Json[]);
    return {
      role: role === 'assistant' ? 'model' : 'user',
      text: textOf(blocks),
      calls: blocks
        .filter(({ type }) => type === 'tool_use')
        .map(({ id, name, input }) => ({ place: placeOf(id), name, args: input as unknown })),
      results: blocks
        .filter(({ type }) => type === 'tool_result')
        .map((block) => ({ place: placeOf(block['tool_use_id']), text: plain(textOf(block['content'])) })),
    };
  });

const contentTurns = ({ contents }: Json): Meaning[] =>
  (contents as Json[]).map(({ role, parts }) => ({
    role: role === 'model' ? 'model' : 'user',
    text: (parts as Json[]).map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''),
    calls: (parts as Json[]).flatMap(({ functionCall: call }) =>
      call ? [{ place: placeOf(call.id), name: call.name, args: call.args as unknown }] : [],
    ),
    results: (parts as Json[]).flatMap(({ functionResponse: result }) =>
      result ? [{ place: placeOf(result.id), text: plain(JSON.stringify(result.response)) }] : [],
    ),
  }));

/** The words of a result, however it is wrapped. */
const plain = (text: string): string => /(\w+ at \w+)/.exec(text)?.[1] ?? text;
