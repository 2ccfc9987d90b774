import { isFields } from '../../../../host/contract/json/fields.ts';
import type { Plan } from '../plan/plan.ts';
import type { Entry } from '../reading.ts';
import { readDeployment } from './deployment.ts';
import { readReliability } from './reliability.ts';
import { readLitellmRouting } from './routing.ts';

/** `os.environ/NAME`. Source: docs.litellm.ai, "Config.yaml", 2026-10-13. */
export const litellmReference = (value: unknown): string | undefined =>
  typeof value === 'string' ? /^os\.environ\/(.+)$/.exec(value)?.[1] : undefined;

/** Reads a LiteLLM proxy configuration: names that clients ask for, and behind each one deployment or several. */
export function readLitellm(root: Entry, plan: Plan): void {
  const credentials = namedCredentials(root);
  for (const item of root.at('model_list').items) readDeployment(item, { plan, credentials });
  readLitellmRouting(root, plan);
  readReliability(root, plan);
  root
    .at('litellm_settings')
    .at('max_parallel_requests')
    .leave('gw bounds the calls of each target, not of all together');
  const dropped = root.at('litellm_settings').at('drop_params');
  if (dropped.value === true) {
    plan.members['compatibility'] = { on_unsupported_param: 'drop' };
    dropped.carry();
  }
  const key = root.at('general_settings').at('master_key');
  if (key.isThere) plan.masterKey = key;
}

/** `credential_list`: values that deployments share by a name. Source: docs.litellm.ai, "Config.yaml", 2026-10-13. */
function namedCredentials(root: Entry): ReadonlyMap<string, Entry> {
  const found = new Map<string, Entry>();
  for (const item of root.at('credential_list').items) {
    const name = item.at('credential_name');
    if (name.text === undefined || !isFields(item.at('credential_values').value)) continue;
    found.set(name.text, item.at('credential_values'));
    name.carry();
    const provider = item.at('credential_info').at('custom_llm_provider');
    if (provider.text !== undefined) provider.carry();
  }
  return found;
}
