import type { HouseName } from './houses.ts';

/** How the bytes of an upstream's answer leave: in one write, event by event, in odd pieces, or half of them and then the end. */
export type Manner = 'whole' | 'events' | 'odd' | 'cut';

/** What a stub upstream answers. */
export interface Answer {
  /** What it is, for people. */
  readonly title: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly manner: Manner;
}

/** One request of a client, and what the upstreams answer while it runs. */
export interface Exchange {
  /** Unlike that of any other exchange. */
  readonly title: string;
  readonly house: HouseName;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** In the order of the calls; the last one answers all further calls. */
  readonly answers: readonly Answer[];
}

/** The credential of all clients. */
export const KEY = 'gw_0123456789abcdef0123456789abcdef';

export const JSON_TYPE = { 'content-type': 'application/json' } as const;
export const BEARER = { authorization: `Bearer ${KEY}` } as const;

export const jsonBody = (body: object): Buffer => Buffer.from(JSON.stringify(body));
