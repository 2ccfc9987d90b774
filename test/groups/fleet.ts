import {
  type Answer,
  ask,
  chatChunks,
  chatReply,
  openSse,
  replyJson,
  replyStream,
  sseEvent,
  startHost,
  stubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

export const PATH = '/v1/chat/completions';

/** What an upstream does with a call: it answers, or fails with a status and perhaps a body. */
export type Does = number | { readonly status: number; readonly body: object };

/** It never answers. */
export const HANGS: Does = 0;
/** Its stream breaks off behind the first chunk. */
export const BREAKS: Does = 1;

/** Routes, each as `target` or `target/model`. */
export const to = (...routes: string[]): { readonly routes: readonly object[] } => ({
  routes: routes.map((route) => {
    const [, target, model] = /^([^/]+)(?:\/(.*))?$/s.exec(route) ?? [];
    return { target, ...(model !== undefined && { model }) };
  }),
});

/** A prompt that is too long, in the words of OpenAI. */
export const TOO_LONG: Does = {
  status: 400,
  body: { error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' } },
};

export interface Fleet {
  readonly host: TestHost;
  /** What it was started with. */
  readonly config: object;
  /** Calls that upstreams got, in order: `a/gpt-5`. */
  readonly calls: string[];
  /** What calls do that are named here, as in `calls`; all others answer. */
  readonly does: Map<string, Does>;
  /** Runs while an upstream has a call. */
  pause: (() => void) | undefined;
  /** Asks for a model, and says what came of it. */
  ask(model: string, more?: object, headers?: Record<string, string>): Promise<Outcome>;
}

export interface Outcome {
  readonly status: number;
  /** The error's code, where it is one. */
  readonly code: string | undefined;
  readonly target: string | null;
  readonly model: string | null;
  readonly attempts: string | null;
  readonly calls: readonly string[];
  readonly answer: Answer;
}

interface FleetOptions extends TestHostOptions {
  /** Members of single targets. */
  readonly more?: Readonly<Record<string, object>>;
  /** Targets of other providers, behind the stubs. */
  readonly targets?: readonly object[];
}

/** A gateway whose targets are stub upstreams of these names. */
export async function startFleet(
  names: readonly string[],
  document: object,
  { more = {}, targets: others = [], ...options }: FleetOptions = {},
): Promise<Fleet> {
  const calls: string[] = [];
  const does = new Map<string, Does>();
  const targets: object[] = [];
  const state: Upstreams = { calls, does, pause: undefined };
  for (const name of names) targets.push((await upstream(name, state)).target(name, { models: [], ...more[name] }));
  const config = { strategy: { mode: 'fallback' }, ...document, targets: [...targets, ...others] };
  const host = await startHost(config, options);
  return Object.assign(state, {
    host,
    config,
    ask: async (model: string, body: object = {}, headers: Record<string, string> = {}): Promise<Outcome> => {
      const before = calls.length;
      const answer = await host.post(PATH, ask('hi', { model, ...body }), headers);
      return {
        status: answer.status,
        code: answer.status === 200 ? undefined : answer.json().error.code,
        target: answer.headers.get('x-gateway-target'),
        model: answer.headers.get('x-gateway-model'),
        attempts: answer.headers.get('x-gateway-attempts'),
        calls: calls.slice(before),
        answer,
      };
    },
  });
}

type Upstreams = Pick<Fleet, 'calls' | 'does' | 'pause'>;

function upstream(name: string, state: Upstreams): ReturnType<typeof stubUpstream> {
  return stubUpstream((request, response) => {
    const body = request.json();
    const call = `${name}/${String(body['model'])}`;
    const { calls, does } = state;
    calls.push(call);
    state.pause?.();
    const what = does.get(call) ?? does.get(name);
    if (what === undefined) {
      if (body['stream'] === true) replyStream(response, ['hello']);
      else replyJson(response, 200, chatReply('hello'));
    } else if (what === HANGS) return;
    else if (what === BREAKS) {
      openSse(response);
      response.write(sseEvent(chatChunks(['hello'])[0]));
      setImmediate(() => response.destroy());
    } else if (typeof what === 'number') replyJson(response, what, { error: { message: 'no' } });
    else replyJson(response, what.status, what.body);
  });
}
