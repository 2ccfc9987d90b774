import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../host/contract/index.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import { checkCoding } from '../../host/http/body/coding.ts';
import { bodyTooLarge } from '../../host/http/body/read-body.ts';
import { answerExchange, type ReadForwarded, readJson } from '../../host/http/surface-route.ts';
import type { DrawnOrder } from '../../host/pipeline/exchange-state.ts';
import { mayServe } from '../../host/pipeline/key-access.ts';
import type { Target } from '../../host/pipeline/target.ts';
import type { HeldBody } from './read-ahead.ts';

export interface Addressed {
  /** The value of `X-Provider`. */
  readonly named: string | undefined;
  /** After aliases. */
  readonly model: string | undefined;
  readonly limits: KeyLimits;
}

/**
 * Whether a request goes to a target that cannot be given it as it is: the one it names, else the first that owns its model. What has
 * no target is not translated either: it is refused where it would be forwarded.
 */
export function isTranslated(generation: Generation, { named, model, limits }: Addressed): boolean {
  const target = named === undefined ? ownerOf(generation, model, limits) : generation.targets.get(named);
  return target?.provider !== undefined && mayServe(limits, target.virtualKey) && needsTranslation(target, generation);
}

function ownerOf({ models, targets }: Generation, model: string | undefined, limits: KeyLimits): Target | undefined {
  if (model === undefined) return undefined;
  const isFit = (target: Target | undefined): boolean =>
    target?.provider !== undefined && mayServe(limits, target.virtualKey);
  if (!models.isKnown(model)) return models.takers(model).find(isFit);
  return models
    .owners(model)
    .filter(({ serves }) => serves)
    .map(({ virtualKey }) => targets.get(virtualKey))
    .find(isFit);
}

export function needsTranslation({ config: { responses }, provider }: Target, { config }: Generation): boolean {
  if (responses) return responses === 'translate';
  return config.responses.translate === 'auto' && provider !== undefined && provider.module.responses !== 'native';
}

export interface Translating {
  readonly host: Host;
  readonly generation: Generation;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: HeldBody;
  readonly named: string | undefined;
  readonly drawn: DrawnOrder | undefined;
}

/** Has a request read into a chat, and answered like one. */
export async function answerTranslated(translating: Translating): Promise<void> {
  const { host, response, body, named, drawn } = translating;
  const read = await readChat(translating).finally(() => {
    body.rest?.return(undefined).catch(() => {});
  }); // what was not read is left to be read in vain
  if (!read) throw new GatewayError('proxy_not_supported', 'this build translates no responses');
  const routed = { ...read, ...(named !== undefined && { pinned: named }), ...(drawn && { drawn }) };
  await answerExchange(host, read.surface, routed, response);
}

async function readChat({ host, generation, request, body }: Translating): Promise<ReadForwarded | undefined> {
  checkCoding(request);
  const bytes = await wholeBody(body, generation.maxRequestBytes);
  return readJson(bytes, (json) => host.hooks.readForwarded.call(json, request, bytes));
}

async function wholeBody({ held, rest }: HeldBody, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [held];
  let bytes = held.length;
  const check = (): void => {
    if (bytes > maxBytes) throw bodyTooLarge();
  };
  check();
  for await (const piece of rest ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    check();
  }
  return pieces.length === 1 ? held : Buffer.concat(pieces);
}
