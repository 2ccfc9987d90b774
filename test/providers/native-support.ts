import { expect } from 'chai';
import type { ErrorCode, ProviderModule, UpstreamFault } from '../../host/contract/index.ts';
import { replyError } from '../../host/upstream/fault.ts';
import { type Dice, failedReply, golden } from '../kit/index.ts';

/** Declares checks: nothing is forwarded to a provider of another wire, beyond what is named. See docs/providers.md#providers. */
export function itPassesNothingOn(
  module: ProviderModule,
  { batches = false, anyModel = false }: { batches?: boolean; anyModel?: boolean } = {},
): void {
  it('is a native wire: nothing is forwarded to it that the gateway does not translate', () => {
    const {
      wire,
      passthrough = false,
      responses = false,
      batches: has = false,
      anyModel: any = false,
      discovery,
    } = module;
    expect({ wire, passthrough, responses, batches: has, anyModel: any, discovery }).to.deep.equal({
      wire: 'native',
      passthrough: false,
      responses: false,
      batches,
      anyModel,
      discovery: undefined,
    });
  });
}

const LETTERS: ReadonlyMap<unknown, string> = new Map([
  ['translate', 'T'],
  ['unsupported', '–'],
]);

/** Declares checks: the row of the capability matrix, in its letters and order. See docs/providers.md#fields-of-chat. */
export function itDeclares(module: ProviderModule, row: string): void {
  it('declares its row of the capability matrix', () => {
    const { params } = JSON.parse(golden('capability-matrix.json')) as { readonly params: readonly string[] };
    expect(params.map((param) => LETTERS.get(module.params[param]) ?? 'f').join(' ')).to.equal(row);
    expect(
      Object.keys(module.params).filter((param) => !params.includes(param)),
      'parameters that the matrix does not list',
    ).to.deep.equal([]);
  });
}

export interface ReadFault {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
  /** What the provider said. */
  readonly said: string | undefined;
  readonly reason: UpstreamFault['reason'];
}

/** What the host makes of a refused call. */
export function faultOf(module: ProviderModule, status: number, body: string): ReadFault {
  const error = replyError(module, failedReply(body, status) as never, 0);
  return {
    code: error.code,
    status: error.status,
    message: error.message,
    said: error.fault?.message,
    reason: error.fault?.reason,
  };
}

/** In pieces of random lengths, from one to all of it. */
export function cutAtRandom<T extends { readonly length: number; slice(start: number, end: number): T }>(
  whole: T,
  dice: Dice,
): T[] {
  const pieces: T[] = [];
  for (let at = 0; at < whole.length;) {
    const end = Math.min(whole.length, at + 1 + dice.below(40));
    pieces.push(whole.slice(at, end));
    at = end;
  }
  return pieces;
}
