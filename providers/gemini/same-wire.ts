import type { CallInfo, ClientBody, SameWire } from 'gw/contract';
import { type Fields, isFields } from 'gw/common-wire';
import { methodPath, modelName } from './models.ts';

/** The vendor's own wire: the model stands in the path. Streams are always asked for as events, whatever form the client gets. */
export const sameWire: SameWire = {
  toUpstream(client, call) {
    const path = methodPath(call.model, client.operation);
    return { path: client.operation === 'streamGenerateContent' ? `${path}?alt=sse` : path, body: named(client, call) };
  },
  countTokens: (client, call) => ({ path: methodPath(call.model, 'countTokens'), body: counted(client, call) }),
};

/** Requests for vectors name the model once more. */
function named({ operation, value }: ClientBody, call: CallInfo): Fields {
  if (operation === 'embedContent') return withModel(value, call);
  if (operation !== 'batchEmbedContents') return value;
  const requests = [value['requests']].flat(); // one request may stand without its list
  const own = requests.map((request) => (isFields(request) ? withModel(request, call) : request));
  return own.every((request, index) => request === requests[index]) ? value : { ...value, requests: own };
}

/** So may what is counted. */
function counted({ value }: ClientBody, call: CallInfo): Fields {
  const asked = ['generateContentRequest', 'generate_content_request'].find((name) => isFields(value[name]));
  if (asked === undefined) return value;
  const request = value[asked] as Fields;
  const own = withModel(request, call);
  return own === request ? value : { ...value, [asked]: own };
}

function withModel(holder: Fields, { model }: CallInfo): Fields {
  const name = `models/${modelName(model)}`;
  return typeof holder['model'] !== 'string' || holder['model'] === name ? holder : { ...holder, model: name };
}
