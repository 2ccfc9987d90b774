import { commonAnswers } from '../common-answers.ts';
import { below, type NewFiles } from '../new-files.ts';
import type { ShippedProvider } from './provider-names.ts';

/** What the service says of a wrong key, and of a model that it does not have, until its real texts are known. */
export const FAULTS = { 401: 'Invalid API key provided.', 404: 'The model none does not exist.' } as const;

/** The files that are a provider's alone: its module, its test, and golden answers of its chat. */
export function shippedFiles(provider: ShippedProvider): NewFiles {
  const { name, model } = provider;
  return {
    [`providers/${name}/index.ts`]: moduleSource(provider),
    [`test/providers/${name}.test.ts`]: testSource(provider),
    ...below(`test/fixtures/${name}/chat`, commonAnswers({ model, says: ['conformance', ' ok'], errors: FAULTS })),
  };
}

/** The root of its API, until its own is known. */
export const rootOf = (name: string): string => `https://api.${name}.example/v1`;

const moduleSource = ({
  name,
  prefix,
}: ShippedProvider): string => `import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';

/** Common wire, without exceptions. */
export default defineProvider({
  name: '${name}',
  wire: 'common',
  connection: {
    env: ['${prefix}_API_KEY'],
    baseUrl: '${rootOf(name)}',
    authorize: bearer('${prefix}_API_KEY'),
  },
  params: {},
  translators: commonTranslators(['chat'], {}, { chat: { drops: ['web_search_options'] } }),
  passthrough: true,
  responses: true,
});
`;

const testSource = ({
  name,
  identifier,
}: ShippedProvider): string => `import ${identifier} from '../../providers/${name}/index.ts';
import { itForwardsChat, itServes } from './support.ts';

describe('${name}', () => {
  itServes(${identifier}, '${rootOf(name)}', ['chat'], { passthrough: true, responses: true });
  itForwardsChat(${identifier});
});
`;
