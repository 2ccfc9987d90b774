import { sendBody, sendJson } from '../../host/http/reply.ts';
import { type ChatRequest, isFields, tryParseJson } from '../../host/contract/index.ts';
import { attributionHeaders } from '../../host/http/attribution.ts';
import type { Serving } from '../../host/http/surface-route.ts';
import { countTokens, type VendorCount } from '../../host/pipeline/count.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { estimateTokens } from './estimate.ts';

const HEADER = 'X-Gateway-Token-Count';

/** Answers what a request counts: as the vendor counts it where that speaks the client's wire, else by an estimate. See docs/reference/ingress.md#counting-tokens. */
export function countingWith(bodyOf: (tokens: number) => object): Serving {
  const counted = new WeakMap<LiveExchange, VendorCount>();
  const members = Object.keys(bodyOf(0));
  return {
    run: async (exchange, generation) => {
      const count = await countTokens(exchange, generation);
      if (count && holdsCount(count, members)) counted.set(exchange, count);
      return undefined;
    },
    send: (_read, exchange, { services: { redactor } }, response) => {
      const count = counted.get(exchange);
      if (count)
        sendBody(response, 200, 'application/json', count.body, [
          HEADER,
          'vendor',
          ...attributionHeaders(exchange, redactor),
        ]);
      else
        sendJson(response, 200, bodyOf(estimateTokens(exchange.request as ChatRequest)), [
          HEADER,
          'estimate',
          ...attributionHeaders(exchange, redactor),
        ]);
      return undefined;
    },
  };
}

/** Whether the vendor's answer says a number: a page, half an answer or an error with a good status does not. */
function holdsCount({ body }: VendorCount, members: readonly string[]): boolean {
  const value = tryParseJson(body.toString('utf8'));
  return isFields(value) && members.every((name) => typeof value[name] === 'number');
}
