import type { Capabilities, Model } from '../../../api/wire.ts';

/** Parameters of the chat form, as the wire names them. */
const SENT = ['temperature', 'max_tokens'] as const;

/** What of the form the provider of a model does not take. */
export function unsupportedParameters(
  models: readonly Model[],
  id: string,
  capabilities: Capabilities | undefined,
): { readonly provider: string; readonly parameters: readonly string[] } {
  const provider = models.find((model) => model.id === id)?.owned_by ?? '';
  const treatments = capabilities?.providers[provider] ?? {};
  return { provider, parameters: SENT.filter((parameter) => treatments[parameter] === 'unsupported') };
}
