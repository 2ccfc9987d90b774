import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../../host/contract/index.ts';
import type { KeyLimits } from '../../../host/common/host-principal.ts';
import type { Generation } from '../../../host/generation/generation.ts';
import { notListed } from '../../../host/pipeline/key-access.ts';
import { modelsInHeaders, modelsInPath, modelsInQuery, type NamedModel } from '../../../host/pipeline/named-models.ts';
import { modelNotFound } from '../../../host/pipeline/shown.ts';
import { type Family, FILES } from '../family.ts';
import { isForm, modelsInJson, ModelSearch } from './model-search.ts';
import { isOfBatches, isUpload } from '../ownership.ts';
import type { HeldBody } from '../read-ahead.ts';

/** What a request names that a key's list of models must hold. Requests of keys without a list are not looked at. */
export interface Named {
  /** In the path, in the query, in headers, and in a body that was held whole. */
  readonly models: readonly NamedModel[];
  /** Whether all of the body was looked through, if it is held. */
  readonly isSearched: boolean;
}

interface Asking {
  readonly family: Family;
  readonly paths: readonly string[];
  readonly request: IncomingMessage;
}

const mediaTypeOf = ({ headers }: IncomingMessage): string => headers['content-type'] ?? '';

export const isCodedBody = ({ headers }: IncomingMessage): boolean =>
  !/^\s*(?:identity)?\s*$/i.test(headers['content-encoding'] ?? '');

/** Whether a body is a file that is looked through while it passes. Every other one is held until it was searched. */
export const passesSearched = ({ family, paths, request }: Asking): boolean =>
  family === FILES && !isOfBatches(paths) && isUpload(request.method ?? '', mediaTypeOf(request));

/** Everything that a request names models by, but for an upload that is looked through while it passes. */
export function namedBy(asking: Asking, body: HeldBody, { models: known }: Generation): Named {
  const { paths, request } = asking;
  const query = (request.url ?? '').indexOf('?');
  const inBody =
    body.held.length === 0 || passesSearched(asking)
      ? []
      : isCodedBody(request)
        ? undefined
        : modelsInBody(body.held, mediaTypeOf(request), asking.family.asks !== undefined);
  return {
    models: [
      ...paths.flatMap((path) => modelsInPath(path, (model) => known.isKnown(model))),
      ...(query < 0 ? [] : modelsInQuery((request.url ?? '').slice(query + 1))),
      ...modelsInHeaders(request.headers),
      ...(inBody ?? []),
    ],
    isSearched: inBody !== undefined,
  };
}

/** Throws for a model outside the list of a key, and for a request that may name one unseen. */
export function requireListed(
  named: Named,
  limits: KeyLimits,
  { family, paths, hasBody }: Asking & { readonly hasBody: boolean },
  { config: { aliases }, services: { redactor } }: Generation,
): void {
  const refusal = notListed(limits, named.models, aliases, redactor);
  if (refusal) throw refusal;
  const isInParts = paths.some((path) => /^\/v1\/uploads(?:\/|$)/i.test(path));
  const isUnseen = !named.isSearched || (hasBody && named.models.length === 0 && !family.fixed && !family.asks);
  if (isUnseen && (family.fixed || isInParts)) throw cannotBeSearched('the body');
  if (isUnseen)
    throw modelNotFound('', redactor, 'the body names no model that can be found, and the key has a list of them');
}

export const cannotBeSearched = (what: string): GatewayError =>
  new GatewayError('request_rejected', `${what} cannot be looked through for models, and the key has a list of them`);

/** `undefined` for a body that cannot be looked through. */
function modelsInBody(bytes: Buffer, mediaType: string, isRouted: boolean): readonly NamedModel[] | undefined {
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  const isQuery = /urlencoded/i.test(mediaType) || /^[^\s{}[\]"<>]+$/.test(text);
  const json = modelsInJson(text, isRouted);
  if (json || (isQuery && !isForm(mediaType))) return [...(json ?? []), ...(isQuery ? modelsInQuery(text) : [])];
  const search = new ModelSearch(mediaType);
  search.push(bytes);
  search.end();
  return search.isBroken || (search.isUnclear && !isForm(mediaType)) ? undefined : search.take();
}

/** A file on its way, without the end of one that is made for batches and names a model outside the list: a provider keeps no part of it. */
export function listedUpload(
  body: HeldBody,
  request: IncomingMessage,
  refusalOf: (named: readonly NamedModel[]) => GatewayError | undefined,
): HeldBody {
  const search = new ModelSearch(mediaTypeOf(request));
  let refusal: GatewayError | undefined = isCodedBody(request) ? cannotBeSearched('a coded body') : undefined;
  const check = (): void => {
    const named = search.take();
    if (named.length > 0) refusal ??= refusalOf(named);
    if (search.isBroken || search.isUnclear) refusal ??= cannotBeSearched('the file');
    if (refusal && (isCodedBody(request) || search.purposes.some((purpose) => /batch/i.test(purpose)))) throw refusal;
  };
  async function* searched(): AsyncGenerator<Uint8Array> {
    let waiting: Uint8Array | undefined;
    for (const pieces of [[body.held], body.rest ?? []]) {
      for await (const piece of pieces) {
        search.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
        check();
        if (waiting) yield waiting;
        waiting = piece;
      }
    }
    search.end();
    check();
    if (waiting) yield waiting;
  }
  return {
    held: Buffer.alloc(0),
    rest: searched(),
    declared: body.declared ?? (body.rest ? undefined : body.held.length),
  };
}
