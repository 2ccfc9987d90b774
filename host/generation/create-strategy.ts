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

/** Where a strategy comes from: the file of its module, and the path of its block in the document. */
interface Origin {
  readonly file: string | undefined;
  readonly place: string;
}

/** Makes a strategy with these settings. What it throws, or returns instead of a ranking, refuses the configuration. */
export function createRunning(
  module: StrategyModule,
  settings: object,
  deps: StrategyDeps,
  { file, place }: Origin,
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
    const at = file === undefined ? undefined : faultPlace(error, file);
    why = `${errorMessage(error)}${at ? ` at ${placeText(at)}` : ''}`;
    frame = at && codeFrame(at);
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
      path: place,
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
