import { Buffer } from 'node:buffer';
import { failedAnswer, GatewayError, isText, type ProviderFault, tryParseJson, type WireReply } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';

/** How the services word a prompt that their policy refuses. Source: Vertex AI documentation, "Responsible AI and usage guidelines for Imagen", 2026-11-21. */
const REFUSED =
  /responsible ai|usage guidelines|blocked by (?:our|the) safety|safety (?:filters?|policy)|prohibited content/i;

/** What the host's own reading of error bodies does not tell: that content was refused. Source: AIP-193, 2026-11-21. */
export function googleFault({ status, body }: WireReply): ProviderFault | undefined {
  if (status !== 400 || !(body instanceof Uint8Array)) return undefined;
  const message = errorOf(tryParseJson(Buffer.from(body).toString('utf8')))?.['message'];
  return typeof message === 'string' && REFUSED.test(message) ? { reason: 'content_policy' } : undefined;
}

/** The error object of a body or of a stream's frame; `undefined` for another body. */
export function errorOf(body: unknown): Fields | undefined {
  const [first = body]: readonly unknown[] = Array.isArray(body) ? body : [];
  if (!isFields(first)) return undefined;
  const { error } = first;
  if (typeof error === 'string' && error !== '') return { message: error };
  return isFields(error) && Object.keys(error).length > 0 ? error : undefined;
}

/** The failure that a stream's frame tells of. */
export function frameFailure({ message, status, code, details }: Fields): GatewayError {
  const reasons = Array.isArray(details) ? details.filter(isFields).map(({ reason }) => reason) : [];
  const found = [message, status].find(isText) ?? 'the provider failed while answering';
  const word = [...reasons, status].find(isText);
  const isStatus = Number.isInteger(code) && Number(code) >= 400 && Number(code) <= 599;
  return failedAnswer(found, { ...(word !== undefined && { code: word }), ...(isStatus && { status: Number(code) }) });
}

/** A refusal of content inside a reply that says 200: the caller gets a 400, as for such refusals of other vendors. */
export function contentRefused(message: string): GatewayError {
  return new GatewayError('invalid_request', message, {
    fault: { kind: 'status', status: 400, reason: 'content_policy', message },
  });
}
