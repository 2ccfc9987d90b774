import { type CallInfo, GatewayError, parseJson, type Usage, type WireReply } from 'gw/contract';
import { countOf, type Fields, isFields } from 'gw/common-wire';

/** Still on its way; whatever else a status says, nothing follows. Source: Replicate documentation, "Prediction lifecycle", 2026-11-21. */
const PENDING: ReadonlySet<unknown> = new Set(['starting', 'processing', 'queued']);

export const isPending = ({ status }: Fields): boolean => PENDING.has(status);
export const isSuccess = ({ status }: Fields): boolean => status === 'succeeded';

/** What an id may be made of: it becomes part of addresses. */
const ID = /^[\w-]+$/;

/** The prediction of a reply. Throws when it holds none that could be asked for again. */
export function predictionOf({ body }: WireReply): Fields & { readonly id: string } {
  const prediction = jsonOf(body);
  if (!isFields(prediction) || typeof prediction['id'] !== 'string' || !ID.test(prediction['id']))
    throw unusable('the answer holds no prediction');
  return prediction as Fields & { readonly id: string };
}

/** `undefined` for what is not JSON. */
export function jsonOf(body: WireReply['body']): unknown {
  if (!(body instanceof Uint8Array)) return undefined;
  try {
    return parseJson(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

export function unusable(message: string): GatewayError {
  return new GatewayError('upstream_error', 'the provider sent an unusable answer', {
    fault: { kind: 'reply', message },
  });
}

/** Everything is asked for at the API's own address: what a reply says of addresses is not followed with the credential. */
export const predictionPath = (id: string): string => `/predictions/${id}`;

/** Token counts of a prediction; `undefined` when it states none. */
export function usageOf({ metrics }: Fields): Usage | undefined {
  if (!isFields(metrics)) return undefined;
  const [input, output] = [countOf(metrics['input_token_count']), countOf(metrics['output_token_count'])];
  if (input + output === 0) return undefined;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

/** The strings of an output: of a list all, or the one. Throws when it is something else. */
export function outputTexts({ output }: Fields): readonly string[] {
  if (typeof output === 'string') return [output];
  if (!Array.isArray(output)) throw new Error('the prediction holds no output');
  return output.filter((piece) => typeof piece === 'string');
}

/** Whether a stream's address may see the token: the API's own origin, or `stream.` beside the API's `api.`. See docs/providers.md#replicate-predictions. */
export function mayCarryToken(address: string, { root }: CallInfo): boolean {
  const [url, own] = [new URL(address), new URL(root)];
  if (url.origin === own.origin) return true;
  const [, domain] = /^api\.([^.]+\..+)$/.exec(own.hostname) ?? [];
  return (
    domain !== undefined &&
    url.hostname === `stream.${domain}` &&
    url.protocol === own.protocol &&
    url.port === own.port
  );
}
