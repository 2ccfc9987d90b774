import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { contextOf } from '../../host/http/context.ts';
import { sendBody, sendBytes, sendEmpty, sendNoRoute } from '../../host/http/reply.ts';
import { type Bundle, type BundleFile, fileAt, hasBundle, readBundle } from './bundle.ts';
import { chooseVariant, isUnchanged } from './variants.ts';

/** Where the built application stands in a checkout and in the package. */
const FOLDER = 'builtins/dashboard/dist';

const PLACEHOLDER =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>gw</title></head><body><h1>gw</h1><p>The gateway runs. Its dashboard bundle is not built.</p></body></html>';

/**
 * What no route took: the dashboard's files, its page for a browser, and a 404 in the wire of the path for everything else.
 * The files are read once, for the first request that may want one, and served from memory. See docs/reference/server.md#paths-without-a-route.
 */
export default defineBuiltin({
  name: 'dashboard',
  apply: ({ hooks }) => {
    let read = async (): Promise<Bundle | undefined> => undefined;
    let reading: Promise<Bundle | undefined> | undefined;
    const bundle = (): Promise<Bundle | undefined> => (reading ??= read());
    hooks.open.tapPromise('dashboard', async ({ installDirectory, log }) => {
      const place = join(installDirectory, FOLDER);
      const fail = (error: unknown): undefined => {
        log.error('the dashboard bundle cannot be read: browsers get a page that says that it is not built', {
          folder: place,
          error,
        });
        reading = undefined; // the next request tries again
      };
      if (hasBundle(place)) read = () => readBundle(place).catch(fail);
      else
        log.warn('the dashboard bundle is not built: browsers get a page that says so', {
          rule: 'WN14',
          folder: place,
        });
    });
    hooks.mount.tap({ name: 'dashboard', stage: ORDER.fallback }, (router) => {
      router.use(async (request: IncomingMessage, response: ServerResponse) => {
        if (isForPages(request, response)) serve(await bundle(), request, response);
        else sendNoRoute(response);
      });
    });
  },
});

function isForPages({ method }: IncomingMessage, response: ServerResponse): boolean {
  return (method === 'GET' || method === 'HEAD') && contextOf(response).protectedBy?.hasPages !== false;
}

function serve(bundle: Bundle | undefined, request: IncomingMessage, response: ServerResponse): void {
  const wantsPage = request.headers.accept?.includes('text/html') ?? false;
  const file = bundle && (fileAt(bundle, request) ?? (wantsPage ? bundle.page : undefined));
  if (file) sendFile(response, request, file);
  else if (wantsPage) sendBody(response, 503, 'text/html; charset=utf-8', PLACEHOLDER, cachingOf(response, 'no-store'));
  else sendNoRoute(response);
}

function sendFile(response: ServerResponse, { headers }: IncomingMessage, file: BundleFile): void {
  const variant = chooseVariant(file, headers['accept-encoding']);
  const caching = cachingOf(response, file.caching);
  if (isUnchanged(variant, headers['if-none-match'])) sendEmpty(response, 304, [...variant.validators, ...caching]);
  else sendBytes(response, 200, [...variant.description, ...variant.validators, ...caching], variant.body);
}

/** A path with headers of its own has said so already. */
function cachingOf(response: ServerResponse, caching: string): readonly string[] {
  return contextOf(response).protectedBy?.headers ? [] : ['Cache-Control', caching];
}
