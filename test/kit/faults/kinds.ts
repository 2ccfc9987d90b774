import { gzipSync } from 'node:zlib';
import type { GoodAnswer } from './answers.ts';
import {
  bytesOf,
  chunk,
  chunked,
  close,
  cutAfter,
  halved,
  hang,
  head,
  type HeaderList,
  type Move,
  reset,
  sized,
  spaced,
  wait,
  write,
} from './moves.ts';
import { between, pick } from './random.ts';

/** What a script may say about a fault; each kind reads what concerns it. */
export interface FaultOptions {
  /** HTTP status, of the kinds that answer with a failure. */
  readonly status?: number;
  /** Further headers of the answer, `retry-after` for one. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The upstream's error text, where it sends any. */
  readonly message?: string;
  /** Longest pause, in milliseconds; each is random up to it. */
  readonly wait_ms?: number;
  /** Bytes of the answer, head included, after which it breaks. */
  readonly at?: number;
}

export interface FaultScene extends FaultOptions {
  readonly answer: GoodAnswer;
  readonly random: () => number;
}

interface FaultKind {
  readonly summary: string;
  readonly play: (scene: FaultScene) => Move[];
}

const JSON_TYPE = 'application/json';
const DEFAULT_WAIT_MS = 10;
const FAILURES = [
  400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 451, 499, 500, 501, 502, 503, 504, 529,
] as const;
const MIB = 1024 * 1024;
const OVER_LINE_LIMIT_MIB = 51;
/** Beyond what the gateway, or any client, takes of headers. */
const OVER_HEADER_LIMIT = MIB + 4096;

const headersOf = ({ headers = {} }: FaultScene): HeaderList => Object.entries(headers);
const pause =
  ({ random, wait_ms = DEFAULT_WAIT_MS }: FaultScene) =>
  (): number =>
    between(random, 1, wait_ms);
const whole = ({ answer }: FaultScene): Buffer => Buffer.concat(answer.pieces);
const errorBody = ({ message = 'the lab says no' }: FaultScene): Buffer =>
  Buffer.from(JSON.stringify({ error: { message, type: 'lab_error', code: null } }));
const errorEvent = (scene: FaultScene): Buffer =>
  Buffer.concat([Buffer.from('data: '), errorBody(scene), Buffer.from('\n\n')]);
const refusal = (scene: FaultScene, status: number): Move[] =>
  sized(scene.status ?? status, JSON_TYPE, errorBody(scene), headersOf(scene));

/** The ordinary answer, with another body where that is what is wrong with it. */
function good(scene: FaultScene, pieces = scene.answer.pieces, headers: HeaderList = []): Move[] {
  const { isStream, contentType } = scene.answer;
  const all = [...headersOf(scene), ...headers];
  return isStream
    ? chunked(scene.status ?? 200, contentType, pieces, all)
    : sized(scene.status ?? 200, contentType, Buffer.concat(pieces), all);
}

/** Role and first text have left, nothing says that it is over; of a whole answer, something of its body. */
function inBody(scene: FaultScene): number {
  if (scene.at !== undefined) return scene.at;
  const moves = good(scene);
  const total = bytesOf(moves);
  const [first, ...body] = moves;
  const headBytes = bytesOf(first ? [first] : []);
  if (!scene.answer.isStream) return between(scene.random, headBytes + 1, total - 1);
  const begun = headBytes + bytesOf(body.slice(0, 2));
  const finish = headBytes + bytesOf(body.slice(0, -4)); // finish, usage, end marker, last chunk
  return between(scene.random, begun, finish);
}

/** Everything before and after some event of a stream; a whole answer has one piece. */
function withPiece(scene: FaultScene, at: number, piece: Buffer): Move[] {
  const { pieces } = scene.answer;
  return good(scene, [...pieces.slice(0, at), piece, ...pieces.slice(at)]);
}

const noise = (random: () => number): Buffer =>
  Buffer.from(
    pick(random, [
      ': ping\n\n',
      'event: ping\n\n',
      'data: {"half":\n\n',
      'data: 7\n\n',
      'nonsense\n\n',
      'retry: 10\n\n',
      'data:\n\n',
      '\n\n\n',
    ]),
  );

function brokenLength(scene: FaultScene, change: (length: number) => number, after: readonly Move[]): Move[] {
  const body = whole(scene);
  return [
    head(200, [
      ['content-type', scene.answer.contentType],
      ['content-length', String(change(body.length))],
    ]),
    write(body),
    ...after,
  ];
}

/** Compressed, so that a client's limit is tried and not the network: a stream of gzip may have several members. */
function longLine(): Buffer {
  const members = Array<Buffer>(OVER_LINE_LIMIT_MIB).fill(gzipSync('x'.repeat(MIB)));
  return Buffer.concat([gzipSync('data: "'), ...members, gzipSync('"\n\n')]);
}

/** Every way to misbehave, by the name scripts use. */
export const FAULTS = {
  ok: { summary: 'answers as it should', play: good },
  status: {
    summary: 'answers `status` with an error body; without one, any failure',
    play: (scene) => refusal(scene, pick(scene.random, FAILURES)),
  },
  'rate-limit': {
    summary: 'answers 429 with a hint when to come back',
    play: (scene) =>
      sized(
        429,
        JSON_TYPE,
        errorBody(scene),
        scene.headers
          ? headersOf(scene)
          : [
              pick(scene.random, [
                ['retry-after', '7'],
                ['retry-after-ms', '1200'],
                ['x-ratelimit-reset', '9'],
              ] as const),
            ],
      ),
  },
  'error-page': {
    summary: 'answers 502 (`status`) with a page of HTML',
    play: (scene) =>
      sized(
        scene.status ?? 502,
        'text/html',
        Buffer.from('<html><h1>proxy-7.internal is down</h1></html>'),
        headersOf(scene),
      ),
  },
  'slow-error': {
    summary: 'answers 503 (`status`), its body a few bytes at a time',
    play: (scene) => {
      const body = errorBody(scene);
      const pieces = Array.from({ length: Math.ceil(body.length / 16) }, (_, at) =>
        write(body.subarray(at * 16, at * 16 + 16)),
      );
      return spaced(
        [
          head(scene.status ?? 503, [
            ['content-type', JSON_TYPE],
            ['content-length', String(body.length)],
            ...headersOf(scene),
          ]),
          ...pieces,
        ],
        pause(scene),
      );
    },
  },
  'cut-error': {
    summary: 'answers 503 (`status`) and resets the connection inside its body',
    play: (scene) => {
      const moves = refusal(scene, 503);
      return cutAfter(moves, bytesOf(moves) - 5, reset);
    },
  },
  redirect: {
    summary: 'answers 302 (`status`)',
    play: (scene) =>
      sized(scene.status ?? 302, JSON_TYPE, Buffer.from('{}'), [['location', '/v1/redirected'], ...headersOf(scene)]),
  },
  'slow-headers': { summary: 'waits before its headers', play: (scene) => [wait(pause(scene)()), ...good(scene)] },
  'slow-chunks': { summary: 'waits between its chunks', play: (scene) => spaced(good(scene), pause(scene)) },
  'split-chunks': {
    summary: 'waits inside its chunks',
    play: (scene) => halved(good(scene), (length) => between(scene.random, 1, length - 1), pause(scene)),
  },
  'reset-before': { summary: 'resets the connection instead of answering', play: () => [reset] },
  'reset-in-head': {
    summary: 'resets the connection inside the headers',
    play: (scene) => cutAfter(good(scene), scene.at ?? between(scene.random, 1, 30), reset),
  },
  'reset-in-body': {
    summary: 'resets the connection inside the body, at byte `at` if that is set',
    play: (scene) => cutAfter(good(scene), inBody(scene), reset),
  },
  'close-in-body': {
    summary: 'closes the connection inside the body',
    play: (scene) => cutAfter(good(scene), inBody(scene), close),
  },
  'length-too-short': {
    summary: 'announces half of the body it sends',
    play: (scene) => brokenLength(scene, (length) => length >> 1, [close]),
  },
  'length-too-long': {
    summary: 'announces more body than it sends, then closes',
    play: (scene) => brokenLength(scene, (length) => length + 100, [close]),
  },
  'two-lengths': {
    summary: 'announces two lengths',
    play: (scene) =>
      good(scene, undefined, [
        ['content-length', '3'],
        ['content-length', '5'],
      ]),
  },
  garbage: {
    summary: 'answers 200 with bytes that mean nothing',
    play: (scene) => good(scene, [Buffer.from(Array.from({ length: 200 }, () => between(scene.random, 0x80, 0xff)))]),
  },
  empty: { summary: 'answers 200 with nothing', play: (scene) => good(scene, []) },
  noise: {
    summary: 'puts comments, unknown fields and broken events between the good ones',
    play: (scene) => {
      if (!scene.answer.isStream) return good(scene);
      return good(
        scene,
        scene.answer.pieces.flatMap((piece) => [noise(scene.random), piece]),
      );
    },
  },
  'odd-lines': {
    summary: 'ends lines with CRLF and leaves blank lines and spaces out',
    play: (scene) => {
      if (!scene.answer.isStream) return good(scene);
      return good(
        scene,
        scene.answer.pieces.map((piece) =>
          Buffer.from(
            piece
              .toString()
              .replace('data: ', 'data:')
              .replace('\n\n', pick(scene.random, ['\r\n\r\n', '\r\n', '\n', '\r\r'])),
          ),
        ),
      );
    },
  },
  'error-in-200': {
    summary: 'answers 200 with an error for a body, or for a first event',
    play: (scene) =>
      scene.answer.isStream ? withPiece(scene, 0, errorEvent(scene)) : sized(200, JSON_TYPE, errorBody(scene)),
  },
  'error-event': {
    summary: 'sends an error event in the middle of a stream; an error body elsewhere',
    play: (scene) =>
      scene.answer.isStream ? withPiece(scene, 3, errorEvent(scene)) : sized(200, JSON_TYPE, errorBody(scene)),
  },
  'no-end': {
    summary: 'ends a stream without saying that it is over; sends nothing elsewhere',
    play: (scene) => good(scene, scene.answer.isStream ? scene.answer.pieces.slice(0, -3) : []),
  },
  'long-line': {
    summary: 'sends an event of more than 50 MiB, compressed',
    play: (scene) => {
      const { isStream, pieces } = scene.answer;
      return isStream
        ? good(
            scene,
            [gzipSync(Buffer.concat(pieces.slice(0, 3))), longLine(), gzipSync(Buffer.concat(pieces.slice(3)))],
            [['content-encoding', 'gzip']],
          )
        : good(scene);
    },
  },
  gzip: {
    summary: 'compresses although the request did not ask for it',
    play: (scene) => good(scene, [gzipSync(whole(scene))], [['content-encoding', 'gzip']]),
  },
  'broken-gzip': {
    summary: 'says that it compresses, and does not',
    play: (scene) => good(scene, undefined, [['content-encoding', 'gzip']]),
  },
  'early-hints': {
    summary: 'sends 103 before its answer',
    play: (scene) => [head(103, [['link', '</x>; rel=preload']]), ...good(scene)],
  },
  continue: {
    summary: 'sends 100 before its answer, which the request did not ask for',
    play: (scene) => [head(100, []), ...good(scene)],
  },
  'huge-headers': {
    summary: 'sends more headers than clients accept',
    play: (scene) => good(scene, undefined, [['x-padding', 'x'.repeat(OVER_HEADER_LIMIT)]]),
  },
  'not-http': { summary: 'answers in no known language', play: () => [write('SSH-2.0-lab\r\n'), close] },
  'other-status': {
    summary: 'answers 201 (`status`) with the ordinary body',
    play: (scene) => good({ ...scene, status: scene.status ?? 201 }),
  },
  'trailing-bytes': {
    summary: 'sends more bytes after its answer',
    play: (scene) => [...good(scene), write('and another thing\r\n\r\n')],
  },
  'closes-after': {
    summary: 'answers as it should, then closes the connection it said nothing about',
    play: (scene) => [...good(scene), close],
  },
  silence: { summary: 'never answers', play: () => [hang] },
  stall: { summary: 'begins its body and goes silent', play: (scene) => cutAfter(good(scene), inBody(scene), hang) },
  'stall-in-error': {
    summary: 'answers 503 (`status`) and goes silent inside its body',
    play: (scene) => {
      const moves = refusal(scene, 503);
      return cutAfter(moves, bytesOf(moves) - 5, hang);
    },
  },
  endless: {
    summary: 'sends headers of a stream that never says anything',
    play: (scene) => [
      head(200, [
        ['content-type', scene.answer.contentType],
        ['transfer-encoding', 'chunked'],
      ]),
      write(chunk(Buffer.from('\n'))),
      hang,
    ],
  },
} as const satisfies Readonly<Record<string, FaultKind>>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[];

/** What happens on the connection. */
export function playOf(name: FaultName, scene: FaultScene): Move[] {
  return FAULTS[name].play(scene);
}
