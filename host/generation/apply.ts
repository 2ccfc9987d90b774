import type { Decoded } from '../config/decode.ts';
import type { GatewayConfig } from '../config/document.ts';
import { ConfigRefused, parsePath, type Problem } from '../config/problems.ts';
import { GatewayError } from '../contract/index.ts';
import { secretsOf } from '../config/secrets.ts';
import type { Redactor } from '../log/redact.ts';
import { refuseStale, type Writer } from '../stores/configuration-store.ts';
import type { Stores } from '../stores/stores.ts';
import { Cancellation } from '../upstream/cancellation.ts';
import type { CheckContext } from '../config/rules/rule.ts';
import type { Registry } from '../registry/registry.ts';
import { type AssemblyHooks, buildGeneration, type GenerationDeps } from './build.ts';
import type { Generation } from './generation.ts';
import type { Slot } from './slot.ts';

/** What checking a configuration needs of the host. */
export interface CheckDeps {
  readonly registry: Registry;
  readonly redactor: Redactor;
  readonly hooks: { readonly checkConfig: { call(config: GatewayConfig, context: CheckContext): void } };
}

/**
 * Everything that is wrong with a decoded document, decoding included. Reads nothing, opens nothing. From here on its secrets
 * are in no log line and no error, those about itself included.
 */
export function checkConfig({ hooks, registry, redactor }: CheckDeps, decoded: Decoded): readonly Problem[] {
  const { config, problems: found, lineOf } = decoded;
  if (!config) return found;
  for (const secret of secretsOf(config)) redactor.register(secret);
  const problems: Problem[] = [...found];
  const isVoid = voidedBy(found.filter(({ rule }) => rule === 'DC02').map(({ path }) => path));
  hooks.checkConfig.call(config, {
    known: registry,
    report: (problem) => {
      if (isVoid(problem)) return;
      const { needs: _, ...reported } = problem;
      problems.push({ ...reported, line: lineOf(parsePath(reported.path)) });
    },
  });
  return problems;
}

/**
 * Whether a problem says only that something is missing which could not be decoded: the decoding problem has said that
 * already. Takes time in proportion to the length of the problem's path, however much could not be decoded.
 */
function voidedBy(mistyped: readonly string[]): (problem: Problem) => boolean {
  if (mistyped.length === 0) return () => false;
  const wrong = new Set(mistyped);
  const holders = new Set(mistyped.map((path) => path.replace(/(\.[^.[\]]+|\[\d+\])$/, '')));
  const needed = new Map<string, boolean>();
  const isNeeded = (needs: RegExp): boolean => {
    const known = needed.get(needs.source) ?? mistyped.some((path) => needs.test(path));
    needed.set(needs.source, known);
    return known;
  };
  return ({ path, needs }) => {
    if (wrong.has(path) || holders.has(path)) return true;
    for (const { index } of path.matchAll(/[.[]/g)) if (wrong.has(path.slice(0, index))) return true;
    return needs !== undefined && isNeeded(needs);
  };
}

/** What applying a configuration needs of the host. */
export interface ApplierDeps extends GenerationDeps {
  readonly redactor: Redactor;
  readonly stores: Pick<Stores, 'configuration' | 'requestLog' | 'ledgers'>;
  readonly hooks: AssemblyHooks & CheckDeps['hooks'];
  readonly slot: Slot;
  /** True once the process is ending: nothing is built for it any more. */
  readonly isDraining: boolean;
}

export interface Applier {
  /**
   * Checks, builds, persists and swaps in what a writer wants; one at a time. Changes nothing unless all of it succeeds, and
   * throws `ConfigRefused` for problems of the configuration, `version_conflict` for a writer that missed a version, and
   * `internal_error` when it could not be persisted. Once it is persisted no later step can fail.
   */
  apply(decoded: Decoded, writer: Writer): Promise<Generation>;
  /** The same for what a start begins with: no change, so it is neither persisted nor given a version. */
  applyStart(decoded: Decoded): Promise<Generation>;
  /** The same for a configuration made by the host itself, which may have no target at all. */
  applyDefault(config: GatewayConfig): Promise<Generation>;
  /** Builds the configuration that serves once more, because what surrounds it changed: the catalog, the live models. Nothing while the gateway closes. */
  refresh(): Promise<void>;
  /** Accepts no configuration any more: those that wait are refused, and a generation that is still being built is closed once it is ready. */
  close(): void;
}

/** The only writer of the slot. A failure leaves the old generation serving. */
export function createApplier(deps: ApplierDeps): Applier {
  let number = 0;
  let queue: Promise<unknown> = Promise.resolve();
  const closing = new Cancellation();

  const swapIn = async (config: GatewayConfig, writer?: Writer): Promise<Generation> => {
    const generation = await buildGeneration(deps, config, number + 1);
    try {
      closing.throwIfCancelled();
      if (writer) await persist(deps, config, writer);
      closing.throwIfCancelled(); // what was persisted is what the next start begins with
    } catch (error) {
      await generation.dispose().catch((cause: unknown) => deps.services.log.error('a configuration could not be closed', { generation: generation.number, error: cause }));
      throw error;
    }
    number += 1;
    deps.slot.swap(generation);
    return generation;
  };

  const checkAndSwap = async (decoded: Decoded, writer?: Writer): Promise<Generation> => {
    if (writer) refuseStale(writer, deps.stores.configuration.value);
    const problems = checkConfig(deps, decoded);
    if (problems.length > 0 || !decoded.config) throw new ConfigRefused(problems);
    return swapIn(decoded.config, writer);
  };

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = queue.then(() => {
      closing.throwIfCancelled();
      return work();
    });
    queue = turn.catch(() => {}); // the caller gets the error; the next change starts all the same
    return closing.race(turn);
  };

  return {
    apply: (decoded, writer) => inTurn(() => checkAndSwap(decoded, writer)),
    applyStart: (decoded) => inTurn(() => checkAndSwap(decoded)),
    applyDefault: (config) => inTurn(() => swapIn(config)),
    refresh: () => inTurn(async () => {
      const { current } = deps.slot;
      if (current && !deps.isDraining) await swapIn(current.config);
    }).catch((error: unknown) => { if (error !== closing.cause) throw error; }),
    close: () => closing.cancel(new GatewayError('upstream_unavailable', 'the gateway is shutting down')),
  };
}

/** A refusal of the store goes to the caller as it is; the reason for its other errors is in the log only. */
async function persist({ stores }: ApplierDeps, config: GatewayConfig, writer: Writer): Promise<void> {
  try {
    await stores.configuration.value.append({ ...writer, config });
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : new GatewayError('internal_error', 'the configuration could not be stored; the one before goes on serving', { cause });
  }
}
