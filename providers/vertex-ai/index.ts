import { defineProvider } from 'gw/contract';
import { commonTranslators, type Fields, translateWebSearch } from 'gw/common-wire';
import {
  BETA_HEADER,
  chatTraitsBeside,
  claudeParams,
  messagesFault,
  VERTEX,
  withClaude,
} from '../_common/anthropic/index.ts';
import { googleFault } from '../_common/google/faults.ts';
import { imagenBody, readImagen } from '../_common/google/imagen.ts';
import { claudePath, defaultRoot, predictPath, rootOf } from './address.ts';
import { open } from './credentials.ts';
import { elsewhere } from './elsewhere.ts';
import { embeddings } from './embeddings.ts';
import { claudeName, ownName, publishedName } from './models.ts';

/** Google's search, without options of its own. Source: Vertex AI documentation, "Using OpenAI libraries with Vertex AI", 2026-11-22. */
const search = (): Fields => ({ web_search_options: {} });

const { chat } = commonTranslators(
  ['chat'],
  {},
  {
    chat: {
      responses: false,
      adjust: (body, notes) => ({
        ...translateWebSearch(body, notes, search, ['contextSize', 'location']),
        model: publishedName(String(body['model'])),
      }),
    },
  },
);

/** Chat by the vendor's endpoint of the common format, and of Claude by its own wire beside it; embeddings and images by Vertex's own methods. See docs/providers.md#what-differs. */
export default defineProvider({
  name: 'vertex-ai',
  wire: 'native',
  connection: {
    env: ['VERTEX_AI_PROJECT_ID'],
    optionalEnv: ['VERTEX_AI_REGION', 'VERTEX_AI_API_KEY', 'VERTEX_AI_SERVICE_ACCOUNT_JSON'],
    secrets: { api_key: 'VERTEX_AI_API_KEY', service_account_json: 'VERTEX_AI_SERVICE_ACCOUNT_JSON' },
    secretSets: [{ needs: ['api_key'] }, { needs: ['service_account_json'] }, { needs: [] }],
    baseUrl: defaultRoot,
    root: rootOf,
    open,
    connectTimeoutMs: 15_000,
  },
  params: {},
  paramsFor: claudeParams,
  chatTraitsFor: chatTraitsBeside({ wire: 'common' }),
  // See docs/catalog.md#which-entry-is-a-targets. Source: semantic conventions 1.45 of OpenTelemetry, 2026-11-23.
  names: { catalog: ['vertex_ai'], telemetry: 'gcp.vertex_ai' },
  elsewhere,
  translators: {
    chat: withClaude(chat, {
      variant: VERTEX,
      pathOf: ({ root, model, stream }) => claudePath(root, claudeName(model), stream),
    }),
    embeddings,
    images: {
      toUpstream: (request, call) => ({
        path: predictPath(call.root, ownName(call.model)),
        ...imagenBody(request, ownName(call.model)),
      }),
      fromUpstream: readImagen,
    },
  },
  imageFormats: ['b64_json'],
  toFault: (reply) => messagesFault(reply) ?? googleFault(reply),
  clientHeaders: [BETA_HEADER],
  describedAs: (model) => `anthropic/${claudeName(model).replace('@', '-')}`,
});
