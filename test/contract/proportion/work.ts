import { readChatRequest } from '../../../builtins/surfaces/chat-request.ts';
import type { ProviderModule, RequestOf, TranslatedSurface, Translator } from '../../../host/contract/index.ts';
import { parseJsonObject } from '../../../host/http/body/json-body.ts';
import {
  callFor,
  growthProblem,
  minimal,
  type Prepare,
  relayStream,
  translateReply,
  unaryReply,
} from '../../kit/index.ts';
import { requestsFor } from '../hostile/requests.ts';
import { type HostileWire, type StreamPiece, wiresOf } from '../hostile/wires.ts';
import { growthsOf, renamed, times } from './growths.ts';

/** An input that can be made twice as large, and what the gateway does with it. */
export interface Work {
  readonly what: string;
  readonly prepare: Prepare;
}

/** At first; the work is tried at up to 64 times that. */
const SIZE = 250;
const LARGEST = 16_000;

/** What takes more than in proportion. */
export async function problemsOf(works: readonly Work[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { what, prepare } of works) {
    const problem = await growthProblem(SIZE, prepare, LARGEST).catch((error: unknown) => String(error));
    if (problem !== undefined) problems.push(`${what}: ${problem}`);
  }
  return problems;
}

/** Whatever is refused is refused; what no input may do is exhaust the stack, or the arguments of a call. */
function tried(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError && /call stack|Invalid (string|array) length/.test(error.message)) throw error;
    return undefined;
  }
}

/** Names beside those of the golden answers that make some providers speak another vendor's wire. */
const FAMILIES = ['m', 'claude-sonnet-4-5', 'gpt-4o', 'gemini-2.5-pro', 'mistral-large-latest', 'owner/name'];

/** Models of a surface, one for each wire that the provider speaks there: what is sent for two of one wire differs in the model alone. */
function modelsOf(module: ProviderModule, surface: TranslatedSurface): string[] {
  const golden = wiresOf(module)
    .filter((wire) => wire.surface === surface)
    .map(({ model }) => model);
  const found = new Map<string, string>();
  for (const model of [...golden, ...(surface === 'chat' ? FAMILIES : [])]) {
    const wire = tried(() => translated(module, surface, { ...minimal(surface, model) }));
    if (typeof wire === 'string')
      found.set(
        wire.replaceAll(JSON.stringify(model).slice(1, -1), '').replaceAll(encodeURIComponent(model), ''),
        model,
      );
  }
  return [...found.values()];
}

function translated(module: ProviderModule, surface: TranslatedSurface, request: object): string {
  const translator = module.translators[surface] as unknown as Translator<TranslatedSurface>;
  const { model } = request as { readonly model: string };
  const { path, body, form } = translator.toUpstream(request as RequestOf<TranslatedSurface>, callFor(model));
  return `${path} ${JSON.stringify(body ?? form?.length)}`;
}

/** Every growth of a request of everything, for every wire of the provider. */
export function requestWorks(module: ProviderModule): Work[] {
  return (Object.keys(module.translators) as TranslatedSurface[]).flatMap((surface) =>
    modelsOf(module, surface).flatMap((model) => {
      const taken = requestsFor({ surface, model, stream: false }).find(
        (request) => tried(() => translated(module, surface, structuredClone(request))) !== undefined,
      );
      const growths = [
        ...(taken ? growthsOf(JSON.parse(JSON.stringify(taken))) : []),
        ...(surface === 'chat' ? conversations(model) : []),
      ];
      return growths.map(({ what, document }): Work => ({
        what: `${module.name}, ${surface} of ${model}, ${what}`,
        prepare: (size) => {
          const bytes = Buffer.from(JSON.stringify(document(size)));
          return () =>
            tried(() => {
              const body = parseJsonObject(bytes);
              return translated(module, surface, surface === 'chat' ? readChatRequest(body) : body);
            });
        },
      }));
    }),
  );
}

type Conversation = { readonly what: string; readonly document: (size: number) => object };

/** What grows by more than one item at a time. */
function conversations(model: string): Conversation[] {
  const user = { role: 'user', content: 'x' };
  const call = (at: number): object => ({
    id: `c${at}`,
    type: 'function',
    function: { name: `f${at % 7}`, arguments: '{"a":1}' },
  });
  const chat = (messages: readonly object[], more: object = {}): object => ({ model, messages, ...more });
  const schema = (size: number): object => ({
    type: 'object',
    properties: Object.fromEntries(times(size, (at) => [`p${at}`, { $ref: `#/$defs/d${at % 50}` }])),
    $defs: Object.fromEntries(times(50, (at) => [`d${at}`, { type: 'string', enum: times(size / 50, String) }])),
  });
  const chain = (size: number): object => ({
    type: 'object',
    properties: { a: { $ref: '#/$defs/d0' } },
    $defs: Object.fromEntries(
      times(size, (at) => [`d${at}`, { type: 'object', properties: { next: { $ref: `#/$defs/d${at + 1}` } } }]),
    ),
  });
  const tool = (parameters: object, at = 0): object => ({ type: 'function', function: { name: `f${at}`, parameters } });
  return [
    {
      what: 'one role',
      document: (size) => chat(times(size, () => ({ role: 'user', content: [{ type: 'text', text: 'x' }] }))),
    },
    {
      what: 'instructions between',
      document: (size) => chat(times(size, (at) => ({ role: at % 2 ? 'user' : 'system', content: 'x' }))),
    },
    {
      what: 'alternating',
      document: (size) => chat([user, ...times(size, (at) => ({ role: at % 2 ? 'user' : 'assistant', content: 'x' }))]),
    },
    {
      what: 'calls and results',
      document: (size) =>
        chat([
          user,
          ...times(size, (at) =>
            at % 2
              ? { role: 'tool', tool_call_id: `c${at - 1}`, content: '{}' }
              : { role: 'assistant', tool_calls: [call(at)] },
          ),
        ]),
    },
    {
      what: 'many calls, then their results',
      document: (size) =>
        chat([
          user,
          { role: 'assistant', tool_calls: times(size, call) },
          ...times(size, (at) => ({ role: 'tool', tool_call_id: `c${at}`, content: 'x' })),
        ]),
    },
    {
      what: 'results of no call',
      document: (size) =>
        chat([user, ...times(size, (at) => ({ role: 'tool', tool_call_id: `d${at}`, content: 'x' }))]),
    },
    { what: 'a schema of references', document: (size) => chat([user], { tools: [tool(schema(size))] }) },
    { what: 'references that follow each other', document: (size) => chat([user], { tools: [tool(chain(size))] }) },
    {
      what: 'tools with schemas of references',
      document: (size) => chat([user], { tools: times(size / 50, (at) => tool(schema(50), at)) }),
    },
  ];
}

/** Every growth of every golden answer; of a stream its events, more of them and larger ones. */
export function answerWorks(module: ProviderModule): Work[] {
  const found = new Map<string, Work>();
  for (const wire of wiresOf(module)) {
    for (const work of wire.pieces ? streamWorks(module, wire, wire.pieces) : wholeWorks(module, wire)) {
      const what = `${wire.provider}, ${wire.surface} of ${wire.model}${wire.stream ? ', streamed' : ''}, ${work.what}`;
      if (!found.has(what)) found.set(what, { ...work, what });
    }
  }
  return [...found.values()];
}

function wholeWorks(module: ProviderModule, { surface, model, whole }: HostileWire): Work[] {
  const call = callFor(model);
  return growthsOf(whole).map(({ what, document }) => ({
    what,
    prepare: (size) => {
      const text = JSON.stringify(document(size));
      if (surface === 'chat') return () => tried(() => JSON.stringify(translateReply(module, call, text)));
      const translator = module.translators[surface] as unknown as Translator<TranslatedSurface>;
      const request = minimal(surface, model) as RequestOf<TranslatedSurface>;
      return () => tried(() => JSON.stringify(translator.fromUpstream(unaryReply(text), call, request)));
    },
  }));
}

/** Bytes of an upstream's stream arrive in pieces of this size. */
const PIECE_BYTES = 64 * 1024;

function streamWorks(module: ProviderModule, { model }: HostileWire, pieces: readonly StreamPiece[]): Work[] {
  const call = callFor(model, { stream: true });
  const work = (what: string, at: number, grown: (size: number) => Buffer): Work => ({
    what,
    prepare: (size) => {
      const bytes = Buffer.concat([
        ...pieces.slice(0, at).map((piece) => piece.bytes()),
        grown(size),
        ...pieces.slice(at + 1).map((piece) => piece.bytes()),
      ]);
      const parts = times(Math.ceil(bytes.length / PIECE_BYTES), (part) =>
        bytes.subarray(part * PIECE_BYTES, (part + 1) * PIECE_BYTES),
      );
      return () => tried(() => relayStream(module, call, parts));
    },
  });
  return pieces.flatMap((piece, at) => [
    work(`many of event ${at}`, at, (size) => Buffer.concat(times(size, () => piece.bytes()))),
    ...(piece.value === undefined
      ? []
      : [
          work(`many of event ${at}, each its own`, at, (size) =>
            Buffer.concat(times(size, (copy) => piece.bytes(JSON.stringify(renamed(piece.value, copy))))),
          ),
        ]),
    ...(piece.value === undefined
      ? []
      : growthsOf(piece.value).map(({ what, document }) =>
          work(`in an event, ${what}`, at, (size) => piece.bytes(JSON.stringify(document(size)))),
        )),
  ]);
}
