import { gzipSync } from 'node:zlib';
import {
  close,
  type GoodAnswer,
  head,
  type HeaderList,
  LAST_CHUNK,
  chunk,
  type Move,
  sized,
  write,
} from '../../kit/index.ts';

/** What a client may see of it; `waits` is a stream that has begun and goes silent, which the client leaves. */
export type Seen = 'answer' | 'failed' | 'timeout' | 'broken' | 'cut' | 'waits' | `error ${number}`;

/** What comes back by the way it was asked for: a whole chat answer, a streamed one, and speech, whose bytes go on as they arrive. */
export interface Expected {
  readonly whole: Seen;
  readonly stream: Seen;
  readonly speech: Seen;
}

export interface BrokenKind {
  readonly name: string;
  readonly play: (answer: GoodAnswer) => readonly Move[];
  readonly expected: Expected;
  /** It ends by a time limit alone. */
  readonly isSilent?: boolean;
}

export const all = (seen: Seen): Expected => ({ whole: seen, stream: seen, speech: seen });
export const ANSWERED = all('answer');
export const FAILED = all('failed');

export const bodyOf = ({ pieces }: GoodAnswer): Buffer => Buffer.concat(pieces);

/** The good answer under another status line and further headers. */
export function under(statusLine: string, headers = ''): BrokenKind['play'] {
  return (answer) => [
    write(
      `${statusLine}\r\nContent-Type: ${answer.contentType}\r\nContent-Length: ${bodyOf(answer).length}\r\n${headers}\r\n`,
    ),
    write(bodyOf(answer)),
  ];
}

/** The good answer under exactly these headers. */
export function withHead(headers: (answer: GoodAnswer) => string): BrokenKind['play'] {
  return (answer) => [write(`HTTP/1.1 200 OK\r\n${headers(answer)}\r\n`), write(bodyOf(answer))];
}

export type Framing = 'sized' | 'chunked' | 'until it closes';
export const FRAMINGS: readonly Framing[] = ['sized', 'chunked', 'until it closes'];

/** A body in each of the ways HTTP/1.1 tells its end. */
export function framed(framing: Framing, contentType: string, body: Buffer, headers: HeaderList = []): readonly Move[] {
  if (framing === 'sized') return sized(200, contentType, body, headers);
  if (framing === 'chunked')
    return [
      head(200, [['content-type', contentType], ['transfer-encoding', 'chunked'], ...headers]),
      ...(body.length > 0 ? [write(chunk(body))] : []),
      write(LAST_CHUNK),
    ];
  return [head(200, [['content-type', contentType], ['connection', 'close'], ...headers]), write(body), close];
}

export const zip = (body: Buffer): Buffer => gzipSync(body);
