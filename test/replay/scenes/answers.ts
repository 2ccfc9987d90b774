import { readdirSync } from 'node:fs';
import { golden } from '../../kit/golden.ts';
import type { Dice } from '../../kit/random.ts';
import { streamOf } from '../../providers/bedrock-support.ts';
import type { Answer, Manner } from './exchange.ts';
import type { Model } from './vendors.ts';

const FIXTURES = new URL('../../fixtures/', import.meta.url);

/** What models say in place of the word that all golden files have: plain, and what each guardrail looks for. */
export const SAID: readonly string[] = [
  'conformance',
  'Grüße aus Zürich 🌊',
  'write to ada@example.org or +1 415 555 0132',
  'the plan is project aurora',
  'nightfall',
  'AKIAIOSFODNN7EXAMPLE',
];

const filesOf = (folder: string): string[] => {
  try {
    return readdirSync(new URL(folder, FIXTURES)).toSorted();
  } catch {
    return [];
  }
};

/** Folders of golden files for a model, the own one first: vendors of the common wire answer in all its forms. */
function foldersOf({ vendor, face, wire }: Model): readonly string[] {
  if (vendor === 'openai' && face === 'chat') return ['openai/chat/', 'openai/chat/conformance/'];
  const own = `${vendor}/${face}/`;
  return wire === 'common' && face === 'chat' ? [own, 'openai/chat/'] : [own];
}

const isFile = (name: string): boolean => /\.(json|txt|sse|base64)$/.test(name);
const isError = (name: string): boolean => /^error-\d/.test(name);
/** A prediction that goes on would be asked for until the client leaves. */
const isPending = (name: string): boolean => /^(starting|processing)\./.test(name);
const isStream = (name: string): boolean => /\.(txt|sse)$|-stream\.json$/.test(name);

interface Source {
  readonly path: string;
  readonly title: string;
}

function sourcesOf(model: Model, pick: (name: string) => boolean): Source[] {
  return foldersOf(model).flatMap((folder) =>
    filesOf(folder)
      .filter((name) => isFile(name) && pick(name))
      .map((name) => ({ path: `${folder}${name}`, title: `${folder}${name}` })),
  );
}

const isOwn =
  ({ files }: Model) =>
  (name: string): boolean =>
    name.startsWith(files);

const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  txt: 'text/event-stream',
  sse: 'text/event-stream; charset=utf-8',
  base64: 'application/octet-stream',
};

const typeOf = ({ path }: Source, { vendor, face }: Model): string => {
  if (vendor === 'bedrock' && path.endsWith('-stream.json')) return 'application/vnd.amazon.eventstream';
  if (path.endsWith('.base64')) return face === 'images' ? 'image/png' : 'audio/mpeg';
  return TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'text/plain';
};

/** The golden bytes, with other words in them. */
function bytesOf({ path }: Source, said: string): Buffer {
  if (path.endsWith('.base64')) return Buffer.from(golden(path), 'base64');
  if (path.startsWith('bedrock/') && path.endsWith('-stream.json')) return streamOf(path.slice('bedrock/'.length));
  return Buffer.from(golden(path).replaceAll('conformance', said));
}

const USAGE = new Set(['usage', 'usageMetadata', 'meta', 'metrics', 'amazon-bedrock-invocationMetrics']);

function withoutUsage(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUsage);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !USAGE.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutUsage(member)]));
}

/** A reply or a stream of JSON whose upstream counts nothing. */
function uncounted(bytes: Buffer, title: string): Buffer {
  const strip = (text: string): string => {
    try {
      return JSON.stringify(withoutUsage(JSON.parse(text)));
    } catch {
      return text;
    }
  };
  const text = bytes.toString('utf8');
  if (!isStream(title)) return Buffer.from(strip(text));
  const lines = text.split('\n').map((line) => (line.startsWith('data: ') ? `data: ${strip(line.slice(6))}` : line));
  return Buffer.from(lines.join('\n'));
}

const answer = (title: string, status: number, type: string, body: Buffer | string, manner: Manner): Answer => ({
  title,
  status,
  headers: { 'content-type': type },
  body: Buffer.from(body),
  manner,
});

/** Failures that any server may have. A target that answers 429 rests for a time, which only matters where another one may serve. */
const FAILURES: readonly Answer[] = [
  {
    ...answer(
      'a limit',
      429,
      'application/json',
      '{"error":{"message":"slow down","type":"rate_limit_error"}}',
      'whole',
    ),
    headers: { 'content-type': 'application/json', 'retry-after': '7' },
  },
  answer('an error as HTML', 500, 'text/html', '<html><body>Internal Server Error</body></html>', 'whole'),
  answer('an error without a body', 503, 'text/plain', '', 'whole'),
  answer(
    'a bad request',
    400,
    'application/json',
    '{"error":{"message":"temperature: 7 is too much","code":"bad"}}',
    'whole',
  ),
  answer('a text in place of JSON', 200, 'application/json', 'not JSON', 'whole'),
  answer('nothing', 200, 'application/json', '', 'whole'),
  answer('half an object', 200, 'application/json', '{"id":"x","choices":[{"index":0,"mess', 'cut'),
  answer('a redirect', 302, 'text/plain', 'elsewhere', 'whole'),
];

const goldenErrors = (model: Model): Answer[] =>
  sourcesOf(model, isError).map((source) => {
    const status = Number(/error-(\d+)/.exec(source.path)?.[1]);
    return answer(source.title, status, 'application/json', bytesOf(source, 'conformance'), 'whole');
  });

/** Everything that can go wrong with one call of a model. */
export function failuresOf(model: Model): readonly Answer[] {
  return [...FAILURES, ...goldenErrors(model)];
}

/** Every golden answer of a model in every manner, each with words that the dice choose. */
export function successesOf(model: Model, stream: boolean, dice: Dice): readonly Answer[] {
  const asked = stream && model.face === 'chat';
  const sources = sourcesOf(
    model,
    (name) => !isError(name) && !isPending(name) && isStream(name) === asked && isOwn(model)(name),
  );
  const manners: readonly Manner[] = asked ? ['whole', 'events', 'odd', 'odd'] : ['whole', 'odd'];
  return sources.flatMap((source, at) => {
    const make = (manner: Manner, counts = true): Answer => {
      const said = dice.pick(SAID);
      const bytes = bytesOf(source, said);
      const body = counts ? bytes : uncounted(bytes, source.title);
      return answer(
        `${source.title}, ${manner}${counts ? '' : ', uncounted'}, "${said}"`,
        200,
        typeOf(source, model),
        body,
        manner,
      );
    };
    const isText = typeOf(source, model).startsWith('application/json') || /\.(txt|sse)$/.test(source.path);
    return [
      ...manners.map((manner) => make(manner)),
      ...(isText ? [make('whole', false)] : []),
      ...(at === 0 || asked ? [make('cut')] : []),
    ];
  });
}

/** A prediction of a vendor that makes one first and streams it from another address. */
export const STARTING: Answer = answer(
  'a prediction',
  201,
  'application/json',
  golden('replicate/chat/starting.json'),
  'whole',
);

/** A text of any length for a chat of the common wire: made up, in pieces of a few letters. */
export function madeUp(stream: boolean, dice: Dice): Answer {
  const words = Array.from({ length: 1 + dice.below(40) }, () =>
    dice.pick([...SAID, 'and', 'so', '\n', '{"a":1}', '“”']),
  );
  const head = { id: `chatcmpl-${dice.below(1e9)}`, created: 1_763_000_000, model: 'made-up' };
  const usage = { prompt_tokens: dice.below(900), completion_tokens: words.length, total_tokens: 1000 };
  const finish = dice.pick(['stop', 'length', 'content_filter', null]);
  if (!stream) {
    const choice = { index: 0, message: { role: 'assistant', content: words.join(' ') }, finish_reason: finish };
    const body = JSON.stringify({ ...head, object: 'chat.completion', choices: [choice], usage });
    return answer(`${words.length} words`, 200, 'application/json', body, 'whole');
  }
  const chunk = (delta: object, end: string | null = null): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
  const body = [
    chunk({ role: 'assistant' }),
    ...words.map((word) => chunk({ content: `${word} ` })),
    chunk({}, finish),
    ...(dice.below(2) ? [`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`] : []),
    ...(dice.below(4) ? ['data: [DONE]\n\n'] : []),
  ];
  return answer(`${words.length} words`, 200, 'text/event-stream', body.join(''), dice.pick(['events', 'odd', 'cut']));
}

/** Bytes that no vendor's wire is made of, for what is passed through. */
export const PASSED: readonly Answer[] = [
  answer(
    'an object',
    200,
    'application/json',
    '{ "id": "ft-1", "object": "fine_tuning.job",  "created_at": 1763000000 }',
    'whole',
  ),
  answer(
    'bytes',
    200,
    'application/octet-stream',
    Buffer.from(Array.from({ length: 300 }, (_, at) => at % 256)),
    'odd',
  ),
  answer('events', 200, 'text/event-stream', 'event: a\ndata: {"x":1}\n\n: ping\n\ndata: [DONE]\n\n', 'odd'),
  ...FAILURES,
];

/** Answers of the Responses API of a vendor that has it. */
export function responsesAnswers(stream: boolean): readonly Answer[] {
  const response = (status: string, usage: object | null): object => ({
    id: 'resp_0a1b2c',
    object: 'response',
    created_at: 1_763_000_000,
    status,
    model: 'gpt-4o-mini-2024-07-18',
    output:
      status === 'completed'
        ? [
            {
              type: 'message',
              id: 'msg_0a1b2c',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: 'conformance ok', annotations: [] }],
            },
          ]
        : [],
    usage,
  });
  const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 };
  if (!stream)
    return [
      answer('a response', 200, 'application/json', JSON.stringify(response('completed', usage), null, 2), 'whole'),
      answer('a response without usage', 200, 'application/json', JSON.stringify(response('completed', null)), 'odd'),
      answer('a failed response', 200, 'application/json', JSON.stringify(response('failed', usage)), 'whole'),
      ...FAILURES,
    ];
  const events = [
    { type: 'response.created', sequence_number: 0, response: response('in_progress', null) },
    {
      type: 'response.output_text.delta',
      sequence_number: 1,
      item_id: 'msg_0a1b2c',
      output_index: 0,
      delta: 'conformance ok',
    },
    { type: 'response.completed', sequence_number: 2, response: response('completed', usage) },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return (['whole', 'events', 'odd', 'cut'] as const).map((manner) =>
    answer(`events of a response, ${manner}`, 200, 'text/event-stream', text, manner),
  );
}
