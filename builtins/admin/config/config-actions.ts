import { type Decoded, decodeStored } from '../../../host/config/decode.ts';
import { ConfigRefused } from '../../../host/config/problems.ts';
import { Scrubber } from '../../../host/config/scrubber.ts';
import type { Fields } from '../../../host/contract/index.ts';
import type { Applied } from '../../../host/generation/apply.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import { type ConfigurationVersion, MOST_VERSIONS, type Writer } from '../../../host/stores/configuration-store.ts';
import type { AuditChange } from '../../../host/stores/audit/audit-entry.ts';
import { actorOf, type Auditor } from '../auditor.ts';
import { reading } from '../store-calls.ts';
import { providerChanges } from './provider-changes.ts';
import { readConfiguration, RefusedConfiguration } from './body.ts';
import type { ConfigViews } from './config-views.ts';
import { changesBetween } from './diff.ts';
import { etagOf, wantedVersion } from './if-match.ts';
import { type PatchBody, readPatchOf, refusePatch } from './patch-body.ts';
import { askedVersion, keptVersion, noVersion } from './versions.ts';

interface Mutation {
  readonly action: string;
  readonly target: string;
  readonly act: () => Promise<Applied>;
  readonly detail: (applied: Applied) => Record<string, unknown> | undefined;
  readonly answer: (applied: Applied) => JsonAnswer;
}

/** How a configuration is written: the action of its row, and what the answer says. */
interface Replacement {
  readonly action: string;
  readonly status: number;
  readonly word: string;
}

/** What is done to the configuration: each reads its body, applies what it says and leaves its row. */
export class ConfigActions {
  readonly #host: Host;
  readonly #auditor: Auditor;
  readonly #views: Pick<ConfigViews, 'patched'>;
  readonly #scrubber: Scrubber;

  constructor(host: Host, auditor: Auditor, views: Pick<ConfigViews, 'patched'>) {
    this.#host = host;
    this.#auditor = auditor;
    this.#views = views;
    this.#scrubber = new Scrubber(host);
  }

  async replace(call: JsonCall, { action, status, word }: Replacement): Promise<JsonAnswer> {
    const decoded = this.#read(call, action);
    return this.#mutate(call, {
      action,
      target: '*',
      act: async () => this.#host.applier.apply(decoded, this.#writerOf(call)),
      detail: detailOf,
      answer: () => ({ status, body: { status: word } }),
    });
  }

  /** A JSON Patch of the document as it is shown; what is withheld stays. One that changes nothing leaves no version. */
  async patch(call: JsonCall): Promise<JsonAnswer> {
    const action = 'config.update';
    const patch = this.#readPatch(call, action);
    const { decoded, changes } = this.#views.patched(call, patch);
    const { running } = this.#host.applier;
    if (!decoded)
      return {
        status: 200,
        body: { status: 'updated', version: running.version, changes },
        headers: ['ETag', etagOf(running)],
      };
    return this.#mutate(call, {
      action,
      target: '*',
      act: async () => this.#host.applier.apply(decoded, this.#writerOf(call)),
      detail: detailOf,
      answer: ({ entry: { version } }) => ({ status: 200, body: { status: 'updated', version, changes } }),
    });
  }

  reset(call: JsonCall): Promise<JsonAnswer> {
    return this.#mutate(call, {
      action: 'config.delete',
      target: '*',
      act: async () => this.#host.applier.reset(this.#writerOf(call)),
      detail: () => undefined,
      answer: () => ({ status: 200, body: { status: 'deleted' } }),
    });
  }

  async rollBack(call: JsonCall): Promise<JsonAnswer> {
    const version = askedVersion(call);
    const [action, target] = ['config.rollback', call.parameter('version')];
    const [history, found] = await this.#history(call, { action, target, version });
    if (!found) {
      this.#auditor.record(call, { action, target, outcome: 'denied', detail: { reason: 'version_not_found' } });
      throw noVersion(target);
    }
    const { isDurable } = this.#host.stores.configuration.value;
    const size = isDurable ? history.length + 1 : Math.min(history.length + 1, MOST_VERSIONS);
    return this.#mutate(call, {
      action,
      target,
      act: async () => this.#host.applier.apply(decodeStored(found.text), this.#writerOf(call), 'rollback'),
      detail: ({ entry }) => ({ rolled_back_from: entry.rolledBackFrom }),
      answer: () => ({
        status: 200,
        body: { status: 'rolled_back', rolled_back_to: found.version, current_history_size: size },
      }),
    });
  }

  #readPatch(call: JsonCall, action: string): PatchBody {
    return this.#withoutMarkers(call, action, () => readPatchOf(call));
  }

  /** The configuration that the body holds. */
  #read(call: JsonCall, action: string): Decoded {
    return this.#withoutMarkers(call, action, () => {
      refusePatch(call);
      return readConfiguration(call.bytes);
    });
  }

  /** A body with the mark of a hidden secret leaves a row of its own. */
  #withoutMarkers<T>(call: JsonCall, action: string, read: () => T): T {
    try {
      return read();
    } catch (error) {
      const field = error instanceof RefusedConfiguration ? error.field : undefined;
      if (field !== undefined)
        this.#auditor.record(call, {
          action,
          target: '*',
          outcome: 'denied',
          detail: { field, reason: 'redacted_secret' },
        });
      throw error;
    }
  }

  /** What is shown of the history, and one version of it, which may be older. */
  #history(
    call: JsonCall,
    { action, target, version }: { readonly action: string; readonly target: string; readonly version: number },
  ): Promise<readonly [shown: readonly ConfigurationVersion[], found: ConfigurationVersion | undefined]> {
    const { log, stores } = this.#host;
    const { value: store } = stores.configuration;
    const read = async () => {
      const found = await keptVersion(store, version);
      return [await store.history({ isBare: true }), found] as const;
    };
    return reading(read(), log).catch((error: unknown) => {
      this.#auditor.failed(call, { action, target, error });
      throw error;
    });
  }

  /** As `POST /admin/config/diff` says it; of a rollback its versions too. */
  #changes(before: Fields, { entry }: Applied): readonly AuditChange[] {
    const after = this.#host.applier.running.document;
    const fields = changesBetween(this.#scrubber, before, after).map(({ path, ...sides }) => ({
      field: path,
      ...sides,
    }));
    if (entry.rolledBackFrom === undefined) return fields;
    return [{ field: 'version', before: entry.rolledBackFrom, after: entry.version }, ...fields];
  }

  #writerOf({ principal, request }: JsonCall): Writer {
    return { actor: actorOf(principal), ...wantedVersion(request, this.#host.applier.running) };
  }

  async #mutate(call: JsonCall, { action, target, act, detail, answer }: Mutation): Promise<JsonAnswer> {
    const { config } = this.#host.current ?? {};
    const { document } = this.#host.applier.running;
    try {
      const applied = await act().catch(asRefusal);
      const providers = providerChanges(config?.providers, applied.generation.config.providers);
      const said = detail(applied);
      this.#auditor.record(call, {
        action,
        target,
        outcome: 'ok',
        detail: providers ? { ...said, providers } : said,
        changes: this.#changes(document, applied),
        configVersion: applied.entry.version,
      });
      const { status, body, headers = [] } = answer(applied);
      return { status, body, headers: [...headers, 'ETag', etagOf(applied.entry)] };
    } catch (error) {
      if (error instanceof RefusedConfiguration && error.fieldReason !== undefined) {
        const { field, fieldReason: reason } = error;
        this.#auditor.record(call, { action, target, outcome: 'denied', detail: { field, reason } });
      } else this.#auditor.failed(call, { action, target, error });
      throw error;
    }
  }
}

const detailOf = ({
  generation: {
    config: { plugins, strategy, targets },
  },
}: Applied): Record<string, unknown> => ({
  plugins: plugins.length,
  strategy: strategy.mode,
  targets: targets.length,
});

function asRefusal(error: unknown): never {
  throw error instanceof ConfigRefused ? new RefusedConfiguration('invalid_config', error.problems) : error;
}
