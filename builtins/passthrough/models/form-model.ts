import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { isCodedBody } from './listed.ts';
import { ModelSearch } from './model-search.ts';

/** Whether a body is a form whose fields can be looked through. */
export const isReadableForm = (request: IncomingMessage): boolean =>
  /^\s*multipart\/form-data\s*(?:;|$)/i.test(request.headers['content-type'] ?? '') && !isCodedBody(request);

/**
 * The model that a form names in its one text field `model`; `undefined` where there is none, or parsers may read the form differently.
 * Throws for a second one: gateway and upstream might read different ones.
 */
export function modelOfForm(form: Buffer, { headers }: IncomingMessage): string | undefined {
  const search = new ModelSearch(headers['content-type'] ?? '');
  search.push(form);
  search.end();
  const [model, ...more] = search.routed;
  if (more.length > 0) throw invalidRequest('the form holds "model" twice');
  return search.isBroken || model === '' ? undefined : model;
}
