import type { GatewayError, ReplyOf, Surface, Usage } from '../../contract/index.ts';
import type { ClientStream } from '../../wire/client-wire.ts';
import type { AnswerFacts } from '../charged-usage.ts';

/** What a reply says beside what was streamed of it. */
export interface ReplyFacts {
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly provider: string;
  readonly usage: Usage | undefined;
}

/** Makes what goes to the client of the bytes of an upstream's stream: synchronous, one call per read. */
export interface StreamRelay {
  /** Writes what goes to the client, and what ends it once the stream is over. */
  readonly encoder: ClientStream;
  /** Why the stream cannot go on; nothing is read after it. */
  readonly failure: GatewayError | undefined;
  /** True once the upstream said that nothing follows. */
  readonly isDone: boolean;
  /** Chunks read so far, or events, whether or not anything left. */
  readonly chunks: number;
  /** Events read so far, where those without a chunk count too, as far as they say that the answer goes on. */
  readonly signs: number;
  /** Whether something waits for the answer to begin. */
  readonly isWaiting: boolean;
  /** The upstream's name of the model, once it has said it. */
  readonly reportedModel: string | undefined;
  /** Whether the answer is complete: what it said of its usage by then is all of it. */
  readonly isFinished: boolean;
  /** Whether plugins look at each chunk, which may take long. */
  readonly isGuarded: boolean;
  /** Whether plugins have not looked at all yet that came: nothing is read and nothing ends before `catchUp` has had them. */
  readonly isBehind: boolean;
  catchUp(): string;
  push(bytes: Buffer): string;
  /** The answer begins with what has come of it, however little that says. */
  begin(): string;
  /** The upstream's body has ended: a failure, unless it said so before. */
  end(): string;
  /** What is still held back, once the stream is complete. */
  flush(): string;
  /** The bytes of an answer that was held, once. */
  takeHeld(): string;
  /** What was delivered, as one reply. */
  reply(facts: ReplyFacts): ReplyOf<Surface>;
  /** What it is billed by so far. */
  facts(): AnswerFacts;
}
