import type { Body } from '../generate/request.ts';
import type { Fields } from '../meaning/meaning.ts';
import { callOf } from './sdk-call.ts';
import type { Side } from './sides.ts';

/** What left a toolkit: a body, or the words of its refusal. */
export type Sent =
  | { readonly body: Fields; readonly refusal?: undefined }
  | { readonly body?: undefined; readonly refusal: string };

/** The body that the published package sends; nothing goes over a network. */
export async function sentByThem(side: Side, request: Body): Promise<Sent> {
  let body: Fields | undefined;
  const fetch = async (_url: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    body = JSON.parse(String(init?.body)) as Fields;
    throw new Error('seen');
  };
  const model = side.open({ baseURL: `http://127.0.0.1:9${side.path}`, apiKey: 'key', fetch }, side.model);
  try {
    const call = callOf(request, side.namespace, side.options(request));
    await (request['stream'] === true ? model.doStream(call) : model.doGenerate(call));
  } catch (error) {
    if (body === undefined) return { refusal: (error as Error).message };
  }
  return body ? { body } : { refusal: 'nothing was sent' };
}
