import { setTimeout as sleep } from 'node:timers/promises';
import { Dice, MASTER_KEY, type PostgresServer } from '../kit/index.ts';
import { type Answer, BROKEN_OFF, configuration, NOT_SENT, Replica } from './replica.ts';
import { isRefused, Truth } from './truth.ts';

const CHAT = '/v1/chat/completions';
/** Clients that send one request after another, and administrators that change one thing after another. */
const CLIENTS = 4;
const ADMINISTRATORS = 2;

export interface RunOptions {
  readonly seed: number;
  readonly milliseconds: number;
  /** The longest that one fault lasts, in milliseconds. */
  readonly faultMs: number;
  readonly faults: readonly Fault[];
  /** Milliseconds after which a replica is itself again when what was wrong has passed. */
  readonly wellWithinMs: number;
}

/** What happens to a replica, to its way to the store, or to the server. */
export const FAULTS = ['kill', 'stop', 'freeze', 'cut', 'silent', 'dark', 'held', 'deaf', 'slow', 'server'] as const;
export type Fault = (typeof FAULTS)[number];

interface KeyOfRun {
  readonly id: string;
  readonly name: string;
}

/**
 * The least time for which a way is deaf. A connection that lives loses no notification, so that none is missed for a moment: it is a pooler that passes none on, and that
 * is noticed when no echo of a beat has come for five seconds.
 */
const DEAF_MS = 8000;

/** Three gateways on one Postgres, clients and administrators at all of them, and one fault after another; `truth` collects what no gateway may do. */
export class Run {
  readonly truth = new Truth();
  readonly replicas: readonly Replica[];
  readonly #server: PostgresServer;
  readonly #dice: Dice;
  readonly #options: RunOptions;
  readonly #keys = new Map<string, KeyOfRun>();
  /** Markers of configurations that were answered with a success, and of those that may be stored. */
  readonly markers = { stored: ['first'], maybe: new Set<string>(), sent: 1 };
  /** How often each fault was made. */
  readonly faults = new Map<string, number>();
  #isOver = false;

  private constructor(replicas: readonly Replica[], server: PostgresServer, options: RunOptions) {
    this.replicas = replicas;
    this.#server = server;
    this.#options = options;
    this.#dice = new Dice(options.seed);
  }

  static async make(server: PostgresServer, dsn: string, options: RunOptions): Promise<Run> {
    const replicas = await Promise.all(
      ['one', 'two', 'three'].map((name) => Replica.make(name, dsn, options.wellWithinMs)),
    );
    await Promise.all(replicas.map((replica) => replica.start()));
    return new Run(replicas, server, options);
  }

  async play(): Promise<void> {
    for (let at = 0; at < 3; at += 1) await this.#create();
    const ends = [
      ...Array.from({ length: CLIENTS }, () => this.#client()),
      ...Array.from({ length: ADMINISTRATORS }, () => this.#administrator()),
      this.#configurator(),
    ];
    const until = performance.now() + this.#options.milliseconds;
    while (performance.now() < until) {
      await sleep(this.#dice.below(1500));
      await this.#fault();
    }
    await this.#heal();
    this.#isOver = true;
    await Promise.all(ends);
  }

  #replica(): Replica {
    return this.#dice.pick(this.replicas);
  }

  // --- clients

  async #client(): Promise<void> {
    while (!this.#isOver) {
      const { live, ended } = this.truth;
      const credential = this.#dice.pick(this.#dice.below(3) === 0 && ended.length > 0 ? ended.slice(-8) : live);
      const replica = this.#replica();
      if (credential) this.truth.used(credential, await this.#chat(replica, credential.value), replica);
      await sleep(this.#dice.below(40));
    }
  }

  #chat(replica: Replica, bearer: string): Promise<Answer> {
    return replica.ask('POST', CHAT, bearer, { model: 'echo', messages: [{ role: 'user', content: 'one two three' }] });
  }

  // --- administrators

  async #administrator(): Promise<void> {
    const acts = [
      () => this.#create(),
      () => this.#end('revoke'),
      () => this.#end('delete'),
      () => this.#rotate(),
      () => this.#signIn(),
      () => this.#signOut(),
      () => this.#rename(),
    ];
    while (!this.#isOver) {
      await this.#dice.pick(acts)();
      await sleep(this.#dice.below(300));
    }
  }

  async #create(): Promise<void> {
    const name = `key ${this.#keys.size} of ${this.#dice.below(1e9)}`;
    const replica = this.#replica();
    const answer = await replica.ask('POST', '/admin/keys', MASTER_KEY, { name, scopes: ['read_only'] });
    if (answer.status !== 201) return this.#expectRefusal(answer, 'the making of a key');
    const { id, key } = JSON.parse(answer.body) as { id: string; key: string };
    this.#keys.set(id, { id, name });
    this.truth.add(key, id, `a key made by ${replica.name}`);
  }

  /** A key of which no change is under way; it is out of reach of other administrators until it is put back. */
  #take(): KeyOfRun | undefined {
    if (this.#keys.size < 4) return undefined;
    const key = this.#dice.pick([...this.#keys.values()]);
    this.#keys.delete(key.id);
    return key;
  }

  async #end(how: 'revoke' | 'delete'): Promise<void> {
    const key = this.#take();
    if (!key) return;
    const owned = this.truth.live.filter(({ owner }) => owner === key.id);
    for (const credential of owned) this.truth.ending(credential);
    const answer = await (how === 'delete'
      ? this.#replica().ask('DELETE', `/admin/keys/${key.id}`, MASTER_KEY)
      : this.#replica().ask('POST', `/admin/keys/${key.id}/revoke`, MASTER_KEY));
    for (const credential of owned) this.truth.end(credential, answer);
    if (answer.status >= 300) this.#expectRefusal(answer, `${how} of a key`);
    if (isRefused(answer)) this.#keys.set(key.id, key);
  }

  async #rotate(): Promise<void> {
    const key = this.#take();
    if (!key) return;
    const values = this.truth.live.filter(({ owner, value }) => owner === key.id && !value.startsWith('gws_'));
    for (const credential of values) this.truth.ending(credential);
    const replica = this.#replica();
    const answer = await replica.ask('POST', `/admin/keys/${key.id}/rotate`, MASTER_KEY, {});
    for (const credential of values) this.truth.end(credential, answer);
    if (answer.status === 200)
      this.truth.add(
        (JSON.parse(answer.body) as { key: string }).key,
        key.id,
        `a value by a rotation at ${replica.name}`,
      );
    else this.#expectRefusal(answer, 'the rotation of a key');
    if (answer.status === 200 || isRefused(answer)) this.#keys.set(key.id, key);
  }

  async #rename(): Promise<void> {
    const key = this.#take();
    if (!key) return;
    const name = `${key.name}, again`;
    const answer = await this.#replica().ask('PUT', `/admin/keys/${key.id}`, MASTER_KEY, { name });
    if (answer.status !== 200) this.#expectRefusal(answer, 'the change of a key');
    this.#keys.set(key.id, { ...key, name: answer.status === 200 ? name : key.name });
  }

  async #signIn(): Promise<void> {
    const key = this.#take();
    if (!key) return;
    const credential = this.truth.live.find(({ owner, value }) => owner === key.id && !value.startsWith('gws_'));
    const replica = this.#replica();
    const answer = credential && (await replica.ask('POST', '/admin/session', credential.value));
    if (answer?.status === 201)
      this.truth.add((JSON.parse(answer.body) as { token: string }).token, key.id, `a session made by ${replica.name}`);
    this.#keys.set(key.id, key);
  }

  async #signOut(): Promise<void> {
    const session = this.truth.live.find(({ value, endSentAt }) => value.startsWith('gws_') && endSentAt === undefined);
    if (!session) return;
    this.truth.ending(session);
    const answer = await this.#replica().ask('DELETE', '/admin/session', session.value);
    this.truth.end(session, answer);
  }

  async #configurator(): Promise<void> {
    for (let version = 2; !this.#isOver; version += 1) {
      const marker = `marker-${version}`;
      this.markers.maybe.add(marker);
      this.markers.sent += 1;
      const answer = await this.#replica().ask('PUT', '/admin/config', MASTER_KEY, configuration(marker));
      if (answer.status === 200) {
        this.markers.stored.push(marker);
        this.markers.maybe.clear();
      }
      await sleep(500 + this.#dice.below(2000));
    }
  }

  /** A change that failed: refused, in doubt, or broken off with the process. Anything else no gateway may say. */
  #expectRefusal({ status, body }: Answer, what: string): void {
    if (![NOT_SENT, BROKEN_OFF, 429, 503].includes(status))
      this.truth.problems.push(`${what} was answered ${status}: ${body.slice(0, 200)}`);
  }

  // --- faults

  async #fault(): Promise<void> {
    const replica = this.#replica();
    const ms = 200 + this.#dice.below(this.#options.faultMs);
    const fault = this.#dice.pick(this.#options.faults);
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    if (fault === 'server') return this.#restartServer(ms);
    replica.ill();
    if (fault === 'kill' || fault === 'stop') {
      await replica.end(fault === 'kill' ? 'SIGKILL' : 'SIGTERM');
      return replica.start();
    }
    if (fault === 'freeze') {
      replica.signal('SIGSTOP');
      await sleep(ms);
      replica.signal('SIGCONT');
    } else if (fault === 'slow') {
      replica.relay.delayMs = 150;
      await sleep(ms);
      replica.relay.delayMs = 0;
    } else {
      replica.relay.mode = fault;
      await sleep(fault === 'deaf' ? Math.max(ms, DEAF_MS) : ms);
      replica.relay.mode = 'pass';
    }
    replica.well();
  }

  async #restartServer(ms: number): Promise<void> {
    for (const replica of this.replicas) replica.ill();
    await this.#server.stop();
    await sleep(ms);
    await this.#server.start();
    for (const replica of this.replicas) replica.well();
  }

  /** Waits until every replica must be itself again. */
  async #heal(): Promise<void> {
    const left =
      Math.max(...this.replicas.map(({ wellSince = performance.now() }) => wellSince)) + this.#options.wellWithinMs;
    await sleep(Math.max(0, left - performance.now()));
  }
}
