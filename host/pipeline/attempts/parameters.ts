import { type ChatRequest, GatewayError, type ParamTreatments, type ProviderModule } from '../../contract/index.ts';
import { shownNames } from '../shown.ts';

/** The chat parameters the capability matrix speaks of, in its order. */
export const PARAMETERS = [
  'temperature',
  'top_p',
  'n',
  'seed',
  'max_tokens',
  'max_completion_tokens',
  'presence_penalty',
  'frequency_penalty',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'logprobs',
  'top_logprobs',
  'parallel_tool_calls',
  'user',
  'logit_bias',
] as const;

type Parameter = (typeof PARAMETERS)[number];

const NAMES: ReadonlySet<string> = new Set(PARAMETERS);
const isParameter = (name: string): name is Parameter => NAMES.has(name);

export type UnsupportedPolicy = 'warn' | 'drop' | 'reject';

/** Parameters of the request that the provider cannot express, in the order of the matrix. */
export function unsupportedIn(request: ChatRequest, params: ParamTreatments): string[] {
  const found: string[] = [];
  for (const name in params)
    if (params[name] === 'unsupported' && isParameter(name) && isSet(request, name)) found.push(name);
  return found.length > 1 ? inMatrixOrder(found, 'common') : found;
}

/** A refusal by a native wire names the two that belong together side by side. See docs/reference/providers.md#unsupported-parameters. */
const NATIVE_ORDER: readonly string[] = PARAMETERS.flatMap((name) => {
  if (name === 'tool_choice') return [name, 'parallel_tool_calls'];
  return name === 'parallel_tool_calls' ? [] : [name];
});

/** Names outside the matrix come after it, in the order of the body's `fields`; those of no field come last. */
export function inMatrixOrder(
  names: readonly string[],
  wire: ProviderModule['wire'],
  fields: readonly string[] = [],
): string[] {
  const ranks = new Map<string, number>();
  for (const name of wire === 'native' ? NATIVE_ORDER : PARAMETERS) ranks.set(name, ranks.size);
  for (const name of fields) if (!ranks.has(name)) ranks.set(name, ranks.size);
  const rank = (name: string): number => ranks.get(name) ?? ranks.size;
  return [...new Set(names)].toSorted((a, b) => rank(a) - rank(b));
}

/** Parameters of the matrix that a request sets, but for those in `left`. */
export function parametersIn(request: ChatRequest, left: readonly string[]): string[] {
  return PARAMETERS.filter((name) => !left.includes(name) && isSet(request, name));
}

/** When a parameter counts as set (docs/reference/providers.md#unsupported-parameters). */
function isSet(request: ChatRequest, name: Parameter): boolean {
  const value: unknown = request[name];
  if (value === undefined || value === null) return false;
  switch (name) {
    case 'stop':
    case 'tools':
      return (value as readonly unknown[]).length > 0;
    case 'logit_bias':
      return Object.keys(value).length > 0;
    case 'logprobs':
      return value === true;
    case 'user':
      return value !== '';
    case 'max_completion_tokens':
      return value !== request.max_tokens;
    default:
      return true;
  }
}

/** The request without what the provider cannot express. */
export function withoutUnsupported(request: ChatRequest, unsupported: readonly string[]): ChatRequest {
  if (unsupported.length === 0) return request;
  const kept: Record<string, unknown> = { ...request };
  for (const name of unsupported) delete kept[name];
  return kept as ChatRequest;
}

export function unsupportedError(names: readonly string[], provider: string): GatewayError {
  return new GatewayError('unsupported_parameter', `${provider} does not support: ${shownNames(names)}`);
}
