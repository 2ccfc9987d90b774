import { errorMessage } from '../common/error-message.ts';
import { ConfigRefused } from '../config/problems.ts';
import {
  isFields,
  type Rank,
  type RunningStrategy,
  type StrategyDeps,
  type StrategyModule,
} from '../contract/index.ts';
import { codeFrame, faultPlace, placeText } from '../registry/fault-place.ts';

/** Makes a strategy with these settings. What it throws, or returns instead of a ranking, refuses the configuration. */
export function createRunning(
  module: StrategyModule,
  settings: object,
  deps: StrategyDeps,
  file: string | undefined,
): RunningStrategy {
  let made: unknown;
  let why = 'its create returns neither a function nor an object with rank';
  let frame: string | undefined;
  try {
    made = module.create(settings, deps);
    if (made instanceof Promise) {
      why = 'its create returns a promise: it is synchronous';
      made.catch(() => {}); // it is refused, however it ends
    }
  } catch (error) {
    const place = file === undefined ? undefined : faultPlace(error, file);
    why = `${errorMessage(error)}${place ? ` at ${placeText(place)}` : ''}`;
    frame = place && codeFrame(place);
  }
  if (typeof made === 'function') return { rank: made as Rank };
  if (isRunning(made))
    return {
      rank: made.rank.bind(made),
      ...(made.settled && { settled: made.settled.bind(made) }),
      ...(made.dispose && { dispose: made.dispose.bind(made) }),
    };
  throw new ConfigRefused([
    {
      path: 'strategy',
      rule: 'PB01',
      message: `strategy "${module.name}" cannot be built: ${why}`,
      fix: 'correct its settings or the module',
      frame,
    },
  ]);
}

function isRunning(made: unknown): made is RunningStrategy {
  const isAbsentOrFunction = (value: unknown): boolean => value === undefined || typeof value === 'function';
  return (
    isFields(made) &&
    typeof made['rank'] === 'function' &&
    isAbsentOrFunction(made['settled']) &&
    isAbsentOrFunction(made['dispose'])
  );
}
