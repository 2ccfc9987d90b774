import type { GatewayConfig } from './document.ts';

/** Keys that are checked but have no effect in this version. */
const UNSERVED: Readonly<Record<string, (config: GatewayConfig) => boolean>> = {
  'mcp.stream': ({ mcp }) => mcp.stream === true,
};

/** Keys of a valid configuration whose feature this version does not have yet. */
export function unservedKeys(config: GatewayConfig): string[] {
  return Object.entries(UNSERVED).filter(([, isUsed]) => isUsed(config)).map(([key]) => key);
}
