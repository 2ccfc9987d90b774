import { expect } from 'chai';
import { replyJson, startHost } from '../kit/index.ts';
import { blocked, errorOf, everySurface, type SurfaceSet, withUpstream } from './kit.ts';

const PATH = '/v1/images/generations';
const IMAGES = {
  created: 1_700_000_000,
  data: [{ url: 'https://images.example/1', revised_prompt: 'a cat' }],
  usage: {
    input_tokens: 3,
    output_tokens: 9,
    total_tokens: 12,
    input_tokens_details: { text_tokens: 3, image_tokens: 0 },
  },
};
const answering = (body: object = IMAGES, config: object = {}): Promise<SurfaceSet> =>
  withUpstream((_request, response) => replyJson(response, 200, body), config);

describe('images', () => {
  it('are answered with what the provider counted', async () => {
    const { host, sent } = await answering();
    const answer = await host.post(PATH, {
      model: 'm',
      prompt: 'a cat',
      n: 1,
      size: '1024x1024',
      background: 'opaque',
    });
    expect([answer.status, answer.json()]).to.deep.equal([200, IMAGES]);
    expect(sent()).to.deep.include({ prompt: 'a cat', n: 1, size: '1024x1024', background: 'opaque' });
    expect(answer.headers.get('x-gateway-provider')).to.equal('a');
  });

  it('are dated now when the provider does not say', async () => {
    const { host } = await answering({ data: [{ b64_json: 'AA==' }] });
    const { created } = (await host.post(PATH, { model: 'm', prompt: 'x' })).json();
    expect(created).to.be.closeTo(Date.now() / 1000, 5);
  });

  it('are a failed call when there is none', async () => {
    const { host } = await answering({ data: [] });
    expect((await host.post(PATH, { model: 'm', prompt: 'x' })).status).to.equal(502);
  });

  for (const [body, message] of [
    [{ prompt: 'x' }, 'model is required'],
    [{ model: 'm' }, 'prompt is required'],
    [{}, 'model is required'],
    [{ model: 'm', prompt: '' }, 'prompt is required'],
    [{ model: 'm', prompt: 'x', n: 0 }, 'n must be at least 1'],
    [{ model: 'm', prompt: 'x', n: '2' }, 'n must be an integer'],
    [{ model: 'm', prompt: 'x', response_format: 'png' }, 'response_format "png"'],
    [{ model: 'm', prompt: 'x', size: 5 }, 'size must be a string'],
  ] as const) {
    it(`refuse ${JSON.stringify(body)}`, async () => {
      const { host, upstream } = await answering();
      const answer = await host.post(PATH, body);
      expect([answer.status, errorOf(answer).code]).to.deep.equal([
        400,
        'response_format' in body ? 'unsupported_parameter' : 'invalid_request',
      ]);
      expect(errorOf(answer).message).to.contain(message);
      expect(upstream.seen).to.have.length(0);
    });
  }

  it('count as failed with another status than 200', async () => {
    const { host } = await withUpstream((_request, response) => replyJson(response, 201, IMAGES));
    expect((await host.post(PATH, { model: 'm', prompt: 'x' })).status).to.equal(502);
  });

  it('refuse a format that the provider cannot produce, whatever the policy for parameters', async () => {
    const { upstream } = await answering();
    for (const on_unsupported_param of ['warn', 'drop', 'reject']) {
      const host = await startHost({
        strategy: { mode: 'single' },
        compatibility: { on_unsupported_param },
        targets: [upstream.target('b64', {}, { ...everySurface, imageFormats: ['b64_json'] })],
      });
      const answer = await host.post(PATH, { model: 'm', prompt: 'x', response_format: 'url' });
      expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'unsupported_parameter']);
      expect(errorOf(answer).message).to.contain('"url"').and.to.contain('b64_json');
      expect((await host.post(PATH, { model: 'm', prompt: 'x' })).status).to.equal(200);
      expect((await host.post(PATH, { model: 'm', prompt: 'x', response_format: 'b64_json' })).status).to.equal(200);
    }
  });

  it('have their prompt read by guardrails', async () => {
    const { host } = await answering(IMAGES, blocked('forbidden'));
    expect(errorOf(await host.post(PATH, { model: 'm', prompt: 'a forbidden cat' })).code).to.equal('request_rejected');
  });
});
