import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction } from 'express';
import { decodedUri, GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import { rawPath } from '../../host/http/context.ts';
import { mountGet } from '../../host/http/methods.ts';
import { sendError, sendJson } from '../../host/http/reply.ts';
import { shownModel } from '../../host/pipeline/shown.ts';
import { capabilitiesOf } from './capabilities.ts';
import { Discovery } from './discovery.ts';
import { listModels, type ModelEntry } from './listing.ts';

const PATH = '/v1/models';

type Listed = ReadonlyMap<string, ModelEntry>;

/** `GET /v1/models`, one model by its id, `GET /v1/capabilities`, and live discovery, which feeds both and the routing. */
export default defineBuiltin({
  name: 'models',
  apply: ({ hooks }) => {
    let discovery: Discovery | undefined;
    const listed = new WeakMap<Generation, Listed>(); // a generation never changes, and a new catalog makes a new one

    const listingOf = (host: Host): Listed => {
      const { current } = host;
      if (!current) return new Map();
      const known = listed.get(current);
      if (known) return known;
      const listing = listModels(current, host.services.catalog, (provider, model) => discovery?.createdOf(provider, model) ?? 0);
      listed.set(current, listing);
      return listing;
    };

    hooks.open.tapPromise('models', async (host) => {
      const { discoveryIntervalMs } = host.settings;
      discovery = new Discovery(host, () => host.applier.refresh());
      if (discoveryIntervalMs !== undefined) discovery.start(discoveryIntervalMs);
    });
    hooks.close.tapPromise('models', async () => discovery?.stop());
    hooks.models.tap('discovery', (collector) => collector.add('discovered', discovery?.idsOf(collector.provider) ?? []));
    hooks.mount.tap({ name: 'models', stage: ORDER.listings }, (router, host) => {
      mountGet(router, host, PATH, (_request, response) => sendJson(response, 200, { object: 'list', data: [...listingOf(host).values()] }));
      mountGet(router, host, '/v1/capabilities', (_request, response) => {
        const none = { providers: {}, image_response_formats: {} };
        sendJson(response, 200, host.current ? capabilitiesOf(host.current, listingOf(host).values()) : none);
      });
      router.get(`${PATH}/*id`, (request: IncomingMessage, response: ServerResponse, next: NextFunction) => {
        // With the header the client asks the provider itself.
        if (request.headers['x-provider'] !== undefined) next();
        else sendModel(host, listingOf(host), request, response);
      });
    });
  },
});

/** Ids may hold slashes, encoded or not. */
function sendModel({ redactor }: Host, listing: Listed, request: IncomingMessage, response: ServerResponse): void {
  const id = decodedUri(rawPath(request).slice(PATH.length + 1));
  const entry = listing.get(id);
  if (entry) sendJson(response, 200, entry);
  else sendError(response, new GatewayError('model_not_found', `the model "${shownModel(id, redactor)}" does not exist`), redactor);
}
