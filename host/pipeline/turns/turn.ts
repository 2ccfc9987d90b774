import type { Cost, Exchange, RequestOf, Surface, Usage } from '../../contract/index.ts';
import type { ClientStream } from '../../wire/client-wire.ts';

/** What a turn sends where it is not simply the exchange's own request. */
export interface TurnRequest {
  /** A copy that grew: the exchange's own request stays what plugins, caches and logs see. */
  readonly request: RequestOf<Surface>;
  /** The request without the tools that the gateway itself has added: for a provider that cannot be sent any. The client has not asked for them. */
  readonly withoutTools?: RequestOf<Surface>;
  /** As the exchange unless said. */
  readonly streaming?: boolean;
  /**
   * Writes the chunks of a streamed turn in the place of the client's wire, made once per attempt: it sees every chunk, and
   * what it returns is what leaves. A stream of such a turn is put together again, whether or not a plugin asks.
   */
  readonly openStream?: (exchange: Exchange) => ClientStream;
}

/** One turn: a request on its way through the targets until one answers. Most exchanges have one. */
export class Turn {
  /** 1 for the first of its exchange. */
  readonly number: number;
  /** The exchange's own request, whose answer is the exchange's: no loop asked for the turn. */
  readonly isOwn: boolean;
  readonly request: RequestOf<Surface>;
  readonly withoutTools: TurnRequest['withoutTools'];
  readonly streaming: boolean;
  readonly openStream: TurnRequest['openStream'];
  /** What the turns before it have used and cost. */
  readonly usageBefore: Usage | undefined;
  readonly chargedBefore: Usage | undefined;
  readonly costUsdBefore: number | undefined;
  readonly costBefore: Cost | undefined;

  constructor(
    number: number,
    { request, streaming }: Exchange,
    sums: {
      readonly usage: Usage | undefined;
      readonly charged?: Usage | undefined;
      readonly costUsd: number | undefined;
      readonly cost?: Cost | undefined;
    },
    ask: TurnRequest | undefined,
  ) {
    this.number = number;
    this.isOwn = ask === undefined;
    this.request = ask ? ask.request : request;
    this.withoutTools = ask?.withoutTools;
    this.streaming = ask?.streaming ?? streaming;
    this.openStream = ask?.openStream;
    this.usageBefore = sums.usage;
    this.chargedBefore = sums.charged;
    this.costUsdBefore = sums.costUsd;
    this.costBefore = sums.cost;
  }
}
