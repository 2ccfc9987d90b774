import { GatewayError, isFields } from '../../host/contract/index.ts';
import { invalidRequest } from '../../host/common/invalid-request.ts';
import { explain } from '../../host/explain/explain.ts';
import { readAsker, readQuestion, type RouteQuestion } from '../../host/explain/question.ts';
import type { Host } from '../../host/host.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import { parseMetadata } from '../../host/http/metadata-header.ts';
import { redactedCopy } from '../../host/log/redacted-copy.ts';
import { mostBytes } from './asked.ts';
import { Members } from './members.ts';
import { reading } from './store-calls.ts';

/** Where a request would go and why, by the configuration in force: `gw explain` of a running gateway. See docs/admin.md#routes. */
export function explainRoute(host: Host): JsonRoute {
  const answer = async ({ json }: JsonCall): Promise<JsonAnswer> => {
    const question = await readBody(json(), host);
    const { current, services, registry, redactor } = host;
    if (!current) throw new GatewayError('upstream_unavailable', 'the gateway is not configured');
    return { status: 200, body: redactedCopy(explain(current, question, { services, registry }), redactor) };
  };
  return { method: 'POST', path: '/admin/explain', scope: 'read_only', maxBytes: mostBytes(host), answer };
}

async function readBody(body: JsonObject, { stores, log }: Host): Promise<RouteQuestion> {
  const { request, metadata } = body;
  if (metadata !== undefined && metadata !== null && !isFields(metadata))
    throw invalidRequest('metadata must be an object');
  const members = new Members(body);
  const question = readQuestion(
    members.text('surface') ?? 'chat',
    request,
    parseMetadata(metadata ? JSON.stringify(metadata) : ''),
  );
  const keyId = members.text('key_id');
  const asker = { keyId, account: members.text('account'), tags: members.texts('tags'), limits: undefined };
  const key = keyId === undefined ? undefined : await reading(stores.keys.get(keyId), log);
  return { ...question, session: members.text('session'), ...readAsker({ ...asker, limits: key?.limits }) };
}
