import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Router, RouterOptions } from 'express';

/**
 * Express's router, as Express itself gets it. The application around it (body parsers, views, static files) is not needed
 * here, and takes a tenth of the time to start.
 */
export function createRouter(options: RouterOptions): Router {
  const create = createRequire(import.meta.resolve('express'))('router') as (options: RouterOptions) => Router;
  return create(options);
}

/** Answers a request. A promise where something is waited for; what it rejects with is a fault of the gateway. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined;

/** What of the router's own layers is asked here. */
interface Layer {
  readonly route?: {
    readonly path: string;
    readonly stack: readonly { readonly method?: string; readonly handle: Handler }[];
  };
  match(path: string): boolean;
}

/** Paths without a parameter. */
const LITERAL = /^[\w/.-]+$/;

/** A path that the router has a route for. */
export interface Route {
  /** As Express writes paths. */
  readonly path: string;
  /** Whether there is no parameter in it. */
  readonly isLiteral: boolean;
  /** Whether the route answers this method of HTTP, if only by saying that it is not allowed. */
  answers(method: string): boolean;
  takes(path: string): boolean;
  /** Whether a route takes the path, whatever the case of its letters. */
  takesAnyCase(path: string): boolean;
}

/** The routes of a router, in their order. What is mounted without a path of its own is none. */
export function routesOf(router: Router): readonly Route[] {
  const layers = router.stack as unknown as readonly Layer[];
  return layers.flatMap((layer) => {
    if (!layer.route) return [];
    const { path, stack } = layer.route;
    let loose: Layer | undefined; // seldom asked, and a pattern for each route takes a fifth of what mounting takes
    const methods = new Set(stack.map(({ method }) => method));
    return {
      path,
      isLiteral: LITERAL.test(path),
      answers: (method: string) =>
        methods.has(undefined) || methods.has(method.toLowerCase()) || (method === 'HEAD' && methods.has('get')),
      takes: (asked: string) => matches(layer, asked),
      takesAnyCase: (asked: string) => matches((loose ??= looseLayer(path)), asked),
    };
  });
}

function looseLayer(path: string): Layer {
  const router = createRouter({ caseSensitive: false, strict: true });
  router.route(path);
  const [layer] = router.stack as unknown as readonly [Layer];
  return layer;
}

/** A parameter that cannot be decoded is one all the same: the router says so when it comes to the route. */
function matches(layer: Layer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return true;
  }
}

/**
 * Who answers a POST, by path, where the router would come to the same handler at once: no layer before it takes the path, and it cannot pass
 * the request on, because it takes no `next`. The busiest requests are spared the router this way.
 */
export function directPosts(router: Router): ReadonlyMap<string, Handler> {
  const layers = router.stack as unknown as readonly Layer[];
  const posts = new Map<string, Handler>();
  for (const layer of layers) {
    const { path = '', stack: [first] = [] } = layer.route ?? {};
    if (!first || first.method !== 'post' || first.handle.length > 2 || !LITERAL.test(path)) continue;
    if (layers.find((each) => each.match(path)) === layer) posts.set(path, first.handle);
  }
  return posts;
}
