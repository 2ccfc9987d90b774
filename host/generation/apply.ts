import { canonicalJson } from '../config/canonical.ts';
import { type Decoded, decodeStored, holdsIdentity, withoutIdentity } from '../config/decode.ts';
import type { GatewayConfig } from '../config/document.ts';
import { ConfigRefused, type Problem } from '../config/problems.ts';
import { identityWritten } from '../config/rules/identity-written.ts';
import { type Fields, GatewayError } from '../contract/index.ts';
import type { Settings } from '../environment/settings.ts';
import { Scrubber } from '../config/scrubber.ts';
import type { Redactor } from '../log/redact.ts';
import { ChangeInDoubt } from '../stores/changes.ts';
import {
  type ChangeKind,
  type ConfigurationVersion,
  type NewestConfiguration,
  refuseStale,
  type Writer,
} from '../stores/configuration-store.ts';
import type { Stores } from '../stores/stores.ts';
import { Cancellation } from '../upstream/cancellation.ts';
import { AccountLines } from './accounts/account-lines.ts';
import { buildGeneration } from './build.ts';
import { type Companions, type InForce, type PreparedByAll, StageAborted, type Staged } from '../common/companions.ts';
import { adminProblems } from './writes/admin-problems.ts';
import type { GenerationDeps, ModelHooks } from './generation-deps.ts';
import { checkConfig, type CheckDeps } from './check.ts';
import type { Generation } from './generation.ts';
import { RegisteredLines } from './instances/registered-lines.ts';
import type { Slot } from './slot.ts';
import type { StartSource } from './writes/start-source.ts';
import { refuseOfNewer, StoredVersions } from './writes/stored-versions.ts';

/** What applying a configuration needs of the host. */
export interface ApplierDeps extends GenerationDeps {
  readonly redactor: Redactor;
  readonly settings: Pick<Settings, 'allowsAdminStdio' | 'secretDirectories' | 'ownSecretFiles' | 'allowances'>;
  readonly stores: Pick<Stores, 'configuration' | 'requestLog' | 'ledgers' | 'accounts' | 'keys'>;
  readonly hooks: ModelHooks & CheckDeps['hooks'];
  readonly slot: Slot;
  /** True once the process is ending: nothing is built for it any more. */
  readonly isDraining: boolean;
  /** `undefined` where this process serves alone. */
  readonly companions?: Companions | undefined;
}

/** What serves, as it was written. */
export interface RunningDocument {
  readonly document: Fields;
  /** The newest version when it was taken in; 0 before any change. */
  readonly version: number;
  /** As in `NewestConfiguration`. */
  readonly mark?: string | undefined;
  /** Whether it was written while a gateway ran, here or in another process, rather than read at the start or from a file since then. */
  readonly isWritten: boolean;
}

export interface Applied {
  readonly generation: Generation;
  readonly entry: ConfigurationVersion;
}

export interface Applier {
  readonly running: RunningDocument;
  /**
   * Checks, builds, persists and swaps in what a writer wants; one at a time. Changes nothing unless all of it succeeds, and
   * throws `ConfigRefused` for problems of the configuration, `version_conflict` for a writer that missed a version, `config_newer`
   * where it would replace what only a newer program knows, and `internal_error` when it could not be persisted. Once it is persisted no later step can fail.
   */
  apply(decoded: Decoded, writer: Writer, kind?: 'write' | 'rollback'): Promise<Applied>;
  /** Applies what the start would have begun with, had nothing been stored. */
  reset(writer: Writer): Promise<Applied>;
  /** Applies a file that has changed. `undefined`: something is stored and counts before it, or it says what serves already. */
  applyFile(decoded: Decoded, writer: Writer): Promise<Applied | undefined>;
  /** Applies what a start begins with: no change, so it is neither persisted nor given a version. */
  applyStart(source: StartSource): Promise<Generation>;
  /** What is wrong with what a writer wants, as far as can be found without building it. */
  problemsOf(decoded: Decoded): readonly Problem[];
  /** Takes in what other processes have stored. What cannot be used here is logged. */
  follow(): Promise<void>;
  /** Builds what another process is about to bring into force for all. */
  stage(decoded: Decoded): Promise<Staged>;
  /** Builds the configuration that serves once more, because what surrounds it changed: the catalog, the live models. Nothing while the gateway closes. */
  refresh(): Promise<void>;
  /** Accepts no configuration any more: those that wait are refused, and a generation that is still being built is closed once it is ready. */
  close(): void;
}

/** The only writer of the slot. A failure leaves the old generation serving. */
export function createApplier(deps: ApplierDeps): Applier {
  return new QueueingApplier(deps);
}

class QueueingApplier implements Applier {
  readonly #deps: ApplierDeps;
  readonly #scrubber: Scrubber;
  readonly #closing = new Cancellation();
  #running: RunningDocument = { document: {}, version: 0, isWritten: false };
  #start: StartSource | undefined;
  /** The configuration file, in force or not: its writer may send references anywhere. */
  #file: GatewayConfig | undefined;
  #number = 0;
  #queue: Promise<unknown> = Promise.resolve();
  #isFollowing = false;
  readonly #stored = new StoredVersions();
  readonly #registered: RegisteredLines;
  readonly #accounts: AccountLines;

  constructor(deps: ApplierDeps) {
    this.#deps = deps;
    this.#scrubber = new Scrubber(deps);
    this.#registered = new RegisteredLines(deps.services.log);
    this.#accounts = new AccountLines({ log: deps.services.log, stored: deps.stores.accounts });
  }

  get running(): RunningDocument {
    return this.#running;
  }

  apply(decoded: Decoded, writer: Writer, kind: 'write' | 'rollback' = 'write'): Promise<Applied> {
    return this.#inTurn(async () => {
      await this.#refuse(writer);
      return this.#change(this.#accepted(decoded, this.problemsOf(decoded, kind)), decoded.document, {
        ...writer,
        kind,
      });
    });
  }

  reset(writer: Writer): Promise<Applied> {
    return this.#inTurn(async () => {
      await this.#refuse(writer);
      if (!this.#start) throw new Error('nothing has been started yet');
      const { own, isDefault } = this.#start;
      return this.#change(this.#accepted(own, isDefault ? [] : checkConfig(this.#deps, own)), own.document, {
        ...writer,
        kind: 'reset',
      });
    });
  }

  applyFile(file: Decoded, writer: Writer): Promise<Applied | undefined> {
    const decoded = withoutIdentity(file);
    return this.#inTurn(async () => {
      if ((await this.#newest()).isStored) {
        if (checkConfig(this.#deps, decoded).length === 0) this.#file = decoded.config;
        return undefined;
      }
      const config = this.#accepted(decoded, checkConfig(this.#deps, decoded));
      const isSame = canonicalJson(decoded.document) === canonicalJson(this.#running.document);
      const applied = isSame ? undefined : await this.#change(config, decoded.document, { ...writer, kind: 'file' });
      this.#file = config;
      return applied;
    });
  }

  applyStart(given: StartSource): Promise<Generation> {
    const source = { ...given, own: withoutIdentity(given.own) };
    const { own, isDefault, stored, newest = { version: 0, text: undefined } } = source;
    const decoded = stored ?? own;
    return this.#inTurn(async () => {
      const config = this.#accepted(decoded, isDefault && !stored ? [] : checkConfig(this.#deps, decoded));
      const generation = await this.#swapIn(config);
      this.#start = source;
      this.#file = isDefault ? undefined : own.config;
      this.#running = {
        document: decoded.document,
        version: newest.version,
        mark: newest.mark,
        isWritten: stored !== undefined,
      };
      this.#stored.saw(newest);
      return generation;
    });
  }

  problemsOf(written: Decoded, kind: 'write' | 'rollback' = 'write'): readonly Problem[] {
    const decoded = withoutIdentity(written);
    return [
      ...(holdsIdentity(written) ? [identityWritten()] : []),
      ...checkConfig(this.#deps, decoded),
      ...adminProblems(this.#deps, decoded, { file: this.#file, kind }),
    ];
  }

  async follow(): Promise<void> {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    await this.#inTurn(() => {
      this.#isFollowing = false; // a change from here on needs another look
      return this.#takeNewest();
    }).catch((error: unknown) => {
      this.#isFollowing = false;
      if (error !== this.#closing.cause)
        this.#deps.services.log.error('the stored configuration could not be read', { error });
    });
  }

  refresh(): Promise<void> {
    return this.#inTurn(async () => {
      const { current } = this.#deps.slot;
      if (current && !this.#deps.isDraining) await this.#swapIn(current.config);
    }).catch((error: unknown) => {
      if (error !== this.#closing.cause) throw error;
    });
  }

  stage(decoded: Decoded): Promise<Staged> {
    const staged = Promise.withResolvers<Staged>();
    const decided = Promise.withResolvers<InForce>();
    const done = this.#inTurn(async () => {
      const config = this.#accepted(decoded, checkConfig(this.#deps, decoded));
      let inForce: InForce | undefined;
      await this.#swapIn(config, async () => {
        staged.resolve({
          commit: async (now) => {
            decided.resolve(now);
            await done;
          },
          abort: () => decided.reject(new StageAborted('another process could not use the configuration')),
        });
        inForce = await decided.promise;
      });
      if (inForce) this.#running = inForce;
    });
    done.catch((error: unknown) => staged.reject(error)); // of what was staged before, its caller learns by `commit`
    return staged.promise;
  }

  close(): void {
    this.#closing.cancel(new GatewayError('upstream_unavailable', 'the gateway is shutting down'));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(() => {
      this.#closing.throwIfCancelled();
      return work();
    });
    this.#queue = turn.catch(() => {}); // the caller gets the error; the next change starts all the same
    return this.#closing.race(turn);
  }

  #accepted({ config }: Decoded, problems: readonly Problem[]): GatewayConfig {
    if (problems.length > 0 || !config) throw new ConfigRefused(problems);
    return config;
  }

  /** Before anything is looked at. The store asks both once more, together with other processes. */
  async #refuse(writer: Writer): Promise<void> {
    const { version, mark, text, isStored } = await this.#newest();
    refuseStale(writer, version, mark);
    if (isStored && text !== undefined) refuseOfNewer(text);
  }

  #newest(): Promise<NewestConfiguration> {
    return this.#deps.stores.configuration.value
      .newest()
      .catch((cause: unknown) => this.#fail('the stored configuration could not be read', cause));
  }

  async #change(
    config: GatewayConfig,
    document: Fields,
    change: Writer & { readonly kind: ChangeKind },
  ): Promise<Applied> {
    const text = JSON.stringify(document);
    const { value: store } = this.#deps.stores.configuration;
    let entry: ConfigurationVersion | undefined;
    const generation = await this.#swapInAll(config, document, async () => {
      if (store.isDurable) this.#warnOfSecrets(document);
      const given = { ...change, text, above: this.#stored.highest, mayReplace: refuseOfNewer };
      entry = await store.append(given).catch((cause: unknown) => {
        void this.follow(); // a store that is lost while it answers may have kept it all the same
        return this.#fail(
          cause instanceof ChangeInDoubt
            ? 'it is not known whether the configuration was stored'
            : 'the configuration could not be stored',
          cause,
        );
      });
      return { document, version: entry.version, isWritten: change.kind === 'write' || change.kind === 'rollback' };
    });
    if (!entry) throw new Error('a configuration was taken in and not kept');
    this.#stored.saw(entry);
    return { generation, entry };
  }

  /** In this process and its companions: all of them build it before it is persisted, and none serves what was before once this has resolved. */
  async #swapInAll(config: GatewayConfig, document: Fields, persist: () => Promise<InForce>): Promise<Generation> {
    let prepared: PreparedByAll | undefined;
    let inForce: InForce | undefined;
    const generation = await this.#swapIn(config, async () => {
      prepared = await this.#deps.companions?.prepare(document);
      try {
        inForce = await persist();
        this.#closing.throwIfCancelled();
      } catch (error) {
        prepared?.abort();
        throw error;
      }
    });
    if (inForce) {
      this.#running = inForce;
      await prepared?.commit(inForce);
    }
    return generation;
  }

  async #swapIn(config: GatewayConfig, persist?: () => Promise<void>): Promise<Generation> {
    const { services, slot } = this.#deps;
    const generation = await buildGeneration(this.#deps, config, this.#number + 1);
    try {
      this.#closing.throwIfCancelled();
      await persist?.();
      this.#closing.throwIfCancelled(); // what was kept is what the next start begins with
    } catch (error) {
      await generation
        .dispose()
        .catch((cause: unknown) =>
          services.log.error('a configuration could not be closed', { generation: generation.number, error: cause }),
        );
      throw error;
    }
    this.#number += 1;
    slot.swap(generation);
    this.#registered.write(generation.instances);
    this.#accounts.write(config.accounts);
    return generation;
  }

  async #takeNewest(): Promise<void> {
    const { log } = this.#deps.services;
    const newest = await this.#stored.look(this.#deps.stores.configuration.value, log);
    if (!newest) return;
    const { version, mark, text, isStored: isWritten } = newest;
    if (text === undefined) {
      this.#running = { ...this.#running, version, mark }; // there is nothing to take in
      return;
    }
    try {
      const decoded = decodeStored(text);
      const config = this.#accepted(decoded, checkConfig(this.#deps, decoded));
      const { document } = decoded;
      await this.#swapInAll(config, document, async () => ({ document, version, mark, isWritten }));
      log.info('the configuration of another process is in force', { version });
    } catch (error) {
      if (error === this.#closing.cause) return;
      log.error('the configuration of another process cannot be used here, the one before goes on serving', {
        version,
        error,
      });
    }
  }

  /** A refusal of the store is passed on as it is; of its other errors only the log has the reason. */
  #fail(what: string, cause: unknown): never {
    if (cause instanceof GatewayError) throw cause;
    this.#deps.services.log.error(what, { backend: this.#deps.stores.configuration.backend, error: cause });
    throw new GatewayError('internal_error', `${what}; the one before goes on serving`, { cause });
  }

  /** Logged before it is kept: a reference would do, and keeps the secret out of the store. */
  #warnOfSecrets(document: Fields): void {
    const field = this.#scrubber.firstSecret(document);
    if (field !== undefined)
      this.#deps.services.log.warn('a secret is stored as it was sent: write a ${VAR} reference instead', {
        rule: 'WN11',
        field,
      });
  }
}
