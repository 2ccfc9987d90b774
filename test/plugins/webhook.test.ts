import { expect } from 'chai';
import { listedSettings } from '../../host/config/module-settings.ts';
import webhook from '../../plugins/webhook.ts';
import { validateJson } from '../cli/commands.ts';
import { replyJson, type StubHandler, stubUpstream, type StubUpstream } from '../kit/index.ts';
import {
  delivered,
  entry,
  error,
  isTold,
  PATH,
  scene,
  type Scene,
  type SceneOptions,
  verdicts,
} from './guardrail-kit.ts';

const both = ['before_request', 'after_request'];
const KEY = 'Bearer policy-credential-123456';

interface Asked {
  readonly run: Scene;
  readonly service: StubUpstream;
}

async function asked(handler: StubHandler, config: object = {}, options: SceneOptions = {}): Promise<Asked> {
  const service = await stubUpstream(handler);
  return {
    service,
    run: await scene('webhook', {
      ...options,
      config: { url: `${service.url}/check`, headers: { 'X-Key': KEY }, ...config },
    }),
  };
}

const allow: StubHandler = (_request, response) => replyJson(response, 200, { action: 'allow' });
const block: StubHandler = (_request, response) =>
  replyJson(response, 200, { action: 'block', reason: 'not on Sundays' });

describe('webhook', () => {
  it('lists five settings, and headers in no catalogue', () => {
    expect(listedSettings(webhook)).to.deep.equal(['url', 'timeout', 'fail', 'observe', 'stream']);
    expect(webhook.settings.validate({ url: 'http://h' }).value).to.deep.equal({
      url: 'http://h',
      timeout: '2s',
      fail: 'closed',
      observe: false,
      stream: 'end',
      headers: {},
    });
  });

  it('asks once per stage, with the texts of that stage', async () => {
    const { run, service } = await asked(
      allow,
      {},
      { stages: both, says: { content: ['an answer'], arguments: ['plain'] } },
    );
    expect((await run.chat('a question')).status).to.equal(200);
    expect(
      service.seen.map((seen) => [
        seen.method,
        seen.url,
        seen.headers['content-type'],
        seen.headers['x-key'],
        seen.json(),
      ]),
    ).to.deep.equal([
      [
        'POST',
        '/check',
        'application/json',
        KEY,
        { stage: 'before_request', surface: 'chat', model: 'm', texts: ['a question'] },
      ],
      [
        'POST',
        '/check',
        'application/json',
        KEY,
        { stage: 'after_request', surface: 'chat', model: 'm', texts: ['an answer', 'f', 'plain'] },
      ],
    ]);
  });

  it('tells the surface by its tag', async () => {
    const { run, service } = await asked(allow);
    await run.host.post('/v1/embeddings', { model: 'm', input: ['x', 'y'] });
    await run.host.post('/v1/completions', { model: 'm', prompt: 'z' });
    expect(service.seen.map((seen) => [seen.json()['surface'], seen.json()['texts']])).to.deep.equal([
      ['embeddings', ['x', 'y']],
      ['completions', ['z']],
    ]);
  });

  it('tells the client the reason', async () => {
    expect(error(await (await asked(block)).run.chat('x'))).to.deep.equal([
      400,
      'request_rejected',
      'request rejected by webhook (before_request): not on Sundays',
    ]);
    expect(error(await (await asked(block, {}, { stages: ['after_request'] })).run.chat('x'))).to.deep.equal([
      502,
      'response_rejected',
      'response rejected by webhook (after_request): not on Sundays',
    ]);
    expect(
      (await (await asked((_request, response) => replyJson(response, 200, { action: 'block' }))).run.chat('x')).status,
    ).to.equal(400);
  });

  for (const [what, handler] of Object.entries<StubHandler>({
    'answers 500': (_request, response) => replyJson(response, 500, { action: 'allow' }),
    'answers 204': (_request, response) => {
      response.writeHead(204).end();
    },
    redirects: (_request, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end();
    },
    'answers no JSON': (_request, response) => {
      response.writeHead(200).end('<html>');
    },
    'answers a list': (_request, response) => replyJson(response, 200, ['allow']),
    'answers another action': (_request, response) => replyJson(response, 200, { action: 'maybe' }),
    'answers an odd reason': (_request, response) => replyJson(response, 200, { action: 'block', reason: { a: 1 } }),
    'hangs up': (_request, response) => {
      response.destroy();
    },
    'does not answer': () => {},
  })) {
    it(`fails closed or open where the service ${what}, asked once`, async () => {
      const closed = await asked(handler, { timeout: '150ms' });
      const answer = await closed.run.chat('x');
      expect([answer.status, answer.json().error.code]).to.deep.equal([500, 'plugin_error']);
      expect([answer.text.includes('127.0.0.1'), answer.text.includes('check'), isTold(closed.run, KEY)]).to.deep.equal(
        [false, false, false],
      );
      expect([closed.service.seen.length, closed.run.upstream.seen.length]).to.deep.equal([1, 0]);
      const open = await asked(handler, { timeout: '150ms', fail: 'open' });
      expect((await open.run.chat('x')).status).to.equal(200);
      expect(
        open.run.host.lines.filter(({ level, plugin }) => level === 'WARN' && plugin === 'webhook'),
      ).to.have.length(1);
    });
  }

  it('fails where no service is', async () => {
    const { run, service } = await asked(allow);
    await service.close();
    expect((await run.chat('x')).status).to.equal(500);
  });

  it('observes', async () => {
    const { run } = await asked(block, { observe: true });
    expect((await run.chat('x')).status).to.equal(200);
    expect([verdicts(run), run.host.lines.find(({ msg }) => msg === 'guardrail observed')?.['reason']]).to.deep.equal([
      [['before_request', 'observed']],
      'not on Sundays',
    ]);
  });

  it('in streams: end after the text, window before any of it, record only in the log', async () => {
    const says = { content: ['some', ' words'] };
    const stream = async (handler: StubHandler, mode: string) => {
      const { run, service } = await asked(handler, { stream: mode }, { stages: ['after_request'], says });
      return { run, service, got: delivered(await run.chat('x', { stream: true })) };
    };
    const end = await stream(block, 'end');
    expect([end.got.content, end.got.last.error.message]).to.deep.equal([
      'some words',
      'response rejected by webhook (after_request): not on Sundays',
    ]);
    const window = await stream(block, 'window');
    expect([window.got.content, window.got.last.error.message]).to.deep.equal([
      '',
      'response rejected by webhook (after_request): not on Sundays',
    ]);
    expect(window.service.seen.map((seen) => seen.json()['texts'])).to.deep.equal([['some words']]);
    const clean = await stream(allow, 'window');
    expect([clean.got.content, clean.got.last]).to.deep.equal(['some words', '[DONE]']);
    const record = await stream(block, 'record');
    expect([record.got.content, record.got.last, verdicts(record.run)]).to.deep.equal([
      'some words',
      '[DONE]',
      [['after_request', 'recorded']],
    ]);
  });

  it('holds a window stream back from the guardrails behind it too, and they still see it', async () => {
    const { run } = await asked(
      allow,
      { stream: 'window' },
      {
        stages: ['after_request'],
        says: { content: ['forbidden'] },
        more: [entry('word-filter', 'after_request', { blocked_words: ['forbidden'] })],
      },
    );
    const got = delivered(await run.chat('x', { stream: true }));
    expect([got.content, got.last.error.code]).to.deep.equal(['', 'stream_error']);
  });

  it('takes a credential from a variable, and is refused for what is not an address, a time or a header', async () => {
    const validate = (config: object) =>
      validateJson({ targets: [{ virtual_key: 'echo' }], plugins: [entry('webhook', 'before_request', config)] });
    for (const config of [
      {},
      { url: 'nowhere' },
      { url: 'ftp://h' },
      { url: 'http://user:pass@h' },
      { url: 'http://h', timeout: 'soon' },
      { url: 'http://h', timeout: '0s' },
      { url: 'http://h', timeout: 2 },
      { url: 'http://h', fail: 'ajar' },
      { url: 'http://h', headers: { 'a b': 'x' } },
      { url: 'http://h', headers: { a: 'x\ny' } },
      { url: 'http://h', headers: { 'Content-Type': 'x' } },
      { url: 'http://h', retries: 1 },
    ]) {
      const { code, stderr } = await validate(config);
      expect([code, stderr.includes('plugin "webhook"')], JSON.stringify(config)).to.deep.equal([1, true]);
    }
    expect((await validate({ url: 'http://h', fail: 'ajar' })).stderr).to.include('ajar');
    const { stderr } = await validate({ url: 'http://h', headers: { authorization: 'Bearer top-secret\n' } });
    expect([stderr.includes('headers.authorization'), stderr.includes('top-secret')]).to.deep.equal([true, false]);
    expect((await validate({ url: '${HOOK}', headers: { authorization: 'Bearer ${KEY}' } })).code).to.equal(0);
  });

  it('leaves no stream waiting when the service is away', async () => {
    const { run } = await asked(
      () => {},
      { stream: 'window', timeout: '150ms' },
      { stages: ['after_request'], says: { content: ['x'] } },
    );
    expect(
      delivered(await run.host.post(PATH, { model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] }))
        .last.error.code,
    ).to.equal('stream_error');
  });
});
