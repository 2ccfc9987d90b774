import type { GatewayConfig } from './document.ts';

/** Whether any request of the Responses API is translated into a chat. */
export function translatesResponses({ responses, targets }: GatewayConfig): boolean {
  return responses.translate === 'auto' || targets.some((target) => target.responses === 'translate');
}
