import { faultAttributes } from '../../host/boundary/module-fault.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import type { PluginFailure } from '../../host/pipeline/hooks.ts';

/** Log lines and figures of what plugins decide, and of how they fail. See docs/observability.md#log-lines. */
export default defineBuiltin({
  name: 'plugin-lines',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('plugin-lines', async ({ hooks: pipeline, services: { log, counters } }) => {
      pipeline.verdict.tap(
        'plugin-lines',
        ({ module: { name: plugin, type, rejectsAs }, stage, exchange, action, reason, score }) => {
          if (action === 'observed' || action === 'recorded') {
            log.info(`guardrail ${action}`, {
              plugin,
              stage,
              observe: true,
              reason,
              trace_id: exchange.id,
              ...(score !== undefined && { score }),
              ...(action === 'recorded' && { action }),
            });
          }
          if (type === 'ratelimit' && (rejectsAs ?? RATE_LIMITED) === RATE_LIMITED && stage === 'before_request')
            counters.add('gateway_rate_limit_rejections_total', { key_type: 'plugin' });
          if (type === 'guardrail') counters.add('gateway_guardrail_verdicts_total', { plugin, stage, action });
        },
      );
      pipeline.pluginFailed.tap('plugin-lines', ({ at, exchange, fault, isOpen }) => {
        const elsewhere = ELSEWHERE[at];
        const attributes = faultAttributes(fault, {
          ...(elsewhere === undefined && { stage: at }),
          trace_id: exchange.id,
        });
        if (elsewhere === undefined && isOpen) log.warn('plugin failed, the request goes on', attributes);
        else log.error(elsewhere ?? 'plugin failed', attributes);
      });
    }),
});

/** The code of a rate limit's refusals, unless it says otherwise. */
const RATE_LIMITED = 'rate_limit_exceeded';

/** What plugins do beside their stages. */
const ELSEWHERE: Partial<Record<PluginFailure['at'], string>> = {
  guard: 'plugin failed to guard a stream',
  stream: 'plugin failed on a stream',
  finished: 'plugin failed at the end of a request',
};
