import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Router } from 'express';
import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import { GatewayError } from '../../../host/contract/index.ts';
import { lateFile } from '../../../host/contract/late.ts';
import type { Host } from '../../../host/host.ts';
import { rawPath } from '../../../host/http/context.ts';
import { wrongMethod } from '../../../host/http/paths/methods.ts';
import { sendError } from '../../../host/http/reply.ts';
import { jsonBody, serveSurface, type SurfaceRoute } from '../../../host/http/surface-route.ts';
import { countingWith } from '../counting.ts';
import { askedIn, COLLECTIONS, isOfThisApi, modelOf, type Operation, ROOT } from './address.ts';
import { SSE_FORM } from './stream-form.ts';
import { GeminiWire } from './wire.ts';
import type * as Read from './read.ts';

const { generate, embed, count } = lateFile<typeof Read>(import.meta, './read.ts')(['generate', 'embed', 'count']);

/** What a model can be asked, by the method in its address. The model may hold slashes and colons. See docs/reference/ingress.md#addresses. */
const ROUTES: readonly SurfaceRoute[] = COLLECTIONS.flatMap((collection) => {
  const pathOf = (operation: Operation): string => `${collection}/*model\\:${operation}`;
  return [
    ...(['generateContent', 'streamGenerateContent'] as const).map((operation) => ({
      surface: 'generate_content' as const,
      path: pathOf(operation),
      read: jsonBody((body, request, bytes) => generate(operation, body, request, bytes)),
    })),
    ...(['embedContent', 'batchEmbedContents'] as const).map((operation) => ({
      surface: 'embeddings' as const,
      path: pathOf(operation),
      read: jsonBody((body, request, bytes) => embed(operation, body, request, bytes)),
    })),
    {
      surface: 'generate_content' as const,
      path: pathOf('countTokens'),
      read: jsonBody(count),
      serving: countingWith((totalTokens) => ({ totalTokens })),
    },
  ];
});

/** The wire of the Gemini API, for clients that speak it. */
export default defineBuiltin({
  name: 'gemini-wire',
  apply: ({ hooks }) => {
    hooks.surfaces.tap('gemini-wire', (surfaces) => surfaces.add('generate_content'));
    hooks.clientWires.tap('gemini-wire', (wires) => {
      const wire = new GeminiWire(SSE_FORM);
      wires.claim(ROOT, wire);
      wires.claim('/v1/models', wire, isOfThisApi);
    });
    hooks.mount.tap({ name: 'gemini-wire', stage: ORDER.surfaces }, mountRoutes);
    // Behind the routes of the list of models, which have the same addresses.
    hooks.mount.tap({ name: 'gemini-wire rest', stage: ORDER.forwarding }, mountRest);
  },
});

function mountRoutes(router: Router, host: Host): void {
  for (const route of ROUTES) {
    router
      .route(route.path)
      .post((request, response) => serveSurface(host, route, request, response))
      .all((request, response) => refuseMethod(host, request, response, 'POST'));
  }
}

/** Addresses below the models that nothing serves: an empty model, an unknown method, or a method of HTTP that a model has not. */
function mountRest(router: Router, host: Host): void {
  router.use((request: IncomingMessage, response: ServerResponse, next: NextFunction) => {
    if (!rawPath(request).startsWith(`${ROOT}/models/`)) {
      next();
      return;
    }
    const asked = askedIn(request.url ?? '');
    try {
      modelOf(asked);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      sendError(response, error, host.redactor);
      return;
    }
    if (asked.method === undefined) refuseMethod(host, request, response, 'GET, HEAD');
    else
      sendError(
        response,
        new GatewayError('resource_not_found', 'no route serves this method of a model'),
        host.redactor,
      );
  });
}

function refuseMethod({ redactor }: Host, request: IncomingMessage, response: ServerResponse, allowed: string): void {
  sendError(response, wrongMethod(request.method ?? '', 'this path', allowed), redactor, ['Allow', allowed]);
}
