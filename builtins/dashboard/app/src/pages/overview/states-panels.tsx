import type { ReactNode } from 'react';
import type { DeepHealth, McpServerHealth, Readiness } from '../../api/wire.ts';
import { componentTone, serverTone } from '../../lib/tones.ts';
import { Pill, type Tone } from '../../ui/pill.tsx';
import './overview.css';

interface Item {
  readonly name: string;
  readonly state: string;
  readonly tone: Tone;
  readonly note?: ReactNode;
}

function Items({ items }: { readonly items: readonly Item[] }) {
  return (
    <ul className="items">
      {items.map(({ name, state, tone, note }) => (
        <li key={name} className="item">
          <div className="item-text">
            <span className="item-name">{name}</span>
            {note}
          </div>
          <Pill tone={tone} hasDot>
            {state}
          </Pill>
        </li>
      ))}
    </ul>
  );
}

export function Components({ health: { components } }: { readonly health: DeepHealth }) {
  const items = components.map(({ name, status, message }): Item => ({
    name,
    state: status,
    tone: componentTone(status),
    note: message && <span className="item-note">{message}</span>,
  }));
  return <Items items={items} />;
}

const REASONS: Readonly<Record<string, string>> = {
  draining: 'The gateway is shutting down.',
  'gateway not configured': 'The gateway has no configuration.',
  'store unreachable': 'A store does not answer.',
  'no routable targets': 'No target can take requests: its provider is not set up, or its circuit is open.',
  'required mcp server unavailable': 'An MCP server that requests depend on is not ready.',
};

/** Whether the gateway takes requests, and what of it does not. `health` knows why an MCP server is not ready. */
export function ReadinessView({
  readiness,
  health,
}: {
  readonly readiness: Readiness;
  readonly health: DeepHealth | undefined;
}) {
  const isReady = readiness.status === 'ready';
  const targets = (readiness.targets ?? []).map(({ name, routable, circuit }): Item => ({
    name,
    state: routable ? circuitName(circuit) : 'not routable',
    tone: routable ? circuitTone(circuit) : 'bad',
  }));
  const known: readonly McpServerHealth[] = health?.mcp_servers ?? readiness.mcp_servers ?? [];
  const servers = known.map((server): Item => ({
    name: server.name,
    state: server.ready ? 'ready' : 'not ready',
    tone: serverTone(server),
    note: (
      <span className="item-note">
        MCP server, {server.required ? 'required' : 'optional'}
        {server.last_error ? `: ${server.last_error}` : ''}
      </span>
    ),
  }));
  return (
    <>
      <p className="readiness" role="status">
        <Pill tone={isReady ? 'ok' : 'bad'} hasDot>
          {isReady ? 'Ready' : 'Not ready'}
        </Pill>
        <span>{isReady ? 'The gateway takes requests.' : (REASONS[readiness.reason ?? ''] ?? readiness.reason)}</span>
      </p>
      <Items items={[...targets, ...servers]} />
    </>
  );
}

function circuitName(circuit: string): string {
  return circuit === 'closed' ? 'routable' : `circuit ${circuit}`;
}

function circuitTone(circuit: string): Tone {
  return circuit === 'closed' ? 'ok' : 'warn';
}
