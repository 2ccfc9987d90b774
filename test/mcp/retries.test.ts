import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { Log } from 'gw/contract';
import { ServerConnection } from '../../builtins/mcp/connection.ts';
import type { Link, LinkEvents } from '../../builtins/mcp/link/link.ts';
import { ToolServerError } from '../../builtins/mcp/link/rpc.ts';
import { eventually, fakeClock } from '../kit/index.ts';

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A connection whose servers shake hands where `isUp` says so, and are lost when the test wants it. */
function scene(isUp: () => boolean = () => true) {
  const clock = fakeClock();
  const opened: LinkEvents[] = [];
  const answers: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: '2025-11-25' },
    'tools/list': { tools: [] },
  };
  const open = (events: LinkEvents): Link => {
    opened.push(events);
    return {
      takesAnyVersion: false,
      request: async ({ method }) => {
        if (!isUp()) throw new ToolServerError('unavailable', 'it is down');
        return { ...answers[method] };
      },
      notify: () => {},
      useVersion: () => {},
      begin: () => {},
      close: async () => {},
      kill: () => {},
    };
  };
  const connection = new ServerConnection({
    name: 's',
    limitMs: 1000,
    allowedTools: [],
    gatewayVersion: '1',
    clock,
    log: SILENT,
    clean: (text) => text,
    open,
    onHandshake: () => {},
  });
  /** How long it waits before it tries again; it does, and what comes of it has come. */
  const nextWait = async (): Promise<number> => {
    const ms = clock.next ?? NaN;
    const tries = opened.length;
    clock.advance(ms);
    await eventually(() => opened.length > tries);
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    return ms;
  };
  const lose = (): void => opened.at(-1)!.onLost(new ToolServerError('unavailable', 'it ended'));
  return { clock, connection, nextWait, lose, ready: () => eventually(() => connection.isReady) };
}

describe('the wait before a tool server is tried again', () => {
  it('doubles while the handshake fails, up to half a minute', async () => {
    const { nextWait, connection } = scene(() => false);
    await eventually(() => connection.lastError === 'it is down');
    const waits: number[] = [];
    for (let at = 0; at < 7; at += 1) waits.push(await nextWait());
    expect(waits).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('doubles as well for a server that shakes hands and is lost at once, again and again', async () => {
    const { nextWait, lose, ready } = scene();
    await ready();
    const waits: number[] = [];
    for (let at = 0; at < 7; at += 1) {
      lose();
      waits.push(await nextWait());
    }
    expect(waits).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('starts at a second again for a server that was ready for half a minute', async () => {
    const { nextWait, lose, ready, clock } = scene();
    await ready();
    for (let at = 0; at < 3; at += 1) {
      lose();
      await nextWait();
    }
    clock.advance(30_000);
    lose();
    expect(await nextWait()).to.equal(1000);
  });

  it('starts at a second for the first loss, however many handshakes failed before', async () => {
    let isUp = false;
    const { nextWait, lose, connection, ready } = scene(() => isUp);
    await eventually(() => connection.lastError === 'it is down');
    for (let at = 0; at < 4; at += 1) await nextWait();
    isUp = true;
    await nextWait();
    await ready();
    lose();
    expect(await nextWait()).to.equal(1000);
  });
});
