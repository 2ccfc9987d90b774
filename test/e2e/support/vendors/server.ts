import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TranslatedSurface } from '../../../../host/contract/index.ts';
import { type Fields, Refusal, sendJson } from './dialect.ts';
import { type Served, type Vendor, VENDORS } from './vendors.ts';

const PATHS: Readonly<Record<TranslatedSurface, string>> = {
  chat: '/chat/completions',
  embeddings: '/embeddings',
  images: '/images/generations',
  'images.edits': '/images/edits',
  rerank: '/rerank',
  moderations: '/moderations',
  'audio.transcriptions': '/audio/transcriptions',
  'audio.translations': '/audio/translations',
  'audio.speech': '/audio/speech',
};

/** Models that every vendor has, and that always fail: how, by name. */
export const FAILING: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  limited: { status: 429, message: 'Rate limit reached' },
  unfit: { status: 400, message: 'this model does not take that' },
  gone: { status: 404, message: 'the model was retired' },
  broken: { status: 500, message: 'an internal detail' },
};

/** A request that a vendor answered with something. */
export interface Visit {
  readonly vendor: string;
  readonly path: string;
  readonly body: Fields;
}

/** Every vendor on one loopback port, each below its own name. */
export class VendorServer {
  readonly #server = createServer((request, response) => {
    void this.#answer(request, response);
  });
  #released = Promise.withResolvers<void>();
  /** Requests that got as far as a surface. */
  visits: Visit[] = [];
  /** What vendors said no to, but for the models that always fail. */
  refusals: string[] = [];

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
  }

  /** The variables that lead a gateway to all of them. */
  variables(): Readonly<Record<string, string>> {
    const { port } = this.#server.address() as AddressInfo;
    return Object.assign(
      {},
      ...Object.entries(VENDORS).map(([name, { root, variables }]) => {
        const address = `http://127.0.0.1:${port}/${name}${root}`;
        if (variables) return variables(address, keyOf(name));
        const prefix = name.toUpperCase().replaceAll('-', '_');
        return { [`${prefix}_API_KEY`]: keyOf(name), [`${prefix}_BASE_URL`]: address };
      }),
    ) as Record<string, string>;
  }

  /** Lets answers go on that are held. */
  release(): void {
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  forget(): void {
    this.visits = [];
    this.refusals = [];
  }

  close(): Promise<void> {
    this.release();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, name = '', path = ''] = /^\/([^/]+)(.*)$/.exec(request.url ?? '') ?? [];
    const vendor = VENDORS[name];
    try {
      const bytes = Buffer.concat((await request.toArray()) as Buffer[]);
      if (!vendor) throw new Refusal(404, 'no such vendor');
      checkHeaders(name, vendor, request);
      if (request.method === 'GET') return listModels(vendor, path, response);
      await this.#serve(name, vendor, path, request, bytes, response);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refusals.push(`${name} ${path}: ${error.message}`);
      sendJson(
        response,
        vendor?.error?.(error.message) ?? {
          error: { message: error.message, type: 'invalid_request_error', param: null, code: null },
        },
        error.status,
      );
    }
  }

  async #serve(
    vendorName: string,
    vendor: Vendor,
    path: string,
    request: IncomingMessage,
    bytes: Buffer,
    response: ServerResponse,
  ): Promise<void> {
    const places = Object.entries(vendor.surfaces).map(([surface, served]) => ({
      served,
      place: placeOf(vendor, surface as TranslatedSurface, served),
    }));
    const { served, place } =
      places.find((one) => one.place === path) ??
      (() => {
        throw new Refusal(404, `Unknown request URL: POST ${path}`);
      })();
    const { body, form } = await contentOf(request, bytes);
    const asked = body['model'] ?? form?.get('model') ?? (place.includes(served.model) ? served.model : '');
    const failure = FAILING[asked];
    this.visits.push({ vendor: vendorName, path, body: form ? Object.fromEntries(form) : body });
    if (failure)
      return sendJson(
        response,
        vendor.error?.(failure.message) ?? { error: { message: failure.message } },
        failure.status,
        failure.status === 429 ? { 'retry-after': '7' } : {},
      );
    if (asked !== served.model && !(vendorName === 'openai' && asked === 'dall-e-3'))
      throw new Refusal(404, `The model '${asked}' does not exist`);
    await served.dialect({ vendor: vendorName, model: asked, body, form, released: this.#released.promise }, response);
  }
}

export const keyOf = (vendor: string): string => `${vendor}-e2e-key-5d0c71a9`;

function placeOf({ root }: Vendor, surface: TranslatedSurface, { path = PATHS[surface], model }: Served): string {
  const filled = path.replace('{model}', model.split('/').map(encodeURIComponent).join('/'));
  return filled.startsWith('~') ? filled.slice(1) : root + filled;
}

/** The vendor's own credential and nothing of the client's. */
function checkHeaders(name: string, { isOpen }: Vendor, { headers }: IncomingMessage): void {
  if (headers.authorization !== (isOpen ? undefined : `Bearer ${keyOf(name)}`))
    throw new Refusal(401, 'Incorrect API key provided');
  const foreign = Object.keys(headers).filter((header) => /^x-|^openai-|^cookie$/.test(header));
  if (foreign.length > 0) throw new Refusal(400, `headers of the client arrived: ${foreign.join(', ')}`);
}

async function contentOf(
  { headers }: IncomingMessage,
  bytes: Buffer,
): Promise<{ readonly body: Fields; readonly form: FormData | undefined }> {
  const type = headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data'))
    return {
      body: {},
      form: await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData(),
    };
  if (type !== 'application/json') throw new Refusal(415, `a body of type '${type}' is not accepted`);
  return { body: JSON.parse(bytes.toString('utf8')) as Fields, form: undefined };
}

/** The models of a vendor's surfaces, and one that only its live list knows. */
function listModels({ root, models, surfaces }: Vendor, path: string, response: ServerResponse): void {
  if (!models || path !== (models === 'tags' ? '/api/tags' : `${root}/models`))
    throw new Refusal(404, `Unknown request URL: GET ${path}`);
  const ids = [...new Set(Object.values(surfaces).map(({ model }) => model)), `live${root}/model`];
  if (models === 'tags')
    return sendJson(response, {
      models: ids.map((name) => ({ name, model: name, modified_at: '2025-11-21T10:00:00Z' })),
    });
  const data = ids.map((id) => ({ id, object: 'model', created: 1_763_700_000, owned_by: 'a-vendor' }));
  sendJson(response, models === 'bare' ? data : { object: 'list', data });
}
