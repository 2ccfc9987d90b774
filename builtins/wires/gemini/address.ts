import type { IncomingHttpHeaders } from 'node:http';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { GatewayError, quoted } from '../../../host/contract/index.ts';

export const ROOT = '/v1beta';
/** Versions of the API, which differ in nothing that is served here. The vendor's SDK asks for the second since 3.0. Source: @google/genai 3.1.0, 2026-11-22. */
export const COLLECTIONS = [`${ROOT}/models`, '/v1/models'] as const;

/** What can be asked of a model. */
export const OPERATIONS = [
  'generateContent',
  'streamGenerateContent',
  'countTokens',
  'embedContent',
  'batchEmbedContents',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** What an address below the models names, as it is written. */
export interface Asked {
  /** Percent-encoded. */
  readonly model: string;
  /** Behind the last colon; `undefined` without any. */
  readonly method: string | undefined;
}

const MODELS = '/models/';

/** What an address asks of which model: the last colon of the path ends the model. See docs/reference/ingress.md#addresses. */
export function askedIn(url: string): Asked {
  const path = pathOf(url);
  const rest = path.slice(path.indexOf(MODELS) + MODELS.length);
  const colon = rest.lastIndexOf(':');
  return colon < 0
    ? { model: rest, method: undefined }
    : { model: rest.slice(0, colon), method: rest.slice(colon + 1) };
}

const pathOf = (url: string): string => url.replace(/\?.*$/s, '');

/** Whether a request below `/v1/models` is one of this API: by what it asks, or by the header that the vendor's SDKs send. */
export function isOfThisApi({ 'x-goog-api-client': client }: IncomingHttpHeaders, path: string): boolean {
  return client !== undefined || OPERATIONS.some((operation) => path.endsWith(`:${operation}`));
}

/** Whether an address asks for a stream that is one list of JSON, and no stream of events. */
export function isListStream(url: string): boolean {
  return pathOf(url).endsWith(':streamGenerateContent') && formIn(url) !== 'sse';
}

function formIn(url: string): string | undefined {
  return queryOf(url).get('alt') ?? undefined;
}

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
}

/** Throws a 400 for a form of answers that is not served. */
export function checkForm(url: string): void {
  const form = queryOf(url).get('alt');
  if (form !== null && form !== '' && form !== 'sse' && form !== 'json')
    throw invalidRequest(`alt ${quoted(form)} is not supported, use sse or json`);
}

const CONTROL = /[\x00-\x1f\x7f]/;

/** The name of the model, decoded once. Throws a 400 for one that cannot be a name, and a 404 for models that only their own vendor has. */
export function modelOf({ model }: Asked): string {
  const name = decoded(model).replace(/^models\//, '');
  if (name === '') throw invalidRequest('the path names no model');
  if (CONTROL.test(name) || name.split('/').some((segment) => segment === '.' || segment === '..'))
    throw invalidRequest('the model in the path is malformed');
  if (name.startsWith('tunedModels/'))
    throw new GatewayError('model_not_found', 'tuned models are served by their own vendor only');
  return name;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new GatewayError('invalid_request', 'the path holds a percent sign that encodes nothing', { cause });
  }
}
