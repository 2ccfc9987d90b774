/** Statuses that `echo-error-<status>` answers with. */
export const ERROR_STATUSES = [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504] as const;

/** Every model name that echo lists. */
export const ECHO_MODELS: readonly string[] = [
  'echo',
  'echo-slow',
  'echo-tools',
  'echo-break',
  'echo-cut',
  ...ERROR_STATUSES.map((status) => `echo-error-${status}`),
];

/** What a model name asks for. Any other name behaves like `echo`. */
export interface Behaviour {
  /** Milliseconds before the first word and between words. */
  readonly pauseMs: number;
  /** HTTP status to fail with. */
  readonly errorStatus: number | undefined;
  /** How a stream ends: complete, with an error event, or without its end. */
  readonly ending: 'complete' | 'error' | 'cut';
  /** Calls the first of the request's tools instead of answering. */
  readonly callsTool: boolean;
}

const SLOW_PAUSE_MS = 300;

export function behaviourOf(model: string): Behaviour {
  const status = /^echo-error-([45]\d\d)$/.exec(model)?.[1];
  return {
    pauseMs: model === 'echo-slow' ? SLOW_PAUSE_MS : 0,
    errorStatus: status === undefined ? undefined : Number(status),
    ending: model === 'echo-break' ? 'error' : model === 'echo-cut' ? 'cut' : 'complete',
    callsTool: model === 'echo-tools',
  };
}
