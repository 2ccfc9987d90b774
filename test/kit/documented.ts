import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import { openApiDocument } from '../../builtins/openapi/document.ts';
import { OPERATIONS, type Operation } from '../../builtins/openapi/operations.ts';
import { SCHEMAS } from '../../builtins/openapi/schemas.ts';
import type { Answer } from './host.ts';

interface Documented {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly responses: Readonly<Record<string, Documented & { readonly $ref?: string }>> }>
      >
    >
  >;
  readonly components: {
    readonly headers: Readonly<Record<string, { readonly schema: object }>>;
    readonly responses: Readonly<Record<string, Documented>>;
  };
}

const document = openApiDocument('test') as OpenApi;

/** The schemas, with no other members than those they name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([key, member]) => [key, closed(member)]));
  return 'properties' in schema && !('additionalProperties' in schema)
    ? { ...members, additionalProperties: false }
    : members;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, coerceTypes: false });
ajv.addSchema({ $id: 'gw', components: { schemas: closed(SCHEMAS) as object } });
const headerAjv = new Ajv2020({ strict: false, coerceTypes: true });

const PROBES = new Set(['/health', '/livez', '/readyz']);
const VERBS = new Set(['DELETE', 'GET', 'POST', 'PUT']);

/** Headers of every HTTP answer: its own, those of security and of CORS. */
const EVERYWHERE = new Set([
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'keep-alive',
  'permissions-policy',
  'referrer-policy',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
  'x-frame-options',
]);

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
  return `${first?.instancePath ?? ''} ${first?.message ?? ''} ${JSON.stringify(first?.params)}`;
}

/** The operation of a call; a path without parameters comes first. */
function operationOf(method: string, path: string): Operation | undefined {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const here = OPERATIONS.filter(
    (operation) =>
      operation.method === verb && new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  return here.find((operation) => operation.path === path) ?? here[0];
}

/** The first header that the document does not name, or that is not as it says. */
function headerProblem({ headers = {} }: Documented, given: Headers): string | undefined {
  for (const [name, value] of given) {
    if (EVERYWHERE.has(name) || name.startsWith('access-control-')) continue;
    const [, named] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
    if (!named) return `the header ${name} is not in the document`;
    const { schema } = document.components.headers[named.$ref.split('/').at(-1) ?? ''] ?? { schema: {} };
    if (!headerAjv.validate(schema, value)) return `the header ${name} is not as the document says`;
  }
  return undefined;
}

/** What an answer of the admin API or a probe is that the OpenAPI document does not say; `undefined` where it is as documented, and for other paths. */
export function undocumented(
  method: string,
  url: string,
  { status, text, headers }: Pick<Answer, 'status' | 'text' | 'headers'>,
): string | undefined {
  const path = url.replace(/[?#].*/, '');
  if (!(path.startsWith('/admin/') || PROBES.has(path)) || !VERBS.has(method)) return undefined;
  const operation = operationOf(method, path);
  if (!operation) return undefined; // that every route is in the document has a test of its own
  const found = document.paths[operation.path]?.[operation.method]?.responses[status];
  const said = found?.$ref === undefined ? found : document.components.responses[found.$ref.split('/').at(-1) ?? ''];
  const problem = said
    ? (headerProblem(said, headers) ?? bodyProblem(operation, status, text, headers))
    : 'the status is not in the document';
  return problem === undefined ? undefined : `${method} ${path}: ${status}: ${problem}`;
}

function bodyProblem(
  { answer, path, hasFiles }: Operation,
  status: number,
  text: string,
  headers: Headers,
): string | undefined {
  if (hasFiles && status === 200 && headers.get('content-type')?.startsWith('text/csv')) return undefined;
  if (status >= 400 && !PROBES.has(path)) return schemaProblem('Error', text);
  if (status === 204) return text === '' ? undefined : 'it has a body';
  return answer === undefined ? undefined : schemaProblem(answer, text);
}
