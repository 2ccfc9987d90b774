import type { Clock } from '../../../host/common/clock.ts';
import type { McpServerConfig } from '../../../host/config/document.ts';
import type { Log } from '../../../host/contract/index.ts';
import type { Variables } from '../../../host/environment/variables.ts';
import type { Transport } from '../../../host/upstream/transport.ts';
import { addressOf } from './http-address.ts';
import { HttpCalls } from './http-calls.ts';
import { HttpLink } from './http-link.ts';
import type { Link, LinkEvents } from './link.ts';
import { StdioLink } from './stdio-link.ts';

export interface OpenOptions {
  /** With every reference in `headers` and `env` replaced. */
  readonly config: McpServerConfig;
  readonly variables: Variables;
  readonly workingDirectory: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly clean: (text: string) => string;
}

/** A command counts before an address. */
export function openLink(
  { config, ...options }: OpenOptions,
  events: LinkEvents,
  renew: (link: Link) => Promise<void>,
): Link {
  const { name = '', url = '', headers = {}, command, args = [], env = {} } = config;
  if (command) return new StdioLink({ ...options, server: name, command, args, env }, events);
  const { transport, clock, clean } = options;
  return new HttpLink(
    { calls: new HttpCalls({ address: addressOf(url), headers, transport, clock }), clean, renew },
    events,
  );
}
