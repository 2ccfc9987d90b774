import { memberOf } from '../../../host/contract/json/members.ts';
import type { Draft } from './draft.ts';
import { readLitellmRouting } from './litellm-routing.ts';
import { providerOf } from './provider-names.ts';
import { durationText } from './order.ts';
import type { Entry } from './reading.ts';

/** `os.environ/NAME`. Source: docs.litellm.ai, "Config.yaml", 2026-10-13. */
export const litellmReference = (value: unknown): string | undefined =>
  typeof value === 'string' ? /^os\.environ\/(.+)$/.exec(value)?.[1] : undefined;

/** What LiteLLM calls the providers, where it is not their name here. Source: docs.litellm.ai, "Providers", 2026-11-05. */
const NAMES: Readonly<Record<string, string>> = {
  azure: 'azure-openai',
  azure_text: 'azure-openai',
  azure_ai: 'azure-foundry',
  bedrock_converse: 'bedrock',
  vertex_ai: 'vertex-ai',
  vertex_ai_beta: 'vertex-ai',
  cohere_chat: 'cohere',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  huggingface: 'hugging-face',
  ollama_chat: 'ollama',
  nvidia_nim: 'nvidia-nim',
  ai21_chat: 'ai21',
  dashscope: 'qwen',
  text_completion_openai: 'openai',
  'text-completion-openai': 'openai',
  custom_openai: 'openai',
  openai_like: 'openai',
  hosted_vllm: 'openai',
  anthropic_text: 'anthropic',
};

/** Settings of a deployment that are variables here. Source: as above, pages of the providers. */
const VARIABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'azure-openai': { api_version: 'AZURE_OPENAI_API_VERSION' },
  bedrock: { aws_region_name: 'AWS_REGION', aws_bedrock_runtime_endpoint: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME' },
  'vertex-ai': { vertex_project: 'VERTEX_AI_PROJECT_ID', vertex_location: 'VERTEX_AI_REGION' },
};

const SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bedrock: {
    aws_access_key_id: 'AWS_ACCESS_KEY_ID',
    aws_secret_access_key: 'AWS_SECRET_ACCESS_KEY',
    aws_session_token: 'AWS_SESSION_TOKEN',
  },
  'vertex-ai': { vertex_credentials: 'VERTEX_AI_SERVICE_ACCOUNT_JSON' },
};

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
  const found = providerOf(model.text, {
    stated: params.at('custom_llm_provider').text,
    names: NAMES,
    bare: 'openai',
    knows: (provider) => draft.has(provider),
  });
  if (!found) return item.leave(model.text === undefined ? 'it names no model' : 'gw has no provider of that name');
  const { provider, upstream } = found;
  params.at('custom_llm_provider').carry();
  if (!draft.address(provider, params.at('api_base', 'base_url')))
    return item.leave(`gw has one address for each provider, and ${provider} has another one already`);
  readCredentials(params, provider, draft);
  draft.note(model, provider);
  if (!isOwnPath(item) && !draft.isDeployment(provider, model, upstream)) {
    return leaveModel(item, 'chat of azure-openai goes to one deployment, and another one comes first');
  }
  readRoute(item, { provider, upstream, name: name.text ?? '' }, draft);
  const timeout = durationText((params.at('timeout').number ?? 0) * 1000);
  if (timeout !== undefined) draft.set(provider, 'request_timeout', timeout, params.at('timeout'));
  const retries = params.at('num_retries', 'max_retries');
  if (Number.isInteger(retries.number)) draft.set(provider, 'retry', { attempts: (retries.number ?? 0) + 1 }, retries);
  draft.concurrency(provider, params.at('max_parallel_requests'));
}

function readCredentials(params: Entry, provider: string, draft: Draft): void {
  const { environment } = draft;
  draft.credential(provider, params.at('api_key'));
  for (const [member, variable] of Object.entries(memberOf(VARIABLES, provider) ?? {}))
    environment.plain(variable, params.at(member));
  for (const [member, variable] of Object.entries(memberOf(SECRETS, provider) ?? {}))
    environment.secret(variable, params.at(member));
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
