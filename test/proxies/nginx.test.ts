import { expect } from 'chai';
import { requireTool, startNginx } from '../kit/index.ts';
import { FORWARDED, OpenStream, silentGateway, WIRES } from './kit.ts';

describe('behind an nginx with its own settings', () => {
  it('the first event of every wire is delivered when the upstream sends it', async function behindNginx() {
    const nginx = requireTool(this, 'nginx');
    const { host, call, calls } = await silentGateway();
    const url = await startNginx(nginx, [new URL(host.url).host]);
    for (const wire of [...WIRES, FORWARDED]) {
      const stream = new OpenStream({ url }, wire, 'plain');
      const upstream = await call(calls.length);
      upstream.begin();
      await stream.until((text) => text.includes('first')); // the rest has not been written yet
      upstream.finish();
      await stream.over;
      expect(stream.text, wire.name).to.include('second');
    }
  });

  it('every wire outlives a limit on silence that ends what is only passed through', async function behindNginx() {
    const nginx = requireTool(this, 'nginx');
    const { host, clock, call } = await silentGateway({ streaming: { keepalive: '1s', open_after: '1s' } });
    const url = await startNginx(
      nginx,
      [new URL(host.url).host],
      'location / { proxy_pass http://gateway; proxy_read_timeout 2s; }',
    );
    const forwarded = (): Promise<Response> => new OpenStream({ url }, FORWARDED, 'plain').opened;
    const streams = WIRES.map((wire) => new OpenStream({ url }, wire, 'plain'));
    await call(WIRES.length - 1);
    const upstreams = await Promise.all(WIRES.map((_, at) => call(at)));
    const ticking = setInterval(() => clock.advance(1000), 100);
    try {
      expect((await forwarded()).status, 'before the first event').to.equal(504);
      for (const upstream of upstreams) upstream.begin();
      await Promise.all(streams.map((stream) => stream.until((text) => text.includes('first'))));
      expect((await forwarded()).status, 'after it').to.equal(504);
    } finally {
      clearInterval(ticking);
    }
    for (const upstream of upstreams) upstream.finish();
    for (const stream of streams) {
      await stream.over;
      expect(stream.text).to.include('second');
    }
  });
});

const CACHE = { name: 'response-cache', enabled: true, config: { max_entries: 10 } };

describe('X-Accel-Buffering', () => {
  for (const wire of WIRES)
    it(`is on streams of ${wire.name}, from a provider and from a cache`, async () => {
      const plugins = ['before_request', 'after_request'].map((stage) => ({ ...CACHE, stage }));
      const { call, calls, stream: open } = await silentGateway({ plugins });
      const first = open(wire, 'plain');
      (await call(0)).answer();
      await first.over;
      const second = open(wire, 'plain');
      await second.over;
      expect(calls, 'the second answer is that of the cache').to.have.length(1);
      for (const { opened } of [first, second]) expect((await opened).headers.get('x-accel-buffering')).to.equal('no');
    });

  it('takes the place of what an upstream says of an event stream that is passed through, and of nothing else', async () => {
    for (const [type, shown] of [
      ['text/event-stream', 'no'],
      ['Text/Event-Stream; charset=utf-8', 'no'],
      ['application/json', 'yes'],
    ] as const) {
      const { call, stream: open } = await silentGateway();
      const stream = open(FORWARDED, 'plain');
      const { response } = await call(0);
      response.writeHead(200, { 'content-type': type, 'x-accel-buffering': 'yes' }).end('{}');
      expect((await stream.opened).headers.get('x-accel-buffering'), type).to.equal(shown);
      await stream.over;
    }
  });
});
