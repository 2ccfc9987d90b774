import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, freePort, untilReady } from '../bench/ready.ts';
import type { Child, Workspace } from '../bench/workspace.ts';
import { ask, type Got } from './client.ts';
import { KEY } from './scenes/exchange.ts';
import { HOUSES, type HouseName } from './scenes/houses.ts';
import type { Numbered } from './scenes/scenes.ts';
import { variablesOf, VENDORS } from './scenes/vendors.ts';
import { openUpstreams, type Sent, type Upstreams } from './upstream.ts';

/** What came of one exchange: what the client got, and what upstreams were sent. */
export interface Recorded {
  readonly scene: Numbered;
  readonly got: Got;
  readonly sent: readonly Sent[];
}

export interface Recording {
  readonly from: number;
  readonly to: number;
  readonly exchanges: readonly Recorded[];
}

interface Gateway {
  readonly url: string;
  readonly child: Child;
}

/** Runs exchanges one after another through the gateway of a checkout, with one process for each house. */
export async function record(workspace: Workspace, checkout: string, scenes: readonly Numbered[]): Promise<Recording> {
  const upstreams = await openUpstreams(VENDORS);
  try {
    const from = Date.now();
    const exchanges: Recorded[] = [];
    for (const house of new Set(scenes.map((scene) => scene.house))) {
      const { child, url } = await startGateway(workspace, checkout, house, upstreams);
      for (const scene of scenes) {
        if (scene.house !== house) continue;
        upstreams.plan(scene.answers);
        const got = await ask(url, scene);
        exchanges.push({ scene, got, sent: await upstreams.sent() });
      }
      await child.stop();
    }
    return { from, to: Date.now(), exchanges };
  } finally {
    upstreams.close();
  }
}

/** The process of one house: its command line, its configuration and its environment are all that is known of it. */
async function startGateway(
  workspace: Workspace,
  checkout: string,
  house: HouseName,
  { urls }: Upstreams,
): Promise<Gateway> {
  const folder = join(workspace.folder, 'house');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(HOUSES[house]));
  const port = await freePort();
  const child = workspace.start([join(checkout, 'node_modules/.bin/node'), join(checkout, 'host/gw.js'), 'serve'], {
    cwd: folder,
    variables: {
      ...Object.fromEntries([...urls].flatMap(([vendor, url]) => Object.entries(variablesOf(vendor, url)))),
      GATEWAY_CONFIG: join(folder, 'config.json'),
      PORT: String(port),
      MASTER_KEY: KEY,
      RATE_LIMIT_RPS: '0',
      CORS_ORIGINS: 'http://page.example',
    },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(`the gateway of ${checkout} (${house})`, child, () => answers(`${url}/livez`));
  return { url, child };
}
