import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { mountJson } from '../../host/http/json-route.ts';
import { openApiDocument } from './document.ts';

/** `GET /openapi.json`, under the rules of the probes: no credential, no limit. A test compares it with the routes that are mounted. */
export default defineBuiltin({
  name: 'openapi',
  apply: ({ hooks }) => hooks.mount.tap({ name: 'openapi', stage: ORDER.probes }, (router, host) => {
    let body: object | undefined; // made when it is first asked for: a start does not wait for it
    mountJson(router, host, [{ method: 'GET', path: '/openapi.json', scope: 'open', answer: () => ({ status: 200, body: (body ??= openApiDocument(host.build.version)) }) }]);
  }),
});
