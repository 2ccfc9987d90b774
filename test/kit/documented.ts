import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import { OPERATIONS, type Operation } from '../../builtins/openapi/operations.ts';
import { SCHEMAS } from '../../builtins/openapi/schemas.ts';
import type { Answer } from './host.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'gw', components: { schemas: SCHEMAS } });

/** Whether a JSON text is what the schema of this name says; the first thing that is not. */
function schemaProblem(name: string, text: string): string | undefined {
  const validate = ajv.getSchema(`gw#/components/schemas/${name}`) as ValidateFunction;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  if (validate(body)) return undefined;
  const [first] = validate.errors ?? [];
  return `${first?.instancePath ?? ''} ${first?.message ?? ''}`;
}

/** The operation of a call; a path without parameters comes first. */
function operationOf(method: string, path: string): Operation | undefined {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const here = OPERATIONS.filter((operation) => operation.method === verb && new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path));
  return here.find((operation) => operation.path === path) ?? here[0];
}

/** What an answer of the admin API is that the OpenAPI document does not say; `undefined` where it is as documented, and for other paths. */
export function undocumented(method: string, url: string, { status, text }: Pick<Answer, 'status' | 'text'>): string | undefined {
  const path = url.replace(/[?#].*/, '');
  if (!path.startsWith('/admin/') || method === 'HEAD' || status === 304) return undefined;
  const operation = operationOf(method, path);
  if (!operation) return undefined; // that every route is in the document has a test of its own
  const problem = status >= 400 ? schemaProblem('Error', text) : answerProblem(operation, status, text);
  return problem === undefined ? undefined : `${method} ${path}: ${status}: ${problem}`;
}

function answerProblem({ status = 200, answer }: Operation, given: number, text: string): string | undefined {
  if (given !== status) return `the document says ${status}`;
  if (status === 204) return text === '' ? undefined : 'it has a body';
  return answer === undefined ? undefined : schemaProblem(answer, text);
}
