import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, type Fields, invalidRequest, withoutTail } from 'gw/common-wire';

const SERVING = '/serving-endpoints';

/** The serving root of a workspace, whether its host or the address of one endpoint is configured. See docs/providers.md#addresses-of-their-own. */
function servingRoot(address: string): string {
  const root = ['/chat/completions', '/embeddings', '/models'].reduce(withoutTail, address);
  return root.includes(SERVING) ? root : `${root}${SERVING}`;
}

/** Blank texts are refused here: the endpoint fails on them. See docs/providers.md#what-differs. */
function withoutBlanks(body: Fields): Fields {
  const texts = [body['input']].flat();
  if (texts.some((text) => typeof text === 'string' && text.trim() === ''))
    throw invalidRequest('input must not hold a blank text');
  return body;
}

/** Common wire; a model is the name of a serving endpoint, and no list of them is read. */
export default defineProvider({
  name: 'databricks',
  wire: 'common',
  connection: {
    env: ['DATABRICKS_TOKEN', 'DATABRICKS_HOST'],
    baseUrlEnv: 'DATABRICKS_HOST',
    baseUrl: ({ DATABRICKS_HOST: host = '' }) => host,
    root: servingRoot,
    authorize: bearer('DATABRICKS_TOKEN'),
    connectTimeoutMs: 15_000,
  },
  params: {},
  translators: commonTranslators(
    ['chat', 'embeddings'],
    {},
    { chat: { drops: ['web_search_options'] }, embeddings: { adjust: withoutBlanks } },
  ),
  passthrough: true,
  responses: true,
  anyModel: true,
});
