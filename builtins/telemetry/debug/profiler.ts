import type { Profiler as Cpu } from 'node:inspector';
import type { Session } from 'node:inspector/promises';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { GatewayError } from '../../../host/contract/index.ts';
import { pprofBytes } from './pprof-format.ts';
import { cpuProfile, CPU_INTERVAL_US, heapProfile, HEAP_INTERVAL_BYTES, type SampledHeap } from './profiles.ts';

const zip = promisify(gzip);

/** Looks into this process: its heap from the moment it is opened on, its CPU when asked, its event loop all along. */
export class Profiler {
  readonly #session: Session;
  readonly #delay: ReturnType<typeof monitorEventLoopDelay>;
  #isBusy = false;

  private constructor(session: Session, delay: ReturnType<typeof monitorEventLoopDelay>) {
    this.#session = session;
    this.#delay = delay;
  }

  static async open(): Promise<Profiler> {
    const { default: inspector } = await import('node:inspector/promises');
    const session = new inspector.Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_US });
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES });
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    return new Profiler(session, delay);
  }

  /** V8's own form, for as long as `until` takes. One at a time: V8 has one profiler for all. */
  async cpu(until: () => Promise<void>): Promise<Cpu.Profile> {
    if (this.#isBusy)
      throw new GatewayError('invalid_request', 'a CPU profile is being taken already', { status: 409 });
    this.#isBusy = true;
    try {
      await this.#session.post('Profiler.start');
      await until();
      return (await this.#session.post('Profiler.stop')).profile;
    } finally {
      this.#isBusy = false;
    }
  }

  async cpuPprof(until: () => Promise<void>, now: () => number): Promise<Buffer> {
    const { root, facts } = cpuProfile(await this.cpu(until), now());
    return zip(pprofBytes(root, facts));
  }

  async heapPprof(now: () => number): Promise<Buffer> {
    const { profile } = await this.#session.post('HeapProfiler.getSamplingProfile');
    const { root, facts } = heapProfile(profile as unknown as SampledHeap, now());
    return zip(pprofBytes(root, facts));
  }

  /** Milliseconds by which timers were late, and the share of the time in which the loop was busy, since the profiler was opened. */
  eventLoop(): object {
    const ms = (ns: number): number | null => (Number.isFinite(ns) ? ns / 1e6 : null);
    const { utilization } = performance.eventLoopUtilization();
    const { min, mean, max, stddev } = this.#delay;
    const [p50, p90, p99] = [50, 90, 99].map((percentile) => ms(this.#delay.percentile(percentile)));
    return { utilization, delay_ms: { min: ms(min), mean: ms(mean), max: ms(max), stddev: ms(stddev), p50, p90, p99 } };
  }

  close(): void {
    this.#delay.disable();
    this.#session.disconnect();
  }
}
