import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { forSuite, MASTER_KEY } from '../kit/index.ts';
import { CLAUDE, GEMINI_MODEL, OPENAI_MODEL, withVendors } from './vendors.ts';

const PROMPT = 'how is the tide?';

const route = (target: string, model: string): object => ({ target, model });
const models = [
  { name: 'team/smart', routes: [route('anthropic', CLAUDE), route('openai', OPENAI_MODEL)] },
  { name: 'team/quick', routes: [route('gemini', GEMINI_MODEL), route('openai', OPENAI_MODEL)] },
  { name: 'team/usual', routes: [route('openai', OPENAI_MODEL), route('gemini', GEMINI_MODEL)] },
];
const NAMES = ['team/smart', 'team/quick', 'team/usual'];

/** Packages of vendors, as their users have them. */
describe('official clients and groups of two kinds', () => {
  const vendors = forSuite(() => withVendors({ models, responses: { translate: 'auto' } }));
  const url = (): string => vendors().host.url;
  const openai = (): OpenAI => new OpenAI({ baseURL: `${url()}/v1`, apiKey: MASTER_KEY, maxRetries: 0 });
  const anthropic = (): Anthropic => new Anthropic({ baseURL: url(), apiKey: MASTER_KEY, maxRetries: 0 });
  const genai = (): GoogleGenAI => new GoogleGenAI({ apiKey: MASTER_KEY, httpOptions: { baseUrl: url() } });

  it('lists them first, and retrieves one: openai, @anthropic-ai/sdk, @google/genai', async () => {
    const listed = (await openai().models.list()).data.map(({ id }) => id);
    expect(listed.slice(0, 3)).to.deep.equal(NAMES);
    expect(await openai().models.retrieve('team/smart')).to.include({ id: 'team/smart', owned_by: 'anthropic' });
    const page = await anthropic().models.list({ limit: 3 });
    expect(page.data.map(({ id }) => id)).to.deep.equal(NAMES);
    expect(await anthropic().models.retrieve('team/quick')).to.include({ id: 'team/quick' });
    const pager = await genai().models.list({ config: { pageSize: 3 } });
    expect(pager.page.map(({ name }) => name)).to.deep.equal(NAMES.map((name) => `models/${name}`));
  });

  for (const model of NAMES)
    it(`calls ${model}, whole and streamed, with each client`, async () => {
      const chat = await openai().chat.completions.create({ model, messages: [{ role: 'user', content: PROMPT }] });
      expect([chat.model, chat.choices[0]?.message.content?.startsWith('Grüße')]).to.deep.equal([model, true]);
      let streamed = '';
      const chunks = await openai().chat.completions.create({
        model,
        messages: [{ role: 'user', content: PROMPT }],
        stream: true,
      });
      for await (const chunk of chunks) {
        expect(chunk.model).to.equal(model);
        streamed += chunk.choices[0]?.delta.content ?? '';
      }
      expect(streamed).to.match(/^Grüße/);

      const ask = { model, max_tokens: 64, messages: [{ role: 'user' as const, content: PROMPT }] };
      const message = await anthropic().messages.create(ask);
      expect(message.model, 'bytes of the same format go on as they are').to.equal(
        model === 'team/smart' ? 'claude-vendor' : model,
      );
      const final = await anthropic().messages.stream(ask).finalMessage();
      expect(final.content.map((block) => (block.type === 'text' ? block.text : '')).join('')).to.match(/^Grüße/);

      const response = await openai().responses.create({ model, input: PROMPT, store: false });
      expect(response.model).to.equal(model === 'team/usual' ? 'gpt-vendor' : model);

      const content = await genai().models.generateContent({ model, contents: PROMPT });
      expect([content.text?.startsWith('Grüße'), content.modelVersion]).to.deep.equal([
        true,
        model === 'team/quick' ? 'gemini-vendor' : model,
      ]);
      let text = '';
      for await (const chunk of await genai().models.generateContentStream({ model, contents: PROMPT }))
        text += chunk.text ?? '';
      expect(text).to.match(/^Grüße/);
    });

  it('embeds, makes images, judges, speaks and transcribes by the route that can', async () => {
    const model = 'team/smart';
    expect((await openai().embeddings.create({ model, input: 'tide' })).model).to.equal(model);
    expect((await openai().images.generate({ model, prompt: 'a quay' })).data).to.have.length(1);
    expect((await openai().moderations.create({ model, input: 'tide' })).model).to.equal(model);
    const sound = await openai().audio.speech.create({ model, voice: 'alloy', input: 'tide' });
    expect((await sound.arrayBuffer()).byteLength).to.equal(4096);
    const file = new File(['RIFF'], 'a.wav');
    expect(await openai().audio.transcriptions.create({ model, file })).to.include({ text: 'hello' });
  });
});
