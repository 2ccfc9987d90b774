import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { type JsonAnswer, mountJson } from '../../host/http/json-route.ts';

/** `GET /openapi.json`, under the rules of the probes: no credential, no limit. A test compares it with the routes that are mounted. */
export default defineBuiltin({
  name: 'openapi',
  apply: ({ hooks }) =>
    hooks.mount.tap({ name: 'openapi', stage: ORDER.probes }, (router, host) => {
      let body: object | undefined; // made, and what makes it loaded, when it is first asked for: a start does not wait for it
      const answer = async (): Promise<JsonAnswer> => {
        body ??= (await import('./document.ts')).openApiDocument(host.build.version);
        return { status: 200, body };
      };
      mountJson(router, host, [{ method: 'GET', path: '/openapi.json', scope: 'open', answer }]);
    }),
});
