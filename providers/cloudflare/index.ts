import { bearer, defineProvider, parseJson, type ProviderFault, type WireReply } from 'gw/contract';
import { commonTranslators, isFields } from 'gw/common-wire';

/** Messages of `{success, errors: [{code, message}]}`. See docs/reference/providers.md#error-bodies. */
function toFault({ body }: WireReply): ProviderFault | undefined {
  if (!(body instanceof Uint8Array)) return undefined;
  const envelope: unknown = parseJson(new TextDecoder().decode(body));
  const errors: unknown = isFields(envelope) ? envelope['errors'] : undefined;
  if (!Array.isArray(errors)) return undefined;
  const messages = errors.flatMap((error: unknown) =>
    isFields(error) && typeof error['message'] === 'string' && error['message'].trim() ? [error['message'].trim()] : [],
  );
  return messages.length > 0 ? { message: messages.join('; ') } : undefined;
}

/** Common wire below the account's address. See docs/providers.md#providers. */
export default defineProvider({
  name: 'cloudflare',
  wire: 'common',
  connection: {
    env: ['CLOUDFLARE_API_KEY', 'CLOUDFLARE_ACCOUNT_ID'],
    baseUrl: ({ CLOUDFLARE_ACCOUNT_ID: account = '' }) =>
      `https://api.cloudflare.com/client/v4/accounts/${encodeURIComponent(account.trim())}/ai/v1`,
    authorize: bearer('CLOUDFLARE_API_KEY'),
  },
  params: {},
  // Source: Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: {
    portkey: {
      names: ['workers-ai'],
      settings: [{ variable: 'CLOUDFLARE_ACCOUNT_ID', from: ['workers_ai_account_id', 'workersAiAccountId'] }],
    },
  },
  translators: commonTranslators(['chat', 'embeddings'], {}, { chat: { drops: ['web_search_options'] } }),
  passthrough: true,
  responses: true,
  anyModel: true,
  toFault,
});
