import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import {
  ask,
  chatChunks,
  chatReply,
  type FakeClock,
  fakeClock,
  MASTER_KEY,
  NO_DASHBOARD,
  openSse,
  replyJson,
  replyStream,
  sseEvent,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

async function chatHost(variables: Record<string, string> = {}, clock?: FakeClock): Promise<TestHost> {
  const stub = await stubUpstream((request, response) => {
    const { model, stream } = request.json();
    if (model === 'bad')
      replyJson(response, 500, { error: { message: 'no credit on sk-proj-abcdefghijklmnopqrstuvwx' } });
    else if (model === 'endless') {
      openSse(response);
      response.write(sseEvent(chatChunks(['one'])[0]));
    } else if (stream === true) replyStream(response, ['hi']);
    else replyJson(response, 200, chatReply('hello'));
  });
  const config = { strategy: { mode: 'fallback' }, targets: [stub.target('a', { models: ['m', 'bad', 'endless'] })] };
  return startHost(config, { variables, installDirectory: NO_DASHBOARD, ...(clock && { clock }) });
}

const accessLines = (t: TestHost): Record<string, unknown>[] => t.lines.filter(({ msg }) => msg === 'http request');

describe('the access log', () => {
  it('holds one line per request with exactly the documented fields', async () => {
    const t = await chatHost();
    const answer = await t.post(`${CHAT}?secret=1`, ask());
    const [line, ...others] = accessLines(t);
    expect(others).to.deep.equal([]);
    expect(line).to.have.all.keys(
      'time',
      'level',
      'msg',
      'trace_id',
      'method',
      'path',
      'status',
      'bytes',
      'duration_ms',
      'remote',
    );
    expect(line).to.deep.include({ level: 'INFO', method: 'POST', path: CHAT, status: 200, remote: '127.0.0.1' });
    expect(line?.['trace_id']).to.equal(answer.headers.get('x-request-id'));
    expect(line?.['bytes']).to.equal(Buffer.byteLength(answer.text));
    expect(line?.['duration_ms'])
      .to.be.a('number')
      .and.satisfies((ms: number) => ms > 0 && ms < 10_000);
    expect(new Date(String(line?.['time'])).toISOString()).to.equal(line?.['time']);
  });

  it('measures with the monotonic clock, to the last byte', async () => {
    const clock = fakeClock();
    let t: TestHost | undefined;
    const stub = await stubUpstream((_request, response) => {
      clock.advance(1234.5678);
      replyJson(response, 200, chatReply('hello'));
    });
    t = await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] }, { clock });
    await t.post(CHAT, ask());
    expect(accessLines(t)[0]).to.include({ duration_ms: 1234.568 });
  });

  it('counts the bytes of streams, pages and errors, and none for HEAD and preflights', async () => {
    const t = await chatHost();
    const answers = [
      await t.post(CHAT, ask('hi', { stream: true })),
      await t.get('/', { accept: 'text/html' }),
      await t.post(CHAT, '{'),
    ];
    expect(accessLines(t).map(({ bytes }) => bytes)).to.deep.equal(answers.map(({ text }) => Buffer.byteLength(text)));
    t.lines.length = 0;
    await t.request('HEAD', '/', undefined, { accept: 'text/html' });
    await t.request('OPTIONS', CHAT, undefined, { origin: 'https://app.example' });
    expect(accessLines(t).map(({ status, bytes }) => [status, bytes])).to.deep.equal([
      [503, 0],
      [204, 0],
    ]);
  });

  it('has its level from the status', async () => {
    const t = await chatHost();
    await t.post(CHAT, ask());
    await t.request('OPTIONS', CHAT, undefined, { origin: 'https://app.example' });
    await t.post(CHAT, '{');
    await t.get('/nowhere');
    await t.get(CHAT);
    await fetch(t.url + CHAT);
    await t.post(CHAT, ask('hi', { model: 'bad' }));
    await t.get('/', { accept: 'text/html' });
    expect(accessLines(t).map(({ level, status }) => `${String(level)} ${String(status)}`)).to.deep.equal([
      'INFO 200',
      'INFO 204',
      'WARN 400',
      'WARN 404',
      'WARN 405',
      'WARN 401',
      'ERROR 502',
      'ERROR 503',
    ]);
  });

  it('follows LOG_LEVEL', async () => {
    for (const [level, expected] of [
      ['info', 3],
      ['warn', 2],
      ['WARNING', 2],
      [' error ', 1],
      ['nonsense', 3],
    ] as const) {
      const t = await chatHost({ LOG_LEVEL: level });
      await t.post(CHAT, ask());
      await t.get('/nowhere');
      await t.get('/', { accept: 'text/html' });
      expect(accessLines(t), level).to.have.length(expected);
      await t.close();
    }
  });

  it('has no line for probes and unknown methods', async () => {
    const t = await chatHost();
    for (const path of ['/livez', '/health', '/readyz']) await t.get(path);
    await t.request('POST', '/livez');
    await t.request('PROPFIND', CHAT);
    expect(accessLines(t)).to.deep.equal([]);
  });

  it('has no line for clients that leave: while they send, while they wait, while they read', async () => {
    const t = await chatHost();
    const leave = async (body: string, length: number, after: 'sent' | 'answered'): Promise<void> => {
      const call = httpRequest(t.url, {
        method: 'POST',
        path: CHAT,
        agent: false,
        headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-length': length },
      });
      call.on('error', () => {});
      call.write(body);
      if (after === 'answered')
        await new Promise<void>((resolve) => {
          call.on('response', (response) => response.on('error', () => {}).once('data', () => resolve()));
        });
      else while (t.host.activity.count === 0) await turn();
      call.destroy();
      while (t.host.activity.count > 0 || t.host.slot.leases > 0) await turn();
    };
    await leave('{', 100, 'sent');
    const unary = JSON.stringify(ask('hi', { model: 'endless' }));
    await leave(unary, unary.length, 'sent');
    const stream = JSON.stringify(ask('hi', { model: 'endless', stream: true }));
    await leave(stream, stream.length, 'answered');
    expect(accessLines(t)).to.deep.equal([]);
    const ofStart = 'WN14'; // there is no dashboard here
    expect(
      t.lines.filter(({ level, rule }) => (level === 'ERROR' || level === 'WARN') && rule !== ofStart),
    ).to.deep.equal([]);
  });
});

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('credentials', () => {
  const upstreamKey = 'stub-credential-0123456789';

  it('stand in no log line and in no answer, wherever they were sent', async () => {
    const t = await chatHost({ STUB_API_KEY: upstreamKey });
    const texts: string[] = [];
    const note = async (answer: Promise<{ text: string }>): Promise<void> => {
      texts.push((await answer).text);
    };
    await note(t.post(CHAT, ask('hi', { model: MASTER_KEY })));
    await note(t.post(CHAT, ask('hi', { model: `x ${upstreamKey} y` })));
    await note(t.post(CHAT, ask('hi', { [MASTER_KEY]: 1, temperature: 9 })));
    await note(t.post(CHAT, { model: 'm', messages: [{ role: 'user', content: [{ type: MASTER_KEY }] }] }));
    await note(t.post(CHAT, ask('hi', { model: 'bad' })));
    await note(t.get(`/${MASTER_KEY}`));
    await note(t.get(`/v1/${MASTER_KEY}`));
    await note(t.request('PUT', CHAT, { key: MASTER_KEY }));
    await note(t.post(CHAT, ask(), { 'x-gateway-metadata': `{"${MASTER_KEY}":null}` }));
    await note(t.post(CHAT, ask(), { authorization: `Bearer ${MASTER_KEY}0` }));
    await note(t.post(CHAT, ask(), { 'x-request-id': MASTER_KEY }));
    expect(texts).to.have.length(11);
    for (const text of [...texts, ...t.lines.map((line) => JSON.stringify(line))]) {
      expect(text).not.to.include(MASTER_KEY);
      expect(text).not.to.include(upstreamKey);
      expect(text).not.to.include('sk-proj-');
    }
    expect(texts[0]).to.include('[REDACTED:MASTER_KEY]');
    expect(texts[1]).to.include('[REDACTED:STUB_API_KEY]');
  });

  it('leave log lines valid JSON although line ends, quotes and backslashes stand before them', async () => {
    const t = await chatHost();
    for (const model of [
      'x\nbob@example.com',
      'x\tbob@example.com',
      'x\u0001bob@example.com',
      'x\\bob@example.com',
      'x"bob@example.com',
      `x\n${MASTER_KEY}`,
      'x\nsk-abcdefghijklmnopqrstuvwxyz',
    ]) {
      const answer = await t.post(CHAT, ask('hi', { model }));
      expect(answer.status).to.equal(404);
      expect(
        t.lines.map(({ msg }) => msg as unknown),
        JSON.stringify(model),
      )
        .to.include('request failed')
        .and.not.include('panic recovered');
      expect(JSON.stringify(t.lines)).not.to.match(/bob@|sk-abc/);
      t.lines.length = 0;
    }
  });
});
