import cluster, { type Worker } from 'node:cluster';
import type { Readable } from 'node:stream';
import type { Frame, Port } from '../channel.ts';

/** Why a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process that the primary has made. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  readonly port: Port;
  /** Called once. */
  onEnd(listener: (end: ProcessEnd) => void): void;
  kill(): void;
}

export interface ForkOptions {
  /** The bin, which a worker runs as the primary does. */
  readonly program: string;
  readonly args: readonly string[];
  readonly onOutput: (stream: Readable, descriptor: 1 | 2) => void;
}

/** Makes processes of `node:cluster`, each with pipes of its own for what it writes. */
export function workerForks({ program, args, onOutput }: ForkOptions): () => WorkerProcess {
  cluster.setupPrimary({ exec: program, args: [...args], serialization: 'advanced', silent: true });
  return () => {
    const worker = cluster.fork();
    const { stdout, stderr } = worker.process;
    if (stdout) onOutput(stdout, 1);
    if (stderr) onOutput(stderr, 2);
    return {
      pid: worker.process.pid,
      port: portOf(worker),
      onEnd: (listener) =>
        void worker.once('exit', (code: number | null, signal: string | null) => listener({ code, signal })),
      kill: () => void worker.process.kill('SIGKILL'),
    };
  };
}

function portOf(worker: Worker): Port {
  return {
    send: (frames) => worker.isConnected() && worker.send(frames, () => {}), // one that has gone is heard of by its end
    listen: (hear) => void worker.on('message', (frames: readonly Frame[]) => hear(frames)),
  };
}

/** This process is a worker. */
export const isWorker = (): boolean => cluster.isWorker;

/** The way of a worker to its primary. */
export function primaryPort(): Port {
  process.channel?.ref(); // a worker lives for as long as its primary wants it
  return {
    send: (frames) => process.connected && process.send?.(frames, undefined, undefined, () => {}) === true,
    listen: (hear) => void process.on('message', (frames) => hear(frames as readonly Frame[])),
  };
}

/** Calls once the primary has gone. */
export function onPrimaryGone(listener: () => void): void {
  process.once('disconnect', listener);
}
