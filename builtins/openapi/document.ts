import { OPERATIONS, type Operation } from './operations.ts';
import { HEADERS, RESPONSES, responsesOf } from './responses.ts';
import { SCHEMAS } from './schemas.ts';

const COUNTS: ReadonlySet<string> = new Set(['limit', 'offset', 'buckets', 'depth']);
const MOMENTS: ReadonlySet<string> = new Set(['since', 'before', 'from', 'to']);
/** Where `before` is a version. */
const VERSIONED = '/admin/config/history';

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'An ETag that an answer had: the write is refused when what it names has changed since',
  schema: { type: 'string' },
};

/** The OpenAPI document of the whole HTTP surface. */
export function openApiDocument(version: string): object {
  const paths = Map.groupBy(OPERATIONS, ({ path }) => path);
  return {
    openapi: '3.1.0',
    info: {
      title: 'gw',
      version,
      description:
        'A self-hosted gateway for language models. Requests below /v1/ that have no path here are forwarded to the provider that X-Provider or their model names.',
    },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(
      Array.from(paths, ([path, operations]) => [
        path,
        Object.fromEntries(operations.map((operation) => [operation.method, shown(operation)])),
      ]),
    ),
    components: {
      schemas: SCHEMAS,
      headers: HEADERS,
      responses: RESPONSES,
      parameters: { IfMatch: IF_MATCH },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A key, the master key, or a session' },
      },
    },
  };
}

function shown(operation: Operation): object {
  const { method, path, summary, scope, body } = operation;
  const parameters = parametersOf(operation);
  return {
    operationId: `${method}${path.replace(/[{}]/g, '').replace(/[/._]+(\w?)/g, (_all, letter: string) => letter.toUpperCase())}`,
    summary,
    ...(scope === 'read_only' || scope === 'admin' ? { description: `Needs the scope ${scope}.` } : {}),
    tags: [path.startsWith('/v1/') ? 'inference' : path.startsWith('/admin/') ? 'admin' : 'operation'],
    security: scope === 'none' ? [] : [{ bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBody(body) }),
    responses: responsesOf(operation),
  };
}

function parametersOf({ method, path, query = [], isTagged }: Operation): object[] {
  return [
    ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...query.map((name) => ({
      name,
      in: 'query',
      required: method === 'delete' && name === 'before',
      schema: querySchema(name, path),
    })),
    ...(isTagged && method !== 'get' ? [{ $ref: '#/components/parameters/IfMatch' }] : []),
  ];
}

function querySchema(name: string, path: string): object {
  if (name === 'seconds') return { type: 'number', exclusiveMinimum: 0, maximum: 300 };
  if (path === VERSIONED && name === 'before') return { type: 'integer', minimum: 1 };
  if (COUNTS.has(name)) return { type: 'integer', minimum: name === 'limit' ? 1 : 0 };
  return MOMENTS.has(name) ? { type: 'string', format: 'date-time' } : { type: 'string' };
}

/** Media types of bodies that are not plain JSON. */
const TYPES: Readonly<Record<string, string>> = {
  multipart: 'multipart/form-data',
  patch: 'application/json-patch+json',
};

function requestBody(body: NonNullable<Operation['body']>): object {
  const type = TYPES[body] ?? 'application/json';
  const schema = body === 'patch' ? { type: 'array', items: { type: 'object' } } : { type: 'object' };
  return { required: body !== 'optional json', content: { [type]: { schema } } };
}
