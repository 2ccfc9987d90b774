import type { Draft } from './draft.ts';
import { readLitellmRouting } from './litellm-routing.ts';
import { providerOf } from './provider-names.ts';
import { durationText } from './order.ts';
import type { Entry } from './reading.ts';

/** `os.environ/NAME`. Source: docs.litellm.ai, "Config.yaml", 2026-10-13. */
export const litellmReference = (value: unknown): string | undefined =>
  typeof value === 'string' ? /^os\.environ\/(.+)$/.exec(value)?.[1] : undefined;

/** Reads a LiteLLM proxy configuration: deployments become targets, one for each provider. */
export function readLitellm(root: Entry, draft: Draft): void {
  for (const item of root.at('model_list').items) readDeployment(item, draft);
  readLitellmRouting(root, draft);
  root
    .at('litellm_settings')
    .at('max_parallel_requests')
    .leave('gw bounds the calls of each target, not of all together');
  const dropped = root.at('litellm_settings').at('drop_params');
  if (dropped.value === true) {
    draft.members['compatibility'] = { on_unsupported_param: 'drop' };
    dropped.carry();
  }
  draft.environment.secret('MASTER_KEY', root.at('general_settings').at('master_key'));
}

function readDeployment(item: Entry, draft: Draft): void {
  const params = item.at('litellm_params');
  const name = item.at('model_name');
  const model = params.at('model');
  const found = providerOf(model.text, params.at('custom_llm_provider').text, draft.naming);
  if (!found) return item.leave(model.text === undefined ? 'it names no model' : 'gw has no provider of that name');
  const { provider, upstream } = found;
  params.at('custom_llm_provider').carry();
  if (!draft.address(provider, params.at('api_base', 'base_url')))
    return item.leave(`gw has one address for each provider, and ${provider} has another one already`);
  readCredentials(params, provider, draft);
  draft.note(model, provider);
  if (!isOwnPath(item) && !draft.isDeployment(provider, model, upstream)) {
    return leaveModel(item, `chat of ${provider} goes to one deployment, and another one comes first`);
  }
  readRoute(item, { provider, upstream, name: name.text ?? '' }, draft);
  const timeout = durationText((params.at('timeout').number ?? 0) * 1000);
  if (timeout !== undefined) draft.set(provider, 'request_timeout', timeout, params.at('timeout'));
  const retries = params.at('num_retries', 'max_retries');
  if (Number.isInteger(retries.number)) draft.set(provider, 'retry', { attempts: (retries.number ?? 0) + 1 }, retries);
  draft.concurrency(provider, params.at('max_parallel_requests'));
}

function readCredentials(params: Entry, provider: string, draft: Draft): void {
  draft.credential(provider, params.at('api_key'));
  draft.settings(provider, (names) => [params.at(...names)]);
}

/** Other surfaces than chat find their deployment by the model of the request. */
const isOwnPath = (item: Entry): boolean =>
  ['embedding', 'image_generation', 'audio_transcription', 'audio_speech'].includes(
    item.at('model_info').at('mode').text ?? '',
  );

function leaveModel(item: Entry, reason: string): void {
  item.at('model_name').leave(reason);
  item.at('litellm_params').at('model').leave(reason);
}

function readRoute(
  item: Entry,
  { provider, upstream, name }: { readonly provider: string; readonly upstream: string; readonly name: string },
  draft: Draft,
): void {
  const model = item.at('litellm_params').at('model');
  if (/[*?]/.test(name + upstream))
    return leaveModel(
      item,
      `gw takes no patterns; the target ${provider} serves the models that gw knows of it, by their own names`,
    );
  if (name === '' || name !== name.trim() || upstream !== upstream.trim())
    return leaveModel(item, 'the name of a model is a text without blanks around it');
  if (!draft.route(provider, name, upstream))
    return leaveModel(item, `gw sends "${name}" to one model of each provider, and another one comes first`);
  item.at('model_name').carry();
  model.carry();
}
