import { defineProvider, headerKey } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';

/** Chat parameters that Acme names differently or does not know; what is not listed is sent as it is. */
const params = {
  seed: { rename: 'random_seed' },
  logit_bias: 'unsupported',
} as const;

/** Acme speaks the clients' format on a path of its own, and wants its key in a header of its own. */
export default defineProvider({
  name: 'acme', // equal to the folder's name: what operators write as virtual_key
  wire: 'common',
  connection: {
    env: ['ACME_API_KEY'], // registers the provider when it is set
    baseUrl: 'https://api.acme.example/v1', // ACME_BASE_URL replaces it
    authorize: headerKey('x-acme-key', 'ACME_API_KEY'),
  },
  params,
  translators: commonTranslators(['chat'], params, { chat: { path: '/chat', ceiling: 'max_tokens' } }),
});
