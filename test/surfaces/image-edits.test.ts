import { readdirSync, readlinkSync } from 'node:fs';
import { expect } from 'chai';
import { NO_CATALOG } from '../../host/common/catalog.ts';
import type { Billed, Cost } from '../../host/contract/index.ts';
import { golden, MASTER_KEY, replyJson, startHost, type StubHandler, stubUpstream } from '../kit/index.ts';
import { blocked, errorOf, everySurface, type SurfaceSet, withUpstream } from './kit.ts';

const PATH = '/v1/images/edits';
const MIB = 1024 * 1024;
const REPLY = JSON.parse(golden('openai/edits/reply.json'));
const TYPE = { 'content-type': 'multipart/form-data; boundary=b' };

const answering = (config: object = {}): Promise<SurfaceSet> =>
  withUpstream((_request, response) => replyJson(response, 200, REPLY), config);

const text = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, content = 'PNG', type = 'image/png', filename = 'a.png'): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`;
const form = (...parts: string[]): Buffer => Buffer.from(`${parts.join('')}--b--\r\n`, 'latin1');

/** The parts of a body by their heads and contents, whatever parts them. */
const partsOf = (body: string): readonly string[] =>
  body
    .split(/--gw-[\da-f-]+(?:--)?\r\n/)
    .slice(1, -1)
    .map((part) => part.slice(0, -2));

/** Temporary files that this process holds open. */
const held = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('gw-upload-') ? [fd] : [];
    } catch {
      return []; // closed meanwhile
    }
  });

async function untilReleased(): Promise<void> {
  while (held().length > 0)
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
}

describe('edits of images', () => {
  it('send their parts in order, files with their types, and the model rewritten where it stood', async () => {
    const { host, upstream } = await answering({ aliases: { painter: 'm' } });
    const body = form(
      text('prompt', 'add a "boat"'),
      file('image[]', 'one', 'image/png', 'one.png'),
      text('model', 'painter'),
      file('image[]', 'two', 'image/webp', 'two.webp'),
      file('mask', 'gaps', 'text/plain', 'mask.png'),
      text('n', '2'),
      text('svg[model]', 'm'),
      text('only_forwarded', ''),
    );
    const answer = await host.post(PATH, body, TYPE);
    expect([answer.status, answer.json()], answer.text).to.deep.equal([200, REPLY]);
    expect(answer.headers.get('x-gateway-target')).to.equal('a');
    const [seen] = upstream.seen;
    expect(seen?.url).to.equal('/images/edits');
    expect(seen?.headers['content-length']).to.equal(String(Buffer.byteLength(seen?.text ?? '')));
    const disposition = (name: string, more = ''): string => `Content-Disposition: form-data; name="${name}"${more}`;
    expect(partsOf(seen?.text ?? '')).to.deep.equal([
      `${disposition('prompt')}\r\n\r\nadd a "boat"`,
      `${disposition('image[]', '; filename="one.png"')}\r\nContent-Type: image/png\r\n\r\none`,
      `${disposition('model')}\r\n\r\nm`,
      `${disposition('image[]', '; filename="two.webp"')}\r\nContent-Type: image/webp\r\n\r\ntwo`,
      `${disposition('mask', '; filename="mask.png"')}\r\nContent-Type: application/octet-stream\r\n\r\ngaps`,
      `${disposition('n')}\r\n\r\n2`,
      `${disposition('svg[model]')}\r\n\r\nm`,
      `${disposition('only_forwarded')}\r\n\r\n`,
    ]);
  });

  it('are retried and fail over, with the same files', async () => {
    const seen: string[] = [];
    const failing =
      (status: number): StubHandler =>
      ({ text: sent }, response) => {
        seen.push(sent.replaceAll(/gw-[\da-f-]+/g, ''));
        replyJson(response, status, status === 200 ? REPLY : { error: { message: 'no' } });
      };
    const [bad, good] = [await stubUpstream(failing(503)), await stubUpstream(failing(200))];
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [
        bad.target('bad', { retry: { attempts: 2, initial_backoff_ms: 1 } }, everySurface),
        good.target('good', {}, everySurface),
      ],
    });
    const answer = await host.post(PATH, form(text('model', 'm'), file('image')), TYPE);
    expect([answer.status, answer.headers.get('x-gateway-attempts')]).to.deep.equal([200, '3']);
    expect(new Set(seen).size).to.equal(1);
  });

  it('cost what images cost: by their number and by what was counted', async () => {
    const { host } = await answering();
    const billed: Billed[] = [];
    const cost: Cost = {
      totalUsd: 0.5,
      inputUsd: 0,
      outputUsd: 0,
      cacheReadUsd: 0,
      cacheWriteUsd: 0,
      reasoningUsd: 0,
      modelFound: true,
      priced: true,
      catalog: 'test',
    };
    host.host.services.catalog = {
      ...NO_CATALOG,
      cost: (_provider, _model, used) => {
        billed.push(used);
        return cost;
      },
    };
    await host.post(PATH, form(text('model', 'm'), file('image')), TYPE);
    expect(billed[0]?.images).to.equal(1);
    expect(billed[0]?.usage).to.include({ prompt_tokens: 323, completion_tokens: 1056, total_tokens: 1379 });
    expect(host.lines.find(({ msg }) => msg === 'image edit request completed')).to.include({
      images: 1,
      cost_usd: 0.5,
    });
  });

  for (const [why, body, message] of [
    ['no model', form(text('prompt', 'x'), file('image')), 'model is required'],
    ['an empty model', form(text('model', ''), file('image')), 'model is required'],
    ['two models', form(text('model', 'm'), text('model', 'm'), file('image')), 'model must be given once'],
    ['a file beside its model', form(text('model', 'm'), file('model', 'n')), 'model must be given once'],
    ['a file as its model', form(file('model', 'm'), file('image')), 'model must be a text'],
    ['an odd number', form(text('model', 'm'), text('n', 'two'), file('image')), 'n must be an integer of at least 1'],
    ['none at all', form(text('model', 'm'), text('n', '0'), file('image')), 'n must be an integer of at least 1'],
    [
      '18 files',
      form(text('model', 'm'), ...Array.from({ length: 18 }, () => file('image[]'))),
      'invalid multipart: too many files',
    ],
    [
      '65 parts',
      form(...Array.from({ length: 64 }, () => text('x', 'y')), text('model', 'm')),
      'invalid multipart: too many parts',
    ],
    ['half a form', Buffer.from(`${text('model', 'm')}--b\r\n`), 'invalid multipart'],
  ] as const) {
    it(`are refused with ${why}`, async () => {
      const { host, upstream } = await answering();
      const answer = await host.post(PATH, body, TYPE);
      expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'invalid_request']);
      expect(errorOf(answer).message).to.contain(message);
      expect(upstream.seen).to.have.length(0);
    });
  }

  it('take 17 files, and a model that no target has is not found', async () => {
    const { host, upstream } = await answering();
    const many = Array.from({ length: 17 }, () => file('image[]'));
    expect((await host.post(PATH, form(text('model', 'm'), ...many), TYPE)).status).to.equal(200);
    expect(partsOf(upstream.seen[0]?.text ?? '')).to.have.length(18);
    const answer = await host.post(PATH, form(text('model', 'other'), file('image')), TYPE);
    expect([answer.status, errorOf(answer).code]).to.deep.equal([404, 'model_not_found']);
  });

  it('are refused over 50 MiB, by their declared length before a byte of them is read', async () => {
    const { host, upstream } = await answering();
    const answer = await fetch(`${host.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, ...TYPE },
      body: Buffer.concat([
        form(text('model', 'm'), file('image', '')).subarray(0, -10),
        Buffer.alloc(51 * MIB),
        Buffer.from('\r\n--b--\r\n'),
      ]),
    });
    expect(answer.status).to.equal(413);
    expect(((await answer.json()) as any).error.code).to.equal('request_too_large');
    expect(upstream.seen).to.have.length(0);
  });

  it('are refused while a content guardrail stands before the request, and for names that a key may not use', async () => {
    const { host, upstream } = await answering(blocked('forbidden'));
    const answer = await host.post(PATH, form(text('model', 'm'), file('image')), TYPE);
    expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'request_rejected']);
    expect(upstream.seen).to.have.length(0);
    const { host: open, upstream: other } = await answering();
    const { key } = await open.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { models: ['m'] } });
    const asKey = { ...TYPE, authorization: `Bearer ${key}` };
    expect((await open.post(PATH, form(text('model', 'm'), file('image')), asKey)).status).to.equal(200);
    const outside = form(text('model', 'm'), text('svg[model]', 'gpt-6-sol'), file('image'));
    expect((await open.post(PATH, outside, asKey)).status).to.equal(404);
    expect(other.seen).to.have.length(1);
  });

  it('keep no temporary file, however they end', async function temporaryFiles() {
    if (process.platform !== 'linux') this.skip(); // others do not list what is open
    const large = 'x'.repeat(11 * MIB);
    let next = 200;
    const whileSent: number[] = [];
    const { host, upstream } = await withUpstream((_request, response) => {
      whileSent.push(held().length);
      replyJson(response, next, next === 200 ? REPLY : { error: { message: 'no' } });
    });
    for (const [status, parts] of [
      [200, [text('model', 'm')]],
      [400, [text('model', 'm')]],
      [400, []],
    ] as const) {
      next = status;
      const reply = await host.post(PATH, form(...parts, file('image', large)), TYPE);
      expect(reply.status).to.equal(status);
      await untilReleased();
    }
    const small = Array.from({ length: 5 }, (_, at) => file('image[]', String(at).repeat(4 * MIB)));
    expect((await host.post(PATH, form(text('model', 'm'), ...small), TYPE)).status).to.equal(400);
    await untilReleased();
    expect(whileSent).to.deep.equal([1, 1, 3]); // what exceeds 10 MiB together
    const sent = upstream.seen.at(-1)?.text ?? '';
    for (let at = 0; at < 5; at += 1) expect(sent.split(String(at).repeat(4 * MIB))).to.have.length(2);
  });
});

describe('edits of images that their route leaves', () => {
  const ABLE = { ...everySurface, passthrough: true };
  const echo: StubHandler = ({ method, url, text: body, headers }, response) =>
    replyJson(response, 200, { method, url, body, type: headers['content-type'] });

  it('go on byte by byte to the provider that they name, a form or not', async () => {
    const upstream = await stubUpstream(echo);
    const host = await startHost({ targets: [upstream.target('a', { model_map: { m: 'real' } }, ABLE)] });
    const whole = form(text('model', 'm'), file('image', 'one', 'image/png', 'p"q.png')).toString('latin1');
    for (const [body, type] of [
      [whole, TYPE['content-type']],
      ['{ "model":"m", "images": [{"image_url":"https://h/a.png"}] }', 'application/json'],
    ] as const) {
      const answer = await host.request('POST', `${PATH}?x=%20y`, body, { 'x-provider': 'a', 'content-type': type });
      expect(answer.json(), answer.text).to.deep.equal({ method: 'POST', url: '/images/edits?x=%20y', body, type });
      expect(answer.headers.get('x-gateway-provider')).to.equal('a');
      expect(answer.headers.get('x-gateway-target')).to.equal(null);
    }
  });

  it('go by the model of a JSON body, and any other method as before', async () => {
    const upstream = await stubUpstream(echo);
    const host = await startHost({ targets: [upstream.target('a', { model_map: { m: 'real' } }, ABLE)] });
    const body = '{ "model":"m", "images": [{"image_url":"https://h/a.png"}] }';
    expect((await host.request('POST', PATH, body)).json()).to.include({ body });
    expect((await host.request('GET', PATH, undefined, { 'x-provider': 'a' })).json()).to.include({ method: 'GET' });
    expect(errorOf(await host.request('GET', PATH)).code).to.equal('provider_not_resolved');
  });
});
