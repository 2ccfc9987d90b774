import { parseJson, type ProviderFault, type WireReply } from 'gw/contract';
import { isFields } from './fields.ts';
import { withoutTail } from './paths.ts';

/** A resource's host, whether it is given bare or with the path that the portal shows. Paths bring `/openai` themselves. */
export function resourceRoot(address: string): string {
  return ['/openai/v1', '/openai'].reduce(withoutTail, address);
}

/** Codes of a refused prompt or answer. Source: Azure OpenAI documentation, "Content filtering", 2026-11-21. */
const CONTENT_CODES: ReadonlySet<unknown> = new Set([
  'content_filter',
  'contentFilter',
  'content_policy_violation',
  'ResponsibleAIPolicyViolation',
]);

/** Refusals of content that the usual place of the code does not show: the code may stand one level deeper, or the message alone says it. Others are read as usual. */
export function azureFault({ body }: WireReply): ProviderFault | undefined {
  if (!(body instanceof Uint8Array)) return undefined;
  const parsed: unknown = parseJson(new TextDecoder().decode(body));
  const error = isFields(parsed) ? parsed['error'] : undefined;
  if (!isFields(error)) return undefined;
  const inner = error['innererror'] ?? error['inner_error'];
  const message = typeof error['message'] === 'string' ? error['message'] : undefined;
  if ([error['code'], isFields(inner) ? inner['code'] : undefined].some((code) => CONTENT_CODES.has(code)))
    return { message, reason: 'content_policy' };
  const isTooLong = error['code'] === 'context_length_exceeded' || /maximum context length/i.test(message ?? '');
  return isTooLong ? { message, reason: 'context_length' } : undefined;
}
