import { expect } from 'chai';
import { tracingSettings } from '../../builtins/telemetry/tracing/settings.ts';
import { ask, startHost, stubUpstream } from '../kit/index.ts';
import { grpcCollector, httpCollector } from '../kit/otlp.ts';
import { serving, traced } from './support/traced.ts';

const CHAT = '/v1/chat/completions';
const traceparent = (flags: string): string => `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`;

describe('where spans go', () => {
  it('takes gRPC, with headers', async () => {
    const collector = await grpcCollector();
    const { host, finished } = await traced({
      collector,
      tracing: { protocol: 'grpc', headers: { 'X-Team': 'a', 'x-token': '${COLLECTOR_TOKEN}' } },
      options: { variables: { COLLECTOR_TOKEN: 'a-token-of-this-test' } },
    });
    await host.post(CHAT, ask());
    expect((await finished()).map(({ name }) => name).toSorted()).to.deep.equal(['POST', 'gateway.request']);
    expect(collector.exports[0]!.headers).to.include({ 'x-team': 'a', 'x-token': 'a-token-of-this-test' });
  });

  it('takes gRPC at a bare address, unless said otherwise', async () => {
    const collector = await grpcCollector();
    const upstream = await stubUpstream(serving);
    const host = await startHost({
      targets: [upstream.target('a')],
      observability: { tracing: { endpoint: new URL(collector.url).host } },
    });
    await host.post(CHAT, ask());
    await host.close();
    expect(collector.spans).to.have.lengthOf(2);
  });

  it('takes HTTP, with headers whose references are there; others are left out with a warning', async () => {
    const headers = {
      'x-token': 'Bearer ${COLLECTOR_TOKEN}',
      'x-absent': '${NOT_THERE}',
      'x-empty': '${NOTHING}',
      'x y': 'z',
    };
    const { host, collector, finished } = await traced({
      tracing: { headers },
      options: { variables: { COLLECTOR_TOKEN: 'a-token-of-this-test', NOTHING: '' } },
    });
    await host.post(CHAT, ask());
    await finished();
    expect(
      collector.exports.map(({ path, headers: sent }) => [path, sent['x-token'], sent['x-absent'], sent['x-empty']]),
    ).to.deep.equal([['/v1/traces', 'Bearer a-token-of-this-test', undefined, undefined]]);
    expect(
      host.lines
        .filter(({ msg }) => msg === 'a header of the trace exporter is left out')
        .map(({ level, header }) => [level, header]),
    ).to.deep.equal([
      ['WARN', 'x-absent'],
      ['WARN', 'x-empty'],
      ['WARN', 'x y'],
    ]);
    expect(host.texts.join('')).to.not.include('a-token-of-this-test');
  });

  for (const [protocol, legal] of [
    ['grpc', ['a', 'B.c_d']],
    ['http', ['a', 'B.c_d', "it's", 'x-bin', 'x-latin']],
  ] as const) {
    it(`takes the headers that ${protocol} can carry; others do not stop the start`, async () => {
      const headers = {
        a: '1',
        'B.c_d': '2',
        "it's": '3',
        'x-bin': '4',
        'x-latin': 'ü',
        'x-euro': '€',
        'x-line': 'a\nb',
        '': 'x',
        ':path': '/',
        'x y': 'z',
      };
      const collector = protocol === 'grpc' ? await grpcCollector() : await httpCollector();
      const { host } = await traced({ collector, tracing: { protocol, headers } });
      await host.post(CHAT, ask());
      await host.close();
      const out = new Set(
        host.lines
          .filter(({ msg }) => msg === 'a header of the trace exporter is left out')
          .map(({ header }) => header),
      );
      expect(Object.keys(headers).filter((name) => !out.has(name))).to.deep.equal(legal);
      expect(collector.exports[0]!.headers).to.include({ a: '1', 'b.c_d': '2' });
    });
  }

  it('is nowhere when its address holds a reference, which is replaced in no address: the start goes on with a warning', async () => {
    for (const endpoint of ['${COLLECTOR}', 'http://${COLLECTOR}:4318', '${NOT_THERE}:4317']) {
      const host = await startHost(
        { targets: [{ virtual_key: 'echo' }], observability: { tracing: { endpoint } } },
        { variables: { COLLECTOR: 'http://127.0.0.1:1' } },
      );
      expect(
        host.lines
          .filter(({ msg }) => String(msg).includes('observability.tracing.endpoint'))
          .map(({ level, endpoint: told }) => [level, told]),
      ).to.deep.equal([['WARN', endpoint]]);
      expect(host.lines.some(({ msg }) => msg === 'tracing enabled')).to.equal(false);
    }
    const collector = await httpCollector();
    const { host } = await traced({
      tracing: { endpoint: '${NOT_THERE}' },
      collector,
      options: { variables: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } },
    });
    await host.post(CHAT, ask());
    await host.close();
    expect(collector.spans, 'the environment goes first').to.have.lengthOf(2);
  });

  it('is what the environment says before the configuration, unless tracing is off', async () => {
    for (const [variable, suffix, path] of [
      ['OTEL_EXPORTER_OTLP_ENDPOINT', '/base', '/base/v1/traces'],
      ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', '/just/this', '/just/this'],
    ] as const) {
      const collector = await httpCollector();
      const variables = {
        [variable]: collector.url + suffix,
        OTEL_SERVICE_NAME: 'named',
        OTEL_RESOURCE_ATTRIBUTES: 'team=a%20b,service.name=other',
      };
      const { host } = await traced({
        tracing: { endpoint: 'http://127.0.0.1:1', protocol: 'http' },
        options: { variables },
      });
      await host.post(CHAT, ask());
      await host.close();
      expect(collector.exports.map((each) => each.path)).to.deep.equal([path]);
      expect(collector.spans[0]!.resource).to.include({ 'service.name': 'named', team: 'a b' });
      const off = await traced({ tracing: { enabled: false }, options: { variables } });
      await off.host.post(CHAT, ask());
      await off.host.close();
      expect([
        off.collector.exports,
        collector.exports.length,
        off.upstream.seen[0]!.headers['traceparent'],
      ]).to.deep.equal([[], 1, undefined]);
    }
  });

  it('is nowhere where the environment switches the SDK or its exporter off, whatever the configuration says', async () => {
    for (const [name, value] of [
      ['OTEL_SDK_DISABLED', 'true'],
      ['OTEL_SDK_DISABLED', ' TRUE '],
      ['OTEL_TRACES_EXPORTER', 'none'],
    ] as const) {
      const { host, collector, upstream } = await traced({
        tracing: { enabled: true },
        options: { variables: { [name]: value } },
      });
      await host.post(CHAT, ask());
      await host.close();
      expect([collector.exports, upstream.seen[0]!.headers['traceparent']], `${name}=${value}`).to.deep.equal([
        [],
        undefined,
      ]);
    }
    for (const [written, warnings] of [
      ['false', 0],
      ['', 0],
      ['1', 1],
      ['yes', 1],
    ] as const) {
      const { host, collector } = await traced({ options: { variables: { OTEL_SDK_DISABLED: written } } });
      await host.post(CHAT, ask());
      await host.close();
      expect(
        [
          collector.spans.length,
          host.lines.filter(({ level, msg }) => level === 'WARN' && String(msg).startsWith('OTEL_SDK_DISABLED')).length,
        ],
        written,
      ).to.deep.equal([2, warnings]);
    }
  });

  it('speaks the protocol of the environment where the configuration names none', async () => {
    const speaks = (variables: Readonly<Record<string, string>>, protocol?: string): string | undefined =>
      tracingSettings({ tracing: { endpoint: 'http://h:1', ...(protocol !== undefined && { protocol }) } }, variables, {
        debug: () => {},
        info: () => {},
        warn: (message) => void told.push(message),
        error: () => {},
      })?.protocol;
    const told: string[] = [];
    const [ALL, SPANS] = ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'];
    expect([
      speaks({}),
      speaks({ [ALL]: ' http/protobuf ' }),
      speaks({ [ALL]: 'http/protobuf', [SPANS]: 'grpc' }),
      speaks({ [ALL]: 'http/protobuf' }, 'grpc'),
      speaks({ [ALL]: '' }),
    ]).to.deep.equal(['grpc', 'http/protobuf', 'grpc', 'grpc', 'grpc']);
    expect(told).to.deep.equal([]);
    expect(speaks({ [SPANS]: 'http/json' })).to.equal('grpc');
    expect(told).to.deep.equal([
      'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is "http/json", which spans are not sent by: grpc is used',
    ]);

    const { host, collector } = await traced({
      tracing: { protocol: undefined },
      options: { variables: { [ALL]: 'http/protobuf' } },
    });
    await host.post(CHAT, ask());
    await host.close();
    expect(collector.exports.map(({ path }) => path)).to.deep.equal(['/v1/traces']);
  });

  it('gets spans as soon as the environment says', async () => {
    const { host, collector } = await traced({ options: { variables: { OTEL_BSP_SCHEDULE_DELAY: '1' } } });
    await host.post(CHAT, ask());
    expect(await collector.until(2)).to.have.lengthOf(2); // while the gateway runs
  });

  it('is sent to within the bounds of the environment; what cannot be one is warned of', () => {
    const told: string[] = [];
    const log = {
      debug: () => {},
      info: () => {},
      warn: (message: string) => void told.push(message),
      error: () => {},
    };
    const bounds = (variables: Readonly<Record<string, string>>): unknown =>
      tracingSettings({ tracing: { endpoint: 'http://h:1' } }, variables, log)?.batches;
    const usual = { mostSpans: 2048, batchSpans: 512, delayMs: 5000, exportMs: 10_000 };
    expect([bounds({}), bounds({ OTEL_BSP_SCHEDULE_DELAY: ' ', OTEL_BSP_MAX_QUEUE_SIZE: '' })]).to.deep.equal([
      usual,
      usual,
    ]);
    expect(
      bounds({
        OTEL_BSP_SCHEDULE_DELAY: ' 0 ',
        OTEL_BSP_MAX_QUEUE_SIZE: '10',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '3',
        OTEL_BSP_EXPORT_TIMEOUT: '250',
      }),
    ).to.deep.equal({ mostSpans: 10, batchSpans: 3, delayMs: 0, exportMs: 250 });
    expect(told).to.deep.equal([]);
    expect(
      bounds({
        OTEL_BSP_MAX_QUEUE_SIZE: '10',
        OTEL_BSP_SCHEDULE_DELAY: '5s',
        OTEL_BSP_EXPORT_TIMEOUT: '-1',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '0',
      }),
    ).to.deep.equal({ ...usual, mostSpans: 10, batchSpans: 10 });
    expect(told.map((message) => message.split(' ')[0])).to.have.members([
      'OTEL_BSP_SCHEDULE_DELAY',
      'OTEL_BSP_EXPORT_TIMEOUT',
      'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    ]);
  });

  it('is nowhere without an address, and then nothing is sent along', async () => {
    const upstream = await stubUpstream(serving);
    const host = await startHost({ targets: [upstream.target('a')], observability: { tracing: { enabled: true } } });
    await host.post(CHAT, ask(), { traceparent: traceparent('01') });
    expect(upstream.seen[0]!.headers['traceparent']).to.equal(undefined);
  });

  it('warns of exporters that are not there, and of a change that waits for a restart', async () => {
    const exporters = [
      { name: 'sink', enabled: true, config: { a: '${NOT_THERE}' } },
      { name: 'other', enabled: false },
    ];
    const config = { targets: [{ virtual_key: 'echo' }], observability: { exporters } };
    const host = await startHost(config);
    expect(
      host.lines
        .filter(({ msg }) => msg === 'exporter not found, skipping')
        .map(({ level, exporter }) => [level, exporter]),
    ).to.deep.equal([['WARN', 'sink']]);
    await host.apply({ ...config, aliases: { a: 'm' } });
    const waiting = (): number =>
      host.lines.filter(({ pending_restart: pending, level }) => pending === true && level === 'WARN').length;
    expect(waiting()).to.equal(0);
    await host.apply({ targets: config.targets });
    expect(waiting()).to.equal(1);
  });

  it('costs no request anything when it does not take them, and the loss is counted', async () => {
    const collector = await httpCollector((response) => {
      response.writeHead(400).end('nonsense');
    });
    const { host } = await traced({ collector });
    for (let at = 0; at < 3; at += 1) expect((await host.post(CHAT, ask())).status).to.equal(200);
    await host.close();
    expect(
      host.lines.filter(({ msg }) => msg === 'spans could not be exported').map(({ level, spans }) => [level, spans]),
    ).to.deep.equal([['ERROR', 6]]);
    expect(
      host.samples
        .filter(({ name }) => name === 'gateway_observability_events_dropped_total')
        .map(({ labels, value }) => [labels['subject'], value]),
    ).to.deep.equal([['spans', 6]]);
  });
});
