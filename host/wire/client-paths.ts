import { type ChatMessage, type ChatRequest, type Fields, GatewayError, isFields, isText } from '../contract/index.ts';
import type { ClientRequest, TargetFacts } from './client-request.ts';

/** A refusal of a translator that begins with a place of the common request. */
const PLACE = /^messages(?:\[(\d+)\]\.(content|tool_calls)\[(\d+)\](?:\.function)?)?(?=[:. ])/;

const REFUSALS: ReadonlySet<string> = new Set(['invalid_request', 'unsupported_parameter']);

/** A translator's refusal with the client's own path in place of the common request's; as it is where that is not known. See docs/reference/ingress.md#errors. */
export function inClientPaths(
  thrown: unknown,
  request: ChatRequest,
  { sent, facts }: { readonly sent: ClientRequest; readonly facts: TargetFacts },
): unknown {
  if (!(thrown instanceof GatewayError) || !REFUSALS.has(thrown.code)) return thrown;
  const [place, turn, list, item] = PLACE.exec(thrown.message) ?? [];
  if (place === undefined) return thrown;
  const payload = payloadIn(request.messages[Number(turn)], list, Number(item));
  const path =
    turn === undefined
      ? sent.dialect.pathsOf('messages', facts, sent.value)[0]
      : payload && pathOf(sent.value, payload);
  return path === undefined || path === ''
    ? thrown
    : new GatewayError(thrown.code, path + thrown.message.slice(place.length), { cause: thrown });
}

/** What of a part or a call stands in the client's body too: its bytes, its address, its id. */
function payloadIn(message: ChatMessage | undefined, list: string | undefined, item: number): string | undefined {
  if (list === 'tool_calls') return message?.tool_calls?.[item]?.id ?? undefined;
  const part: unknown = Array.isArray(message?.content) ? message.content[item] : undefined;
  if (!isFields(part)) return undefined;
  return ['image_url', 'file', 'input_audio']
    .flatMap((name) => {
      const { url, file_data: data, file_id: id, data: sound } = isFields(part[name]) ? part[name] : {};
      return [url, data, id, sound];
    })
    .find(isText);
}

/** The path of the innermost list item that holds the payload; bytes of a data address may stand there alone. */
function pathOf(value: Readonly<Fields>, payload: string): string | undefined {
  const bytes = payload.startsWith('data:') ? payload.slice(payload.indexOf(',') + 1) : payload;
  const within = (holder: unknown, path: string, at: string): string | undefined => {
    if (holder === payload || holder === bytes) return at;
    if (Array.isArray(holder))
      return firstOf(holder.entries(), ([index, item]) => within(item, `${path}[${index}]`, `${path}[${index}]`));
    if (!isFields(holder)) return undefined;
    return firstOf(Object.entries(holder), ([name, member]) =>
      within(member, path === '' ? name : `${path}.${name}`, at),
    );
  };
  return within(value, '', '');
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
