import { instanceCatalog } from '../../common/catalog.ts';
import type { CredentialConfig, ProviderConfig } from '../../config/document.ts';
import { parseHeaderReference, parseReference } from '../../config/references.ts';
import type { ProviderModule } from '../../contract/index.ts';
import type { Registry } from '../../registry/registry.ts';
import {
  credentialsOf,
  instanceVariables,
  isKeyless,
  secretTexts,
} from '../../upstream/instances/instance-variables.ts';
import {
  type CredentialPlan,
  headerKey,
  type InstancePlan,
  type Leaving,
  PROXY_KEY,
  type SecretPlan,
} from '../../upstream/instances/instance-plan.ts';
import type { SecretForm } from '../../upstream/secrets/secret-values.ts';

interface Written {
  readonly name: string;
  readonly block: ProviderConfig;
  readonly module: ProviderModule;
}

/** An entry of `providers` as it is to be opened; `undefined` where this build does not have its kind. */
export function planOf(
  registry: Pick<Registry, 'providers' | 'fileOf'>,
  name: string,
  block: ProviderConfig,
): InstancePlan | undefined {
  const module = registry.providers.get(block.kind ?? '');
  if (!module) return undefined;
  const isGeneral = module.connection.onlyDeclared === true; // what stands behind its address is anybody's
  const catalog = catalogOf(block.catalog ?? (isGeneral ? NO_CATALOG_WORD : module.name));
  const written = { name, block, module };
  return {
    name,
    kind: module.name,
    module,
    file: registry.fileOf('provider', module.name),
    path: `providers.${name}`,
    baseUrl: block.base_url,
    catalog,
    catalogProvider: instanceCatalog(name, catalog),
    models: block.models,
    discover: block.models ? false : (block.discover ?? (isGeneral ? true : undefined)),
    anyModel: block.any_model ?? module.anyModel === true,
    configuredModels: configuredModels(written),
    credentials: credentialsOf(block).map((credential, index) => credentialPlan(written, credential, index)),
    shared: sharedSecrets(written),
    leaving: leavingOf(block),
  };
}

const NO_CATALOG_WORD = 'none';
const catalogOf = (word: string): string | undefined => (word === NO_CATALOG_WORD ? undefined : word);

function credentialPlan({ name, block, module }: Written, credential: CredentialConfig, index: number): CredentialPlan {
  const own = credential.name ?? '';
  const path = block.credentials ? `providers.${name}.credentials[${index}]` : `providers.${name}`;
  return {
    name: own,
    vendorAccount: credential.vendor_account ?? `${name}/${own}`,
    isLabelled: credential.vendor_account !== undefined,
    weight: credential.weight ?? 1,
    maxConcurrency: credential.max_concurrency,
    hasModels: credential.models !== undefined,
    allows: allowing(credential.models),
    isKeyless: isKeyless(module, credential),
    secrets: Object.entries(secretTexts(credential)).flatMap(([key, text]) => {
      const reference = parseReference(text);
      const holder = { provider: name, credential: own };
      return reference ? [{ key, reference, form: formOf(key), holder, path: `${path}.${key}` }] : [];
    }),
    variables: (values) => instanceVariables(module, { block, credential, secrets: Object.fromEntries(values) }),
  };
}

/** The text of a key file is read before anything of it is sent; every other secret goes into a header as it is. */
const formOf = (key: string): SecretForm => (/_(?:json|pem)$/.test(key) ? 'text' : 'header');

/** What an allow list of upstream models lets pass: exact names, and one `*` at the end. */
function allowing(models: readonly string[] | undefined): (upstreamModel: string) => boolean {
  if (!models) return () => true;
  const exact = new Set(models.filter((model) => !model.endsWith('*')));
  const beginnings = models.flatMap((model) => (model.endsWith('*') ? [model.slice(0, -1)] : []));
  return (model) => exact.has(model) || beginnings.some((beginning) => model.startsWith(beginning));
}

/** No proxy without an address: a rule of the document asks for one. */
function leavingOf({ headers, proxy, tls }: ProviderConfig): Leaving {
  return {
    headers,
    proxy: proxy?.url === undefined ? undefined : { url: proxy.url, username: proxy.username },
    caFile: tls?.ca_file,
  };
}

function sharedSecrets({ name, block }: Written): readonly SecretPlan[] {
  const path = `providers.${name}`;
  const ofHeaders = Object.entries(block.headers ?? {}).flatMap(([header, text]) => {
    const reference = parseHeaderReference(text)?.reference;
    const plan = { key: headerKey(header), form: 'header', holder: { provider: name, header } } as const;
    return reference ? [{ ...plan, reference, path: `${path}.headers.${header}` }] : [];
  });
  const password = block.proxy?.password === undefined ? undefined : parseReference(block.proxy.password);
  const ofProxy: SecretPlan[] = password
    ? [
        {
          key: PROXY_KEY,
          form: 'header',
          holder: { provider: name, header: PROXY_KEY },
          reference: password,
          path: `${path}.proxy.password`,
        },
      ]
    : [];
  return [...ofHeaders, ...ofProxy];
}

/** Models that the kind reads of its settings. What it throws, it throws again when the instance is opened. */
function configuredModels({ block, module }: Written): readonly string[] {
  const [credential] = credentialsOf(block);
  if (!module.connection.models || !credential) return [];
  try {
    const variables = instanceVariables(module, { block, credential, secrets: {} });
    const known = Object.entries(variables).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
    return module.connection.models(Object.fromEntries(known), () => {});
  } catch {
    return [];
  }
}
