import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../host/common/clock.ts';
import type { Handshake } from '../../../host/pipeline/tool-servers.ts';
import { fail, type Privacy, setAttributes } from './privacy.ts';
import { hrTime, type Tracer } from './tracer.ts';

export interface HandshakeSpansOptions {
  readonly tracer: Tracer;
  readonly privacy: Privacy;
  readonly clock: Clock;
}

/** The spans of a handshake with a tool server, in a trace of their own: no request waits for one. See docs/observability.md#traces. */
export function recordHandshake(
  { server, startedAt, initializedAt, endedAt, tools, error }: Handshake,
  { tracer, privacy, clock }: HandshakeSpansOptions,
): void {
  const traceId = randomBytes(16).toString('hex');
  if (!tracer.isSampled(traceId, undefined)) return;
  const zero = clock.now() - clock.monotonic();
  const unixTime = (monotonic: number): number => zero + monotonic;
  const end = hrTime(unixTime(endedAt));
  const root = tracer.root(traceId, undefined, { name: 'mcp.init_server', kind: 'INTERNAL', at: unixTime(startedAt) });
  setAttributes(root, { 'gw.mcp.server': server }, privacy);
  const steps = [
    { name: 'mcp.initialize', from: startedAt, to: initializedAt, facts: {} },
    {
      name: 'mcp.list_tools',
      from: initializedAt,
      to: error === undefined ? endedAt : undefined,
      facts: { 'mcp.tools.count': tools },
    },
  ];
  for (const { name, from, to, facts } of steps) {
    if (from === undefined) continue; // it was not come to
    const step = tracer.child(root, { name, kind: 'INTERNAL', at: unixTime(from) });
    setAttributes(step, facts, privacy);
    if (to === undefined) fail(step, error, end, privacy);
    step.end(hrTime(unixTime(to ?? endedAt)));
  }
  if (error !== undefined) fail(root, error, end, privacy);
  root.end(end);
}
