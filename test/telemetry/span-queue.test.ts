import { expect } from 'chai';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { SpanQueue } from '../../builtins/telemetry/tracing/span-queue.ts';
import { tracingEndpoint } from '../../host/config/tracing-endpoint.ts';
import { createCounters } from '../../host/state/counters.ts';
import { type FakeClock, fakeClock } from '../kit/index.ts';

describe('spans that wait', () => {
  interface Waiting {
    readonly queue: SpanQueue;
    readonly clock: FakeClock;
    readonly batches: number[];
    readonly told: string[];
    lost(): number;
  }

  function waiting(exporter: Partial<SpanExporter>): Waiting {
    const clock = fakeClock();
    const batches: number[] = [];
    const told: string[] = [];
    let lost = 0;
    const counters = createCounters();
    counters.attach({
      add: (_name, _labels, by) => {
        lost += by;
      },
      observe: () => {},
    });
    const tell = (message: string, attributes: object = {}): void =>
      void told.push(`${message} ${JSON.stringify({ ...attributes, error: undefined })}`);
    const counting: SpanExporter = {
      shutdown: async () => {},
      ...exporter,
      export: (spans, done) => {
        batches.push(spans.length);
        exporter.export?.(spans, done);
      },
    };
    return {
      queue: new SpanQueue({
        exporter: counting,
        clock,
        counters,
        batches: { mostSpans: 2048, batchSpans: 512, delayMs: 5000 },
        log: { debug: tell, info: tell, warn: tell, error: tell },
      }),
      clock,
      batches,
      told,
      lost: () => lost,
    };
  }

  const fill = ({ queue }: Waiting, count: number): void => {
    for (let at = 0; at < count; at += 1) queue.onEnd({} as ReadableSpan);
  };

  it('are no more than 2,048 while a collector takes its time; the others are lost, counted and logged', () => {
    const silent = waiting({});
    fill(silent, 512 + 2048 + 130);
    expect([silent.batches, silent.lost()]).to.deep.equal([[512], 130]);
    expect(silent.told).to.deep.equal([1, 65, 129].map((lost) => `the queue of spans is full {"lost":${lost}}`));
  });

  it('leave after five seconds, and at once when they are many', async () => {
    const quick = waiting({ export: (_spans, done) => done({ code: 0 }) });
    fill(quick, 3);
    expect(quick.batches).to.deep.equal([]);
    quick.clock.advance(5000);
    expect(quick.batches).to.deep.equal([3]);
    await quick.queue.forceFlush();
    fill(quick, 512);
    expect(quick.batches).to.deep.equal([3, 512]);
    await quick.queue.close(1000);
  });

  it('have so long to leave at the end, and the exporter as long to close', async () => {
    const hanging = waiting({ shutdown: () => new Promise(() => {}) });
    fill(hanging, 600);
    const closing = hanging.queue.close(1000);
    for (let turn = 0; turn < 2; turn += 1) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      hanging.clock.advance(1001);
    }
    await closing;
    expect(hanging.told).to.deep.equal([
      'spans were lost at the end {"spans":600}',
      'the exporter of spans could not be closed {}',
    ]);
    expect(hanging.lost()).to.equal(600);
    fill(hanging, 1);
    expect(hanging.batches).to.deep.equal([512]);
  });
});

describe('an address of spans', () => {
  it('is one of the accepted forms, and each means what docs/configuration.md says', () => {
    const http = (text: string): string | undefined => tracingEndpoint(text, 'http/protobuf')?.url;
    const grpc = (text: string): string | undefined => tracingEndpoint(text, 'grpc')?.url;
    for (const wrong of [
      'grpc://c:4317',
      'http://',
      'https:///path',
      '127.0.0.1:4318/v1/traces',
      'http://coll ector:4318',
      'collector',
      ':4317',
      'ftp://h',
      '//h',
      'http://h:99999',
      '${WHERE}',
    ]) {
      expect([wrong, http(wrong), grpc(wrong)]).to.deep.equal([wrong, undefined, undefined]);
    }
    const rows = [
      ['http://h:4318', 'http://h:4318/v1/traces', 'http://h:4318'],
      ['http://h/otlp', 'http://h/otlp/v1/traces', 'http://h'],
      ['http://h/v1/traces/', 'http://h/v1/traces', 'http://h'],
      ['https://h/otlp/', 'https://h/otlp/v1/traces', 'https://h'],
      ['h:4317', 'http://h:4317/v1/traces', 'http://h:4317'],
      ['127.0.0.1:4317', 'http://127.0.0.1:4317/v1/traces', 'http://127.0.0.1:4317'],
      ['[::1]:4317', 'http://[::1]:4317/v1/traces', 'http://[::1]:4317'],
    ] as const;
    for (const [written, asHttp, asGrpc] of rows)
      expect([written, http(written), grpc(written)]).to.deep.equal([written, asHttp, asGrpc]);
    expect(tracingEndpoint('https://h:1/a', 'grpc')?.isEncrypted).to.equal(true);
    expect(tracingEndpoint('http://h/a', 'http/protobuf', true)?.url).to.equal('http://h/a');
  });
});
