import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { bearer, defineProvider, type ProviderModule } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { atEnd } from '../cleanup.ts';
import { stubProvider, type StubTarget } from '../upstream.ts';
import { type GoodAnswer, goodAnswer } from './answers.ts';
import { playOf } from './kinds.ts';
import { type Move, sized } from './moves.ts';
import { seeded, seedFor } from './random.ts';
import { readRequests, type WireCall } from './requests.ts';
import type { FaultScript, FaultStep } from './script.ts';

/** One request and what it met. */
export interface Played {
  readonly call: WireCall;
  readonly place: number;
  readonly key: string;
  /** `undefined` for a path that the common wire does not have. */
  readonly answer: GoodAnswer | undefined;
  readonly step: FaultStep;
  readonly moves: readonly Move[];
}

export interface FaultUpstreamOptions {
  readonly script: FaultScript;
  /** Says itself what happens on the connection, for requests that the script does not decide. */
  readonly play?: (call: WireCall, answer: GoodAnswer) => readonly Move[] | undefined;
  readonly seed?: number;
  readonly port?: number;
  /**
   * What names a request, so that its fault depends on nothing else: with requests at the same time their order is not
   * the same twice. Its place in the order, unless said.
   */
  readonly keyOf?: (call: WireCall) => string | undefined;
  readonly onPlay?: (played: Played) => void;
  /** A connection goes silent now. */
  readonly onHang?: (played: Played) => void;
  /** The other side left before everything was played. */
  readonly onLeft?: (played: Played) => void;
  /** Keeps what was played; true unless said. */
  readonly remembers?: boolean;
}

export interface FaultUpstream {
  readonly url: string;
  readonly port: number;
  readonly played: readonly Played[];
  readonly sockets: ReadonlySet<Socket>;
  /** Requests that are being answered, silence included. */
  readonly busy: number;
  /** A target that calls it on every surface of the common wire; it serves model `m` unless `more` says otherwise. */
  target(name: string, more?: object, module?: Partial<ProviderModule>): StubTarget;
  close(): Promise<void>;
}

const EVERY_SURFACE = [
  'chat',
  'embeddings',
  'images',
  'images.edits',
  'audio.speech',
  'audio.transcriptions',
  'audio.translations',
  'rerank',
  'moderations',
] as const;

/** An upstream that misbehaves as the script says, on a port of its own; gone after the test. */
export async function faultUpstream(options: FaultUpstreamOptions): Promise<FaultUpstream> {
  const stage = new Stage(options);
  const port = await stage.listen(options.port ?? 0);
  const url = `http://127.0.0.1:${port}`;
  const close = (): Promise<void> => stage.close();
  atEnd(close);
  const provider = (name: string, module: Partial<ProviderModule>): ProviderModule =>
    defineProvider({
      name,
      wire: 'common',
      params: {},
      translators: commonTranslators(EVERY_SURFACE, {}),
      ...module,
      connection: { env: ['STUB_API_KEY'], baseUrl: url, authorize: bearer('STUB_API_KEY'), ...module.connection },
    });
  return {
    url,
    port,
    close,
    played: stage.played,
    sockets: stage.sockets,
    get busy() {
      return stage.busy;
    },
    target: (name, more = {}, module = {}) => ({
      virtual_key: name,
      models: ['m'],
      ...more,
      [stubProvider]: provider(name, module),
    }),
  };
}

class Stage {
  readonly played: Played[] = [];
  readonly sockets = new Set<Socket>();
  busy = 0;
  readonly #options: FaultUpstreamOptions;
  readonly #server: Server;
  readonly #seen = new Map<string, number>();
  #count = 0;

  constructor(options: FaultUpstreamOptions) {
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.sockets) socket.destroy();
    });
  }

  #serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => {}); // breaking is what connections are for, here
    socket.on('close', () => this.sockets.delete(socket));
    let turn = Promise.resolve();
    readRequests(socket, (call) => {
      turn = turn.then(() => this.#answer(call, socket));
    });
  }

  async #answer(call: WireCall, socket: Socket): Promise<void> {
    const played = this.#decide(call);
    if (this.#options.remembers !== false) this.played.push(played);
    this.busy += 1;
    this.#options.onPlay?.(played);
    for (const move of played.moves) {
      if (socket.destroyed) break;
      if (move.do === 'hang') this.#options.onHang?.(played);
      if (!(await perform(move, socket))) break;
    }
    this.busy -= 1;
    if (socket.destroyed && played.moves.every((move) => move.do !== 'reset')) this.#options.onLeft?.(played);
  }

  #decide(call: WireCall): Played {
    const { script, seed = 1, keyOf } = this.#options;
    const place = this.#count;
    this.#count += 1;
    const named = keyOf?.(call);
    const key = named ?? String(place);
    const nth = named === undefined ? 0 : (this.#seen.get(named) ?? 0);
    if (named !== undefined) this.#seen.set(named, nth + 1);
    const random = seeded(seedFor(seed, `${key} ${nth}`));
    const answer = goodAnswer(call);
    const step: FaultStep =
      answer && answer.surface !== 'models' ? script({ ...call, place, nth, random }) : { fault: 'ok' };
    const moves = answer
      ? (this.#options.play?.(call, answer) ?? playOf(step.fault, { ...step, answer, random }))
      : sized(404, 'application/json', Buffer.from('{"error":{"message":"the lab has no such route"}}'));
    return { call, place, key, answer, step, moves };
  }
}

/** Resolves when it is done; false when nothing can follow. */
function perform(move: Move, socket: Socket): Promise<boolean> {
  if (move.do === 'write')
    return new Promise((resolve) => {
      socket.write(move.bytes, (error) => resolve(!error));
    });
  if (move.do === 'wait') return pauseOf(move.ms, socket);
  if (move.do === 'reset') socket.resetAndDestroy();
  else if (move.do === 'close') socket.end();
  else
    return new Promise((resolve) => {
      socket.once('close', () => resolve(false));
    });
  return Promise.resolve(false);
}

function pauseOf(ms: number, socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const over = (goesOn: boolean) => (): void => {
      clearTimeout(timer);
      socket.off('close', left);
      resolve(goesOn);
    };
    const timer = setTimeout(() => over(true)(), ms);
    const left = over(false);
    socket.once('close', left);
  });
}
