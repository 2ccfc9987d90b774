import type { KeyLimits } from '../common/host-principal.ts';
import { asksForStream } from '../common/asks-for-stream.ts';
import { invalidRequest } from '../common/invalid-request.ts';
import { isTagName, kindOfPath, pathProblem } from '../common/accounts/account-path.ts';
import { isFields, quoted, type RequestOf, type Surface, SURFACES } from '../contract/index.ts';

/** A request that is not sent. */
export interface RouteQuestion {
  readonly surface: Surface;
  /** The body, in the common wire. */
  readonly request: RequestOf<Surface>;
  readonly streaming: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  /** As `X-Gateway-Session` would name it. */
  readonly session?: string | undefined;
  /** The id of the key that would ask: sessions of two keys are never one. */
  readonly keyId?: string | undefined;
  /** What is written of that key, or of one that is only thought of: its account and tags above all. */
  readonly limits?: KeyLimits | undefined;
  /** Names of tags that the request would bring. */
  readonly tags?: readonly string[] | undefined;
}

/** Who would ask, as it is given: a key by its id, or the account of one that is only thought of, and tags. */
export interface GivenAsker {
  readonly keyId: string | undefined;
  readonly account: string | undefined;
  readonly tags: readonly string[] | undefined;
  /** What is written of the key, where it was found. */
  readonly limits: KeyLimits | undefined;
}

/** Tags beside an account are those of the key that is thought of, else the request brings them. */
export function readAsker({
  keyId,
  account,
  tags,
  limits,
}: GivenAsker): Pick<RouteQuestion, 'keyId' | 'limits' | 'tags'> {
  const wrong = tags?.find((tag) => !isTagName(tag));
  if (wrong !== undefined) throw invalidRequest(`${quoted(wrong)} is not the name of a tag`);
  if (account === undefined) return { keyId, limits, tags };
  if (keyId !== undefined) throw invalidRequest('a key has its account; give key_id or account');
  const problem = kindOfPath(account) === 'tag' ? 'a path begins with /' : pathProblem(account);
  if (problem !== undefined) throw invalidRequest(`account is ${quoted(account)}: ${problem}`);
  return { keyId, limits: { account, ...(tags && { tags }) }, tags: undefined };
}

/** Checks the request to be explained. Throws `invalid_request` where its route cannot be determined. */
export function readQuestion(
  surface: string,
  request: unknown,
  metadata: Readonly<Record<string, string>>,
): RouteQuestion {
  const routed = Object.entries(SURFACES)
    .filter(([, { translator }]) => translator !== undefined)
    .map(([name]) => name);
  if (!routed.includes(surface))
    throw invalidRequest(`the surface "${surface}" is not routed by the strategy; use one of: ${routed.join(', ')}`);
  if (!isFields(request)) throw invalidRequest('the request must be a JSON object');
  if (typeof request['model'] !== 'string' || request['model'] === '')
    throw invalidRequest('the request needs a model');
  const { isChat } = SURFACES[surface as Surface];
  const body =
    surface === 'completions' ? { ...request, messages: [{ role: 'user', content: request['prompt'] }] } : request;
  if (isChat && !isMessages((body as { readonly messages?: unknown }).messages))
    throw invalidRequest('messages must be a list of messages');
  return {
    surface: surface as Surface,
    request: body,
    streaming: asksForStream(surface as Surface, request),
    metadata: isChat ? metadata : {},
  };
}

function isMessages(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (message) => isFields(message) && (!Array.isArray(message['content']) || message['content'].every(isFields)),
    )
  );
}
