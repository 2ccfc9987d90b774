import { join } from 'node:path';
import { expect } from 'chai';
import {
  Dice,
  forSuite,
  type GatewayProcess,
  inSoak,
  isSoak,
  startGateway,
  startPostgres,
  temporaryFolder,
} from '../kit/index.ts';

const WRITES = isSoak() ? 5000 : 80; // writes take long
const WORKERS = 6;

/** What an administrator knows of a key. Each update writes the same number to all of it, so that half of one would be seen. */
interface Known {
  readonly id: string;
  readonly key: string;
  readonly mark: number;
  readonly active: boolean;
}

/** What is known of one key: what was acknowledged, and what may have been done when the answer did not come. */
interface Expected {
  readonly sure: Known | undefined;
  readonly maybe?: Known | undefined;
  readonly isDoubtful: boolean;
}

const wholeOf = (mark: number): object => ({
  name: `key ${mark}`,
  tags: [`key ${mark}`],
  rpm: 1000 + mark,
  expires_at: new Date(Date.UTC(2100, 0, 1) + mark * 1000).toISOString().replace('.000', ''),
});

/** Administers the keys of a gateway that may end at any moment. */
class Administrator {
  readonly keys = new Map<string, Expected>();
  readonly #dice: Dice;
  gateway: GatewayProcess;
  writes = 0;

  constructor(gateway: GatewayProcess, seed: number) {
    this.gateway = gateway;
    this.#dice = new Dice(seed);
  }

  /** Writes until the gateway is gone, or there is enough. */
  async work(until: number): Promise<void> {
    try {
      while (this.writes < until) await this.#write(this.#dice.below(10));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the connection broke off
    }
  }

  /** Compares all keys with what is known of them, and learns what was in doubt. */
  async check(): Promise<void> {
    const listed = new Map(
      ((await this.#call('GET', '/admin/keys')) as Record<string, any>[]).map((shown) => [
        shown['id'] as string,
        shown,
      ]),
    );
    for (const shown of listed.values()) markOf(shown); // also those whose making was never answered
    for (const [id, { sure, maybe, isDoubtful }] of this.keys) {
      const shown = listed.get(id);
      const found = shown && { mark: markOf(shown), active: shown['active'] as boolean };
      const allowed = [sure, ...(isDoubtful ? [maybe] : [])].map(
        (known) => known && { mark: known.mark, active: known.active },
      );
      expect(allowed, id).to.deep.include(found);
      if (isDoubtful) this.keys.delete(id); // its value may be unknown
    }
    const usable = [...this.keys.values()].flatMap(({ sure }) => (sure?.active ? [sure] : [])).slice(-20);
    for (const { key, id } of usable) expect(await this.#status(key), id).to.equal(200);
  }

  async #write(choice: number): Promise<void> {
    this.writes += 1;
    const mark = this.writes;
    const alive = [...this.keys].filter(([, { sure, isDoubtful }]) => sure && !isDoubtful);
    const [id, expected] = alive[this.#dice.below(alive.length)] ?? [];
    if (choice < 4 || id === undefined || !expected?.sure) {
      const made = (await this.#call('POST', '/admin/keys', wholeOf(mark))) as Record<string, any>;
      this.keys.set(made['id'], { sure: { id: made['id'], key: made['key'], mark, active: true }, isDoubtful: false });
      return;
    }
    const { sure } = expected;
    const path = `/admin/keys/${id}`;
    const change = async (
      method: string,
      to: string,
      after: Known | undefined,
      body?: object,
    ): Promise<Record<string, any>> => {
      this.keys.set(id, { sure, maybe: after, isDoubtful: true }); // another worker leaves it alone meanwhile
      const answer = (await this.#call(method, to, body)) as Record<string, any>;
      this.keys.set(id, { sure: after, isDoubtful: false });
      return answer;
    };
    if (choice < 7) await change('PUT', path, { ...sure, mark }, wholeOf(mark));
    else if (choice === 7) await change('POST', `${path}/revoke`, { ...sure, active: false });
    else if (choice === 8) await change('DELETE', path, undefined);
    else {
      const { key } = await change('POST', `${path}/rotate`, sure);
      this.keys.set(id, { sure: { ...sure, key: key as string }, isDoubtful: false });
    }
  }

  async #call(method: string, path: string, body?: object): Promise<unknown> {
    const { url, key } = this.gateway;
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
    return text === '' ? {} : (JSON.parse(text) as unknown);
  }

  async #status(key: string): Promise<number> {
    const answer = await fetch(`${this.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.text();
    return answer.status;
  }
}

/** The number that a key was last written with; what holds two of them was half written. */
function markOf(shown: Record<string, any>): number {
  const mark = Number(/^key (\d+)$/.exec(shown['name'] as string)?.[1]);
  expect(shown).to.deep.include(wholeOf(mark));
  return mark;
}

/** Kills and starts again until so many writes were made; the last process ends by itself. */
async function survive(variables: Record<string, string>, seed: number): Promise<void> {
  const start = (): Promise<GatewayProcess> => startGateway({ variables });
  const dice = new Dice(seed);
  const administrator = new Administrator(await start(), seed);
  while (administrator.writes < WRITES) {
    const until = Math.min(WRITES, administrator.writes + 20 + dice.below(WRITES / 5));
    const working = Promise.all(Array.from({ length: WORKERS }, () => administrator.work(WRITES)));
    while (administrator.writes < until)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    await administrator.gateway.stop('SIGKILL');
    await working;
    administrator.gateway = await start();
    await administrator.check();
  }
  expect(await administrator.gateway.stop()).to.equal(0);
}

describe(`a gateway that is killed at random moments of ${WRITES} writes`, function killed() {
  this.timeout(30 * 60_000);

  it('keeps every acknowledged write on SQLite, and half of none', async () => {
    await survive({ API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: join(await temporaryFolder(), 'keys.db') }, 1);
  });

  describe('with Postgres', () => {
    const dsn = forSuite(async () => (await startPostgres()).createDatabase());

    inSoak('keeps every acknowledged write, and half of none', async () => {
      await survive({ API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn() }, 2);
    });
  });
});
