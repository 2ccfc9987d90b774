import type { Router } from 'express';
import { type BuiltinModule, defineBuiltin, ORDER } from './builtin.ts';
import { wrongMethod } from './http/paths/methods.ts';
import { sendError } from './http/reply.ts';
import { serveSurface, type SurfaceHost, type SurfaceRoute } from './http/surface-route.ts';

/** The builtin that serves one surface. */
export function surfaceBuiltin(route: SurfaceRoute): BuiltinModule {
  return defineBuiltin({
    name: route.surface.replace('.', '-'),
    apply: ({ hooks }) => {
      hooks.surfaces.tap(route.surface, (surfaces) => surfaces.add(route.surface));
      hooks.mount.tap({ name: route.surface, stage: ORDER.surfaces }, (router, host) =>
        mountSurface(router, host, route),
      );
    },
  });
}

/** POST runs the surface; every other method is answered that only POST is allowed, unless the route leaves some requests to others. */
function mountSurface(router: Router, host: SurfaceHost, route: SurfaceRoute): void {
  const { takes } = route;
  if (takes) {
    router
      .route(route.path)
      .post((request, response, next) => (takes(request) ? serveSurface(host, route, request, response) : next()));
    return;
  }
  router
    .route(route.path)
    .post((request, response) => serveSurface(host, route, request, response))
    .all((request, response) =>
      sendError(response, wrongMethod(request.method, route.path, 'POST'), host.services.redactor, ['Allow', 'POST']),
    );
}
