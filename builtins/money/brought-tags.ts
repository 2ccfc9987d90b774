import { GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { TagBindings } from '../../host/common/accounts/tagged-limits.ts';
import { tapEventual } from '../../host/pipeline/eventual.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { tagsOfRequest } from './request-tags.ts';

/**
 * Tags that requests bring, where `money.tags` reads them: they bind a request as tags of its key do, and stand in what it has spent. They are read
 * as an exchange begins, so that every list counts; what is wrong with them is answered where the request is charged. See docs/reference/accounts.md#tags-of-requests.
 */
export default defineBuiltin({
  name: 'brought-tags',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('brought-tags', async ({ hooks: pipeline, config: { money }, accounts }) => {
      const { tags: read } = money;
      if (!read?.header && !read?.metadata?.length) return;
      const bindings = new TagBindings();
      const refusals = new WeakMap<LiveExchange, GatewayError>();
      pipeline.opened.tap('brought-tags', (exchange) => {
        if (exchange.surface === 'mcp') return;
        try {
          const names = tagsOfRequest(exchange, read);
          if (names.length === 0) return;
          const { limits, added, refusal } = bindings.of(exchange, accounts.tree(), names);
          exchange.limits = limits;
          exchange.broughtLevels = added;
          if (refusal) refusals.set(exchange, refusal);
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          refusals.set(exchange, error);
        }
      });
      tapEventual(pipeline.charge, { name: 'brought-tags', stage: ORDER.broughtTags }, (exchange) =>
        refusals.get(exchange),
      );
    }),
});
