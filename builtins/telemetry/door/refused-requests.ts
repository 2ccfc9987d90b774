import type { GatewayConfig } from '../../../host/config/document.ts';
import { defineBuiltin } from '../../../host/builtin.ts';
import type { Host } from '../../../host/host.ts';
import type { Refused } from '../../../host/http/door/refused.ts';
import { FoldedRows } from './folded-rows.ts';
import { knownRefusal, refusedRow } from './refused-row.ts';

/**
 * Requests that were refused before a plugin saw them. Of a known credential each has a row of the request log, where the configuration keeps
 * rows of failures; of others the address is counted. See docs/admin.md#refusals-at-the-door.
 */
export default defineBuiltin({
  name: 'refused-requests',
  apply: ({ hooks }) => {
    let rows: FoldedRows | undefined;
    let isKept = false; // as the last configuration says, of a gateway that shuts down too
    hooks.open.tapPromise('refused-requests', async ({ services: { clock }, log, stores }) => {
      rows = new FoldedRows({ clock, log, write: (row) => stores.requestLog.value?.append(row) });
    });
    hooks.refused.tap('refused-requests', (refused, host) => {
      countDenied(refused, host);
      const known = knownRefusal(refused);
      if (!known) return;
      const { context, error, keyId, reason } = known;
      host.counters.add('gateway_refused_requests_total', { code: error.code });
      const { current, services, stores } = host;
      if (current) isKept = keepsFailures(current.config);
      if (!rows || !stores.requestLog.value || !isKept) return;
      const { clock } = services;
      rows.add(`${keyId} ${error.code} ${reason}`, () =>
        refusedRow(known, clock.now(), clock.monotonic() - context.arrivedAt),
      );
    });
    hooks.close.tapPromise('refused-requests', async () => rows?.flush());
  },
});

/** Rows of failures are those of the plugin that writes them. */
function keepsFailures({ plugins }: GatewayConfig): boolean {
  return plugins.some(
    ({ name, stage, enabled, config: settings }) =>
      name === 'request-logger' && enabled && stage === 'on_error' && settings?.['persist'] === true,
  );
}

/** Requests whose credential does not count, on any path that needs one. */
function countDenied({ context, error: { code } }: Refused, { denied, counters }: Host): void {
  const { principal, isAdmitted, endedKey, protectedBy } = context;
  if (principal || isAdmitted) return;
  if (endedKey) counters.add('gateway_denied_requests_total', { reason: endedKey.standing });
  else if (code === 'missing_api_key' || code === 'invalid_api_key') {
    const isMissing = code === 'missing_api_key';
    if (denied.note(context, isMissing ? 'missing' : 'invalid'))
      counters.add('gateway_denied_requests_total', { reason: isMissing ? 'missing' : 'invalid' });
  } else if (code === 'store_unavailable' && protectedBy)
    counters.add('gateway_denied_requests_total', { reason: 'store' });
}
