import { expect } from 'chai';
import { replyJson, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';

const ABLE = { passthrough: true };
const PATH = '/v1/videos';
const TYPE = { 'content-type': 'multipart/form-data; boundary=b' };

const part = (head: string, value: string): string => `--b\r\n${head}\r\n\r\n${value}\r\n`;
const text = (name: string, value: string): string => part(`Content-Disposition: form-data; name="${name}"`, value);
const file = (name: string, content: string): string =>
  part(`Content-Disposition: form-data; name="${name}"; filename="a.bin"`, content);
const CODED = part('Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: base64', 'bg==');
const form = (...parts: string[]): string => `${parts.join('')}--b--\r\n`;

async function forwarding(config: object = {}): Promise<{ t: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream((request, response) =>
    replyJson(response, 200, { url: request.url, body: request.text }),
  );
  const other = await stubUpstream((_request, response) => {
    response.writeHead(500).end();
  });
  const t = await startHost({
    targets: [other.target('other', { models: ['n'] }, ABLE), upstream.target('a', { model_map: { m: 'real' } }, ABLE)],
    ...config,
  });
  return { t, upstream };
}

describe('a form that no route takes', () => {
  it('goes to the provider that owns the model in it, byte by byte', async () => {
    const { t, upstream } = await forwarding({ aliases: { quick: 'm' } });
    for (const body of [
      form(text('prompt', 'a harbour'), file('input_reference', '\x01{"model":"n"}\r\n'), text('model', 'm')),
      form(text('model', 'quick'), text('Model', 'n')),
      form(text('prompt', '[wide shot] a harbour'), text('model', 'm'), text('metadata', '{not json')),
      form(part('content-disposition: FORM-DATA; x=y; name=model', 'm'), text('seconds', '4')),
    ]) {
      const answer = await t.request('POST', `${PATH}?a=%20`, body, TYPE);
      expect(answer.json(), answer.text).to.deep.equal({ url: '/videos?a=%20', body });
      expect(answer.headers.get('x-gateway-provider')).to.equal('a');
    }
    expect(upstream.seen).to.have.length(4);
  });

  const refused: readonly (readonly [what: string, body: string, status: number, code: string, headers?: object])[] = [
    ['names no model', form(text('prompt', 'x'), file('model', 'm')), 400, 'provider_not_resolved'],
    ['names an empty one', form(text('model', '')), 400, 'provider_not_resolved'],
    ['names one twice', form(text('model', 'm'), text('model', 'm')), 400, 'invalid_request'],
    [
      'names a second one in another way',
      form(text('model', 'm'), part("Content-Disposition: form-data; name*=utf-8''model", 'n')),
      400,
      'invalid_request',
    ],
    ['names one without an owner', form(text('model', 'x')), 404, 'model_not_found'],
    ['cannot be read', `${text('model', 'm')}x--b\r\n`, 400, 'provider_not_resolved'],
    [
      'has more parts than parsers take',
      form(text('model', 'm'), text('x', '').repeat(1000)),
      400,
      'provider_not_resolved',
    ],
    ['ends in a coded part', `${text('model', 'm')}${CODED}`, 400, 'provider_not_resolved'],
    [
      'begins with JSON',
      `{"model":"n"}\r\n${form(file('image', 'x'.repeat(1_100_000)), text('model', 'm'))}`,
      400,
      'provider_not_resolved',
    ],
    ['is coded', form(text('model', 'm')), 400, 'provider_not_resolved', { 'content-encoding': 'gzip' }],
  ];
  for (const [what, body, status, code, headers] of refused) {
    it(`is refused where it ${what}`, async () => {
      const { t, upstream } = await forwarding();
      const answer = await t.request('POST', PATH, body, { ...TYPE, ...headers });
      expect([answer.status, answer.json().error.code], answer.text).to.deep.equal([status, code]);
      expect(upstream.seen).to.have.length(0);
    });
  }

  it('is held up to max_request_bytes to find it, and not at all where a provider is named', async () => {
    const { t, upstream } = await forwarding({ max_request_bytes: 2048 });
    const body = form(file('input_reference', 'x'.repeat(1900)), text('model', 'm'));
    expect((await t.request('POST', PATH, body, TYPE)).status).to.equal(200);
    const large = form(file('input_reference', 'x'.repeat(2100)), text('model', 'm'));
    expect((await t.request('POST', PATH, large, TYPE)).status).to.equal(413);
    const named = form(text('model', 'n'));
    expect((await t.request('POST', PATH, named, { ...TYPE, 'x-provider': 'a' })).json().body).to.equal(named);
    expect(upstream.seen).to.have.length(2);
  });

  it('needs its provider named where it is about something by its id', async () => {
    const { t } = await forwarding();
    for (const [method, path] of [
      ['GET', '/v1/videos/video_1'],
      ['DELETE', '/v1/videos/video_1'],
      ['GET', '/v1/videos/video_1/content'],
      ['POST', '/v1/videos/video_1/remix'],
    ] as const) {
      const answer = await t.request(method, path);
      expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'provider_not_resolved']);
      expect(answer.json().error.message).to.include('X-Provider');
    }
  });

  it('is refused where a content guardrail cannot read it', async () => {
    const { t, upstream } = await forwarding({
      plugins: [
        { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['forbidden'] } },
      ],
    });
    const answer = await t.request('POST', PATH, form(text('model', 'm')), TYPE);
    expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'request_rejected']);
    expect(upstream.seen).to.have.length(0);
  });
});
