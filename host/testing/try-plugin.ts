import { replyProblem, requestProblem } from '../boundary/bodies.ts';
import { passedOn, requireJson } from '../boundary/passed-chunks.ts';
import { refusePromise } from '../boundary/thenable.ts';
import {
  type ChatChunk,
  type Exchange,
  type Fields,
  isFields,
  type PluginDeps,
  type PluginHandlers,
  type PluginModule,
  setMember,
  type Stage,
  type Surface,
  type Verdict,
} from '../contract/index.ts';
import { settingsProblems } from '../config/module-settings.ts';
import { checkHandlers } from '../generation/create-plugin.ts';
import { type ExchangeFacts, type Heard, madeUpExchange, madeUpPluginDeps, nothingHeard } from './made-up.ts';

/** What became of an exchange that one plugin saw. */
export interface Tried extends Heard {
  /** By stage, of those that ran; `undefined`: go on. */
  readonly verdicts: { readonly [S in Stage]?: Verdict | undefined };
  /** Chunks that its stream guard let through; of a refused stream, those before. */
  readonly chunks: readonly ChatChunk[];
  /** The reason of the first refusal, by a stage or by the stream guard. */
  readonly rejection: string | undefined;
  readonly handlers: PluginHandlers;
}

interface TryOptions {
  /** Chunks of a streamed answer; they pass the plugin's stream guard. */
  readonly chunks?: readonly ChatChunk[];
  readonly deps?: Partial<PluginDeps>;
}

/**
 * Makes a plugin with these settings and shows it one exchange: `before_request`; the answer, where the facts hold a `reply`
 * or the options `chunks`; `on_error`, where they hold an `error`; then `finished` and `dispose`. Throws what the plugin throws, and for
 * settings that its schema refuses.
 */
export async function tryPlugin<S extends object>(
  module: PluginModule<S>,
  settings: object,
  facts: ExchangeFacts = {},
  { chunks = [], deps = {} }: TryOptions = {},
): Promise<Tried> {
  const checked = settingsProblems(module.settings, settings, 'config');
  if (checked.problems.length > 0)
    throw new Error(checked.problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
  const heard = nothingHeard();
  const handlers: unknown = await module.create(checked.settings as S, madeUpPluginDeps(heard, deps));
  checkHandlers(handlers);
  const exchange = madeUpExchange(facts, heard);
  const verdicts: { [stage: string]: Verdict | undefined } = {};
  const run = async (stage: Stage): Promise<void> => {
    if (handlers[stage]) setMember(verdicts, stage, await verdictOf(handlers, stage, { ...exchange, stage }));
  };
  await run('before_request');
  const guarded = guardChunks(handlers, exchange, chunks);
  if (exchange.reply !== undefined || chunks.length > 0) await run('after_request');
  if (exchange.error) await run('on_error');
  handlers.finished?.(exchange, exchange.error ? 'error' : 'success');
  await handlers.dispose?.();
  const rejected = [verdicts['before_request'], guarded.rejection, verdicts['after_request']].find(
    (verdict) => verdict?.action === 'reject',
  );
  return {
    ...heard,
    verdicts,
    chunks: guarded.passed,
    rejection: rejected?.action === 'reject' ? rejected.reason : undefined,
    handlers,
  };
}

/** Anything but a verdict is a fault of the plugin, and so is a body that does not fit the surface, as in the gateway. */
async function verdictOf(handlers: PluginHandlers, stage: Stage, exchange: Exchange): Promise<Verdict | undefined> {
  const verdict: unknown = await handlers[stage]?.(exchange);
  if (verdict === undefined) return undefined;
  const problem = isFields(verdict)
    ? verdictProblem(verdict, stage, exchange.surface)
    : 'something that is not a verdict: return undefined to go on';
  if (problem !== undefined) throw new Error(`${stage} returned ${problem}`);
  return verdict as unknown as Verdict;
}

function verdictProblem({ action, reply, body }: Fields, stage: Stage, surface: Surface): string | undefined {
  if (action === 'reject') return undefined;
  if (action !== 'answer' && action !== 'rewrite') return 'something that is not a verdict: return undefined to go on';
  const problem =
    action === 'rewrite' && stage === 'before_request'
      ? requestProblem(surface, body)
      : replyProblem(surface, action === 'answer' ? reply : body);
  return problem === undefined
    ? undefined
    : `${action === 'answer' ? 'an answer' : 'a rewrite'} that does not fit ${surface}: ${problem}`;
}

function guardChunks(
  handlers: PluginHandlers,
  exchange: Exchange,
  chunks: readonly ChatChunk[],
): { passed: readonly ChatChunk[]; rejection: Verdict | undefined } {
  const guard = chunks.length > 0 ? handlers.stream?.(exchange) : undefined;
  if (!guard) return { passed: chunks, rejection: undefined };
  refusePromise(guard);
  const passed: ChatChunk[] = [];
  for (const chunk of chunks) {
    const result = checked(guard.push(structuredClone(chunk)), 'push');
    if ('action' in result) return { passed, rejection: result };
    for (const one of result) passed.push(one);
  }
  const rest = checked(guard.end(), 'end');
  return 'action' in rest ? { passed, rejection: rest } : { passed: [...passed, ...rest], rejection: undefined };
}

/** As the gateway looks at what a third-party guard returns. */
function checked(result: unknown, from: 'push' | 'end'): ReturnType<typeof passedOn> {
  const passed = passedOn(result, from);
  if (!('action' in passed)) requireJson(passed, from);
  return passed;
}
