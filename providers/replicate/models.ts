import type { CallInfo, Credentials } from 'gw/contract';
import { invalidRequest, pathSegments } from 'gw/common-wire';
import { modelNames } from '../_common/model-names.ts';

/** The lists where no variable names any. See docs/providers.md#models. */
const TEXT_MODELS = ['405b', '70b', '8b'].map((size) => `meta/meta-llama-3.1-${size}-instruct`);
const IMAGE_MODELS = ['black-forest-labs/flux-schnell', 'black-forest-labs/flux-dev', 'stability-ai/sdxl'];

/** The configured lists, as they are written: `owner/name`, or `owner/name:version`. */
function listed({ REPLICATE_TEXT_MODELS: text, REPLICATE_IMAGE_MODELS: image }: Credentials): readonly string[] {
  return [...modelNames(text, TEXT_MODELS), ...modelNames(image, IMAGE_MODELS)];
}

/** A pinned model also goes by its name without the version. */
export function configuredModels(credentials: Credentials): readonly string[] {
  return [...new Set(listed(credentials).flatMap((model) => [model, split(model).name]))];
}

/** Where a prediction of a model is created, and with which version. */
export interface Destination {
  readonly path: string;
  readonly version: string | undefined;
}

/** Throws a 400 for names that are not `owner/name`. A version of the request's own goes before a configured one. */
export function destinationOf({ model, credentials }: CallInfo): Destination {
  const asked = split(model);
  if (asked.name.split('/').length !== 2) throw invalidRequest(`model "${model}" is not "owner/name"`);
  const path = pathSegments(asked.name);
  const version =
    asked.version ??
    listed(credentials)
      .map(split)
      .find(({ name, version: pin }) => name === asked.name && pin !== undefined)?.version;
  return { path: version === undefined ? `/models/${path}/predictions` : '/predictions', version };
}

function split(model: string): { readonly name: string; readonly version: string | undefined } {
  const [name = '', ...rest] = model.split(':');
  const version = rest.join(':');
  return { name, version: version === '' ? undefined : version };
}
