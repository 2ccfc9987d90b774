import { expect } from 'chai';
import { gatewayOf, type ProviderGateway, replyJson, sendText, type StubHandler } from '../../kit/index.ts';
import { factsOf, goldenBytes, goldenJson, serving } from './support.ts';

const PATH = '/v1/images/generations';
const CASES = serving('images');
const PNG = goldenBytes('hugging-face/images/reply.base64');

type Body = Record<string, any>;

const golden =
  (name: string): StubHandler =>
  (_request, response) => {
    if (name === 'hugging-face') sendText(response, 200, 'image/png', PNG);
    else replyJson(response, 200, goldenJson(`${name}/images/reply.json`));
  };

const imagesAt = (name: string): Promise<ProviderGateway> => gatewayOf(factsOf(name), golden(name));

/** Every field of the surface; unknown fields are sent on the common wire. */
const FULL = {
  prompt: 'a harbour',
  n: 1,
  size: '1024x768',
  quality: 'high',
  style: 'vivid',
  user: 'u-1',
  brand_new_field: 'x',
};

/** The body of the full request, by provider. See docs/reference/providers.md#images. */
const BODIES: Readonly<Record<string, Body>> = {
  openai: { ...FULL },
  deepinfra: { prompt: 'a harbour', n: 1, size: '1024x768', user: 'u-1', brand_new_field: 'x' },
  together: { prompt: 'a harbour', n: 1, size: '1024x768', user: 'u-1', brand_new_field: 'x' },
  xai: { prompt: 'a harbour', n: 1, user: 'u-1', brand_new_field: 'x' },
};

describe('image requests', () => {
  for (const { name, model, url } of CASES) {
    it(`of ${name}: the smallest, and the one with every field set`, async () => {
      const { host, upstream } = await imagesAt(name);
      for (const request of [
        { model, prompt: 'a harbour' },
        { model, ...FULL },
      ])
        expect((await host.post(PATH, request)).status).to.equal(200);
      const [small, full] = upstream.seen;
      expect(small).to.include({ method: 'POST', url: new URL(url(upstream.url)).pathname });
      expect(small!.headers.authorization).to.match(/^Bearer /);
      if (name === 'hugging-face') {
        expect(small!.json()).to.include({ inputs: 'a harbour' });
        expect(full!.json()).to.deep.equal({ inputs: 'a harbour', parameters: { width: 1024, height: 768 } });
        return;
      }
      expect(small!.json()).to.deep.equal({ model, prompt: 'a harbour' });
      expect(full!.json()).to.deep.equal({ model, ...BODIES[name] });
    });
  }

  it('carry the wanted response format where it is free', async () => {
    for (const name of ['deepinfra', 'together', 'xai']) {
      const { host, upstream } = await imagesAt(name);
      const model = CASES.find((one) => one.name === name)?.model;
      for (const response_format of ['url', 'b64_json']) await host.post(PATH, { model, prompt: 'x', response_format });
      expect(
        upstream.seen.map((seen) => seen.json()['response_format']),
        name,
      ).to.deep.equal(['url', 'b64_json']);
    }
  });

  it('of openai name a format to dall-e only, url unless said, and never ask another model for url', async () => {
    const facts = factsOf('openai');
    const { host, upstream } = await gatewayOf(facts, golden('openai'), {
      config: { targets: [{ virtual_key: 'openai', models: ['dall-e-3', 'dall-e-2', 'gpt-image-1'] }] },
    });
    const formatOf = async (model: string, response_format?: string): Promise<unknown> => {
      const answer = await host.post(PATH, { model, prompt: 'x', ...(response_format && { response_format }) });
      return answer.status === 200 ? upstream.seen.at(-1)!.json()['response_format'] : answer.json().error.code;
    };
    expect([
      await formatOf('dall-e-3'),
      await formatOf('dall-e-2', 'b64_json'),
      await formatOf('dall-e-3', 'url'),
    ]).to.deep.equal(['url', 'b64_json', 'url']);
    expect([await formatOf('gpt-image-1'), await formatOf('gpt-image-1', 'b64_json')]).to.deep.equal([
      undefined,
      undefined,
    ]);
    const before = upstream.seen.length;
    expect(await formatOf('gpt-image-1', 'url')).to.equal('unsupported_parameter');
    expect(upstream.seen).to.have.length(before);
  });

  it('of hugging-face are one image as b64_json; anything else is refused before the call', async () => {
    const model = 'stabilityai/sdxl';
    for (const [more, code] of [
      [{ response_format: 'url' }, 'unsupported_parameter'],
      [{ n: 2 }, 'invalid_request'],
    ] as const) {
      const { host, upstream } = await imagesAt('hugging-face');
      const answer = await host.post(PATH, { model, prompt: 'x', ...more });
      expect([answer.status, upstream.seen.length]).to.deep.equal([400, 0]);
      expect(answer.json().error.code).to.equal(code);
      if (code === 'unsupported_parameter')
        expect(answer.json().error.message).to.include('url').and.include('b64_json');
    }
    const { host } = await imagesAt('hugging-face');
    expect((await host.post(PATH, { model, prompt: 'x', n: 1, response_format: 'b64_json' })).status).to.equal(200);
  });

  it('of xai say in the log what is left out', async () => {
    const { host } = await imagesAt('xai');
    await host.post(PATH, { model: 'grok-2-image', prompt: 'x', size: '1024x1024', quality: 'hd', style: 'vivid' });
    const warning = host.lines.find(({ level, ...line }) => level === 'WARN' && JSON.stringify(line).includes('size'));
    expect(warning, 'a warning about size').to.be.an('object');
    expect(JSON.stringify(warning)).to.include('quality').and.include('style');
  });
});

describe('image replies', () => {
  it('hold what the provider made, the time, and usage where it was reported', async () => {
    const data = {
      openai: [{ b64_json: PNG.toString('base64') }],
      deepinfra: [{ b64_json: PNG.toString('base64') }],
      'hugging-face': [{ b64_json: PNG.toString('base64') }],
      together: [{ url: 'https://example.com/out.jpg' }],
      xai: [{ url: 'https://example.com/out.jpg', revised_prompt: 'a red harbour at dusk' }],
    } as const;
    for (const { name, model } of CASES) {
      const { host } = await imagesAt(name);
      const reply = (await host.post(PATH, { model, prompt: 'x' })).json();
      expect(reply.usage, name).to.deep.equal(
        name === 'openai' ? goldenJson('openai/images/reply.json').usage : undefined,
      );
      expect(reply.data, name).to.have.length(1);
      expect(reply.data[0], name).to.include(data[name as keyof typeof data][0]);
      if (name === 'openai' || name === 'deepinfra') expect(reply.created, name).to.equal(1_763_000_000);
      else expect(reply.created, name).to.be.closeTo(Date.now() / 1000, 60);
    }
  });

  it('that are errors keep their status, and quote nothing that is not an envelope', async () => {
    for (const { facts, name, model } of CASES) {
      const { host, answerWith } = await gatewayOf(facts);
      for (const [status, code] of [
        [401, 'upstream_auth_error'],
        [404, 'model_not_found'],
        [429, 'rate_limit_exceeded'],
        [500, 'upstream_error'],
      ] as const) {
        answerWith((_request, response) => sendText(response, status, 'text/html', '<h1>outside-the-envelope</h1>'));
        const answer = await host.post(PATH, { model, prompt: 'x' });
        expect(answer.json().error, name).to.include({ code });
        expect(answer.text, name).to.not.include('outside-the-envelope');
      }
    }
  });
});
