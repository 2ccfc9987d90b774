import { kindKeys } from '../../../../host/common/kinds/kind-keys.ts';
import type { ProviderModule } from '../../../../host/contract/index.ts';
import { durationText } from '../amounts.ts';
import { kindOf } from '../kinds.ts';
import { mainSecretOf, placeFields } from '../plan/place-fields.ts';
import type { Plan } from '../plan/plan.ts';
import type { CredentialParts, Placed, PlacedMap, PlannedCredential, PlannedInstance } from '../plan/planned.ts';
import { providerOf } from '../provider-names.ts';
import type { Entry } from '../reading.ts';

export interface Deployments {
  readonly plan: Plan;
  /** `credential_values` by name. */
  readonly credentials: ReadonlyMap<string, Entry>;
}

/** What a deployment has of a parameter: itself, or the credential that it names. */
type Find = (...names: readonly string[]) => Entry;

/** Reads one entry of `model_list`. */
export function readDeployment(item: Entry, { plan, credentials }: Deployments): void {
  const params = item.at('litellm_params');
  const [name, model] = [item.at('model_name'), params.at('model')];
  const shared = params.at('litellm_credential_name');
  const values = credentials.get(shared.text ?? '');
  const find: Find = (...names) => {
    const own = params.at(...names);
    const other = values?.at(...names);
    return !own.isThere && other?.isThere ? other : own;
  };
  const found = providerOf(model.text, find('custom_llm_provider').text, plan.naming);
  if (!found) return item.leave(model.text === undefined ? 'it names no model' : 'gw has no provider of that name');
  if (!isName(name.text ?? ''))
    return item.leave('a name has no blanks around it, no "?", and one * at its end at most');
  const { upstream, difference } = upstreamOf(found.upstream, name.text ?? '');
  if (upstream === undefined) return item.leave(difference);
  const ownPath = OWN_PATHS.has(item.at('model_info').at('mode').text ?? '');
  const deployment = ownPath ? undefined : model.with(upstream);
  const instance = placeOf(found.provider, find, { plan, item, deployment });
  const credential = credentialOf(instance, { find, plan, called: values && shared.text });
  if (values) shared.carry();
  params.at('custom_llm_provider').carry();
  readNumbers(params, { instance, credential, plan });
  const planned = plan.name(name.text ?? '');
  plan.route(planned, {
    instance,
    credential,
    model: upstream,
    weight: 1,
    tier: 0,
    entry: model,
    hasOwnPath: ownPath,
  });
  name.carry();
  if (model.isThere) model.carry(difference === '' ? undefined : difference);
}

/** Surfaces that find their deployment by the model of the request. */
const OWN_PATHS = new Set(['embedding', 'image_generation', 'audio_transcription', 'audio_speech']);

/** Whether a group of models may have that name. */
export const isName = (name: string): boolean =>
  name !== '' && name.length <= 256 && name === name.trim() && !name.includes('?') && !name.slice(0, -1).includes('*');

/** Parts of a model of Azure, or of another service, that say which API is meant. Source: docs.litellm.ai, "Azure OpenAI", "AWS Bedrock", 2026-11-05. */
const APIS = /^(?:responses|o_series|converse|invoke|converse_like|chat)\//;

function upstreamOf(
  text: string,
  name: string,
): { readonly upstream: string | undefined; readonly difference: string } {
  const upstream = text.replace(APIS, '');
  if (upstream === '' || upstream !== upstream.trim() || upstream.slice(0, -1).includes('*'))
    return {
      upstream: undefined,
      difference: 'the upstream model is a text without blanks around it, and with one * at its end at most',
    };
  if (upstream.endsWith('*') && !name.endsWith('*'))
    return { upstream: undefined, difference: 'the upstream model has a * and the name has none' };
  return { upstream, difference: upstream === text ? '' : `the model is "${upstream}"; gw chooses the API itself` };
}

interface Placing {
  readonly plan: Plan;
  readonly item: Entry;
  /** The model, of kinds that have one deployment for all chats. */
  readonly deployment: Entry | undefined;
}

function placeOf(provider: string, find: Find, { plan, item, deployment }: Placing): PlannedInstance {
  const base = find('api_base', 'base_url');
  const written = base.isThere && base.value !== '' ? { entry: base } : undefined;
  const module = kindOf(provider, written, plan);
  const { address, settings } = placeFields({ module, format: plan.format, at: (names) => find(...names) });
  const headers = find('extra_headers').members;
  const instance = plan.place({
    module,
    address: written ?? address,
    settings: new Map([...settings, ...deploymentSetting(module, deployment)]),
    headers,
    source: item.at('litellm_params').at('model'),
  });
  instance.isClosed = true;
  return instance;
}

/** A kind that cannot do without a deployment has a place for each. */
function deploymentSetting(
  module: ProviderModule,
  deployment: Entry | undefined,
): readonly (readonly [string, Placed])[] {
  const { chatModelEnv } = module.connection;
  const found = [...kindKeys(module).settings].find(
    ([, { variable, isRequired }]) => variable === chatModelEnv && isRequired,
  );
  return found && deployment ? [[found[0], { entry: deployment }]] : [];
}

interface Credential {
  readonly find: Find;
  readonly plan: Plan;
  /** The name of the shared one. */
  readonly called: string | undefined;
}

function credentialOf(instance: PlannedInstance, { find, plan, called }: Credential): PlannedCredential {
  const { module } = instance;
  const { secrets } = placeFields({ module, format: plan.format, at: (names) => find(...names) });
  const [main, key] = [mainSecretOf(module), find('api_key')];
  const all: PlacedMap = new Map([
    ...(main !== undefined && key.isThere && key.value !== '' ? [[main, { entry: key }] as const] : []),
    ...secrets,
  ]);
  if (main === undefined) key.leave(`${module.name} takes no key here`);
  const organization = find('organization');
  const parts: CredentialParts = {
    called,
    secrets: all,
    organization: organization.isThere && takesOrganization(instance) ? organization : undefined,
  };
  return plan.credential(instance, parts);
}

/** Whether its kind sends the header of an organisation: then it has a setting of that name. */
const takesOrganization = ({ module: { connection } }: PlannedInstance): boolean =>
  Object.hasOwn(connection.settings ?? {}, 'organization');

interface Numbers {
  readonly instance: PlannedInstance;
  readonly credential: PlannedCredential;
  readonly plan: Plan;
}

function readNumbers(params: Entry, { instance, credential, plan }: Numbers): void {
  const timeout = durationText((params.at('timeout').number ?? 0) * 1000);
  if (timeout !== undefined) plan.state(instance, 'request_timeout', { value: timeout, entry: params.at('timeout') });
  const retries = params.at('num_retries', 'max_retries');
  if (Number.isInteger(retries.number) && (retries.number ?? -1) >= 0)
    plan.state(instance, 'retry', { value: { attempts: (retries.number ?? 0) + 1 }, entry: retries });
  plan.calls(instance, credential, params.at('max_parallel_requests'));
}
