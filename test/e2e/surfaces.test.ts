import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { BadRequestError, toFile } from 'openai';
import { withVendors } from './support/vendor-gateway.ts';
import { speechOf, transcriptOf } from './support/vendors/audio.ts';
import { heard, USAGE } from './support/vendors/chat.ts';
import { vectorOf } from './support/vendors/embeddings.ts';
import { pictureOf } from './support/vendors/images.ts';

describe('the openai client on every surface', function suite() {
  const gateway = withVendors();
  const sent = (): Readonly<Record<string, any>> => gateway().vendors.visits.at(-1)?.body ?? {};
  const messages = [{ role: 'user' as const, content: 'when does the harbour open?' }];

  describe('completes legacy prompts', () => {
    it('with one text', async () => {
      const { object, choices, usage, model } = await gateway().client.completions.create({
        model: 'openai/chat',
        prompt: 'high tide?',
        max_tokens: 20,
      });
      expect({ object, model, usage }).to.deep.equal({ object: 'text_completion', model: 'openai/chat', usage: USAGE });
      expect(choices).to.deep.equal([
        { index: 0, text: heard('openai', 'high tide?'), logprobs: null, finish_reason: 'stop' },
      ]);
      expect(sent()).to.deep.equal({
        model: 'gpt-5.4-mini',
        messages: [{ role: 'user', content: 'high tide?' }],
        max_completion_tokens: 20,
      });
    });

    it('with the prompt in front when asked to echo', async () => {
      const { choices } = await gateway().client.completions.create({
        model: 'groq/chat',
        prompt: ['low tide?'],
        echo: true,
      });
      expect(choices[0]?.text).to.equal(`low tide?${heard('groq', 'low tide?')}`);
    });

    it('but does not stream them', async () => {
      const error = await gateway()
        .client.completions.create({ model: 'openai/chat', prompt: 'x', stream: true })
        .then(
          () => undefined,
          (reason: unknown) => reason,
        );
      expect(error).to.be.instanceOf(BadRequestError).and.to.include({ code: 'streaming_not_supported' });
    });
  });

  describe('embeds', () => {
    it('in its own default encoding, as numbers to the caller', async () => {
      const { data, model, usage, object } = await gateway().client.embeddings.create({
        model: 'openai/embeddings',
        input: 'tide',
      });
      expect(sent()).to.deep.equal({ model: 'text-embedding-3-small', input: 'tide', encoding_format: 'base64' });
      expect(data).to.deep.equal([{ object: 'embedding', index: 0, embedding: vectorOf('tide') }]);
      expect({ object, model, usage }).to.deep.equal({
        object: 'list',
        model: 'openai/embeddings',
        usage: { prompt_tokens: 5, total_tokens: 5 },
      });
    });

    it('in its own default encoding where the vendor answers with numbers only', async () => {
      for (const vendor of ['together', 'qwen', 'hugging-face', 'ollama']) {
        const { data } = await gateway().client.embeddings.create({
          model: `${vendor}/embeddings`,
          input: ['tide', 'a strong wind'],
        });
        expect(
          data.map(({ embedding }) => embedding),
          vendor,
        ).to.deep.equal([vectorOf('tide'), vectorOf('a strong wind')]);
        expect(sent(), vendor).to.not.have.property('encoding_format');
      }
    });

    it('as base64 on the wire when asked, whatever the vendor sends', async () => {
      for (const vendor of ['openai', 'together']) {
        const {
          data: [item],
        } = await gateway().client.embeddings.create({
          model: `${vendor}/embeddings`,
          input: 'tide',
          encoding_format: 'base64',
        });
        const bytes = Buffer.from(item?.embedding as unknown as string, 'base64');
        expect(
          Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4)),
          vendor,
        ).to.deep.equal(vectorOf('tide'));
      }
    });

    it('as numbers with encoding_format float', async () => {
      const { data } = await gateway().client.embeddings.create({
        model: 'mistral/embeddings',
        input: 'tide',
        encoding_format: 'float',
      });
      expect(data[0]?.embedding).to.deep.equal(vectorOf('tide'));
      expect(sent()).to.deep.equal({ model: 'mistral-embed', input: 'tide', encoding_format: 'float' });
    });

    it("with as many dimensions as asked for, by each vendor's name for them", async () => {
      for (const [vendor, name] of [
        ['openai', 'dimensions'],
        ['mistral', 'output_dimension'],
        ['ollama', 'dimensions'],
      ] as const) {
        const { data } = await gateway().client.embeddings.create({
          model: `${vendor}/embeddings`,
          input: 'tide',
          dimensions: 7,
        });
        expect(data[0]?.embedding, vendor).to.deep.equal(vectorOf('tide', 7));
        expect(sent(), vendor).to.include({ [name]: 7 });
      }
    });

    it('token ids', async () => {
      const { data } = await gateway().client.embeddings.create({
        model: 'openai/embeddings',
        input: [[83, 579], [1820]],
      });
      expect(data.map(({ embedding }) => embedding)).to.deep.equal([vectorOf([83, 579]), vectorOf([1820])]);
    });
  });

  describe('makes images', () => {
    it('as data, where the model sends nothing else', async () => {
      const { data, created } = await gateway().client.images.generate({
        model: 'openai/images',
        prompt: 'a quay',
        n: 2,
        quality: 'low',
        response_format: 'b64_json',
      });
      expect(data).to.deep.equal([1, 2].map(() => ({ b64_json: pictureOf('a quay').toString('base64') })));
      expect(created).to.equal(1_763_700_000);
      expect(sent()).to.deep.equal({ model: 'gpt-image-1', prompt: 'a quay', n: 2, quality: 'low' });
    });

    it('out of others, whose files arrive by their names', async () => {
      const picture = (name: string): Promise<File> => toFile(Buffer.from(name), name, { type: 'image/png' });
      const { data } = await gateway().client.images.edit({
        model: 'openai/images.edits',
        image: [await picture('a.png'), await picture('b.png')],
        prompt: 'one',
      });
      expect(data).to.deep.equal([{ b64_json: pictureOf('one of a.png and b.png').toString('base64') }]);
    });

    it('as addresses or data, where the model has both', async () => {
      const { images } = gateway().client;
      const address = { url: 'https://pictures.example/a%20quay.png', revised_prompt: 'a quay, at dawn' };
      expect((await images.generate({ model: 'openai/dall-e', prompt: 'a quay' })).data).to.deep.equal([address]);
      expect(
        (await images.generate({ model: 'together/images', prompt: 'a quay', response_format: 'url' })).data,
      ).to.deep.equal([address]);
      expect(
        (await images.generate({ model: 'xai/images', prompt: 'a quay', response_format: 'b64_json' })).data,
      ).to.deep.equal([{ b64_json: pictureOf('a quay').toString('base64') }]);
    });

    it('out of a bare picture, of the size asked for', async () => {
      const { data, created } = await gateway().client.images.generate({
        model: 'hugging-face/images',
        prompt: 'a quay',
        size: '512x512',
      });
      expect(data).to.deep.equal([{ b64_json: pictureOf('a quay').toString('base64') }]);
      expect(created).to.be.closeTo(Date.now() / 1000, 60);
      expect(sent()).to.deep.equal({ inputs: 'a quay', parameters: { width: 512, height: 512 } });
    });

    it('but not in a format that cannot be had, for which no upstream is called', async () => {
      for (const model of ['openai/images', 'hugging-face/images']) {
        const error = await gateway()
          .client.images.generate({ model, prompt: 'a quay', response_format: 'url' })
          .then(
            () => undefined,
            (reason: unknown) => reason,
          );
        expect(error, model).to.be.instanceOf(BadRequestError).and.to.include({ code: 'unsupported_parameter' });
      }
      expect(gateway().vendors.visits).to.deep.equal([]);
    });
  });

  describe('speaks', () => {
    it('in whole files, of the type asked for', async () => {
      for (const [format, type] of [
        [undefined, 'audio/mpeg'],
        ['wav', 'audio/wav'],
        ['opus', 'audio/opus'],
      ] as const) {
        const response = await gateway().client.audio.speech.create({
          model: 'openai/audio.speech',
          input: 'the tide turns',
          voice: 'alloy',
          ...(format && { response_format: format }),
        });
        expect(response.headers.get('content-type')).to.equal(type);
        expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(Buffer.concat([...speechOf('the tide turns')]));
        expect(sent()).to.include({ model: 'tts-1', response_format: format ?? 'mp3' });
      }
    });

    it('while the vendor still speaks', async () => {
      const { body } = await gateway().client.audio.speech.create({
        model: 'openai/audio.speech',
        input: 'hold the line',
        voice: 'alloy',
      });
      const pieces = body!.values();
      const [first, second] = speechOf('hold the line');
      expect(Buffer.from((await pieces.next()).value as Uint8Array)).to.deep.equal(first);
      gateway().vendors.release();
      expect(Buffer.concat(await Array.fromAsync(pieces))).to.deep.equal(second);
    });

    it("in each vendor's way", async () => {
      const { speech } = gateway().client.audio;
      for (const [vendor, format] of [
        ['groq', 'wav'],
        ['mistral', 'mp3'],
        ['together', 'mp3'],
        ['deepinfra', 'flac'],
      ] as const) {
        const response = await speech.create({
          model: `${vendor}/audio.speech`,
          input: 'the tide turns',
          voice: 'alloy',
          response_format: format,
        });
        expect(Buffer.from(await response.arrayBuffer()), vendor).to.deep.equal(
          Buffer.concat([...speechOf('the tide turns')]),
        );
      }
    });
  });

  describe('transcribes', () => {
    const recording = randomBytes(300_000);
    const said = transcriptOf('tide.mp3', recording);
    const file = () => toFile(recording, 'tide.mp3', { type: 'audio/mpeg' });

    it('to JSON', async () => {
      const { text } = await gateway().client.audio.transcriptions.create({
        model: 'openai/audio.transcriptions',
        file: await file(),
        language: 'fr',
        temperature: 0.5,
        prompt: 'Brest',
      });
      expect(text).to.equal(`${said}, in fr`);
      expect(sent()).to.include({ model: 'whisper-1', language: 'fr', temperature: '0.5', prompt: 'Brest' });
    });

    it('to detailed JSON, with the times asked for', async () => {
      const whole = await gateway().client.audio.transcriptions.create({
        model: 'groq/audio.transcriptions',
        file: await file(),
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      });
      expect(whole).to.deep.include({
        task: 'transcribe',
        language: 'english',
        duration: 0.5,
        text: said,
        words: [{ word: said, start: 0, end: 0.5 }],
      });
      expect(whole.segments).to.deep.equal([{ id: 0, start: 0, end: 0.5, text: said }]);
    });

    it('to plain text and subtitles', async () => {
      const { transcriptions } = gateway().client.audio;
      const ask = { model: 'together/audio.transcriptions', file: await file() };
      expect(await transcriptions.create({ ...ask, response_format: 'text' })).to.equal(`${said}\n`);
      expect(await transcriptions.create({ ...ask, response_format: 'srt' })).to.equal(
        `1\n00:00:00,000 --> 00:00:00,500\n${said}\n\n`,
      );
      expect(await transcriptions.create({ ...ask, response_format: 'vtt' })).to.equal(
        `WEBVTT\n\n00:00.000 --> 00:00.500\n${said}\n`,
      );
    });

    it('and translates, by every vendor that does', async () => {
      for (const vendor of ['openai', 'groq', 'together', 'deepinfra', 'sambanova']) {
        const { text } = await gateway().client.audio.translations.create({
          model: `${vendor}/audio.translations`,
          file: await file(),
          prompt: 'Brest',
        });
        expect(text, vendor).to.equal(said);
      }
      expect(
        await gateway().client.audio.translations.create({
          model: 'openai/audio.translations',
          file: await file(),
          response_format: 'srt',
        }),
      ).to.include(said);
    });
  });

  describe('moderates', () => {
    it('a text', async () => {
      const { id, model, results } = await gateway().client.moderations.create({
        model: 'openai/moderations',
        input: 'some violence',
      });
      expect({ id, model }).to.deep.equal({ id: 'modr-e2e', model: 'openai/moderations' });
      expect(results).to.have.length(1);
      expect(results[0]).to.deep.include({
        flagged: true,
        categories: { harassment: false, hate: false, violence: true },
      });
      expect(results[0])
        .to.deep.include({ category_scores: { harassment: 0.125, hate: 0.125, violence: 0.875 } })
        .and.to.have.property('category_applied_input_types');
    });

    it('texts, by a vendor that does not say whether they are flagged', async () => {
      const { results } = await gateway().client.moderations.create({
        model: 'mistral/moderations',
        input: ['calm', 'hate'],
      });
      expect(results.map(({ flagged }) => flagged)).to.deep.equal([false, true]);
    });

    it('parts', async () => {
      const input = [
        { type: 'text' as const, text: 'calm' },
        { type: 'image_url' as const, image_url: { url: 'https://pictures.example/quay.png' } },
      ];
      await gateway().client.moderations.create({ model: 'openai/moderations', input });
      expect(sent()).to.deep.equal({ model: 'omni-moderation-latest', input });
    });
  });

  describe('reranks, without a method of its own', () => {
    const ask = { query: 'strong tide', documents: ['a dry quay', 'a strong tide', 'the tide'] };

    for (const vendor of ['together', 'deepinfra', 'nvidia-nim']) {
      it(`best first at ${vendor}`, async () => {
        const rerank = (more: object): Promise<any> =>
          gateway().client.post('/rerank', { body: { model: `${vendor}/rerank`, ...ask, ...more } });
        const all = await rerank({ return_documents: true });
        expect(all.results.map(({ index, document }: any) => [index, document.text])).to.deep.equal([
          [1, 'a strong tide'],
          [2, 'the tide'],
          [0, 'a dry quay'],
        ]);
        for (const { relevance_score: score } of all.results) expect(score).to.be.within(0, 1);
        expect(all).to.deep.include({ model: `${vendor}/rerank`, meta: { tokens: { input_tokens: 9 } } });
        const best = await rerank({ top_n: 1 });
        expect(best.results).to.deep.equal([{ index: 1, relevance_score: all.results[0].relevance_score }]);
        expect((await rerank({ top_n: 0 })).results).to.have.length(3);
      });
    }
  });

  it('tells who answered, on every surface', async () => {
    const { client } = gateway();
    const answers = await Promise.all([
      client.chat.completions.create({ model: 'groq/chat', messages }).asResponse(),
      client.completions.create({ model: 'groq/chat', prompt: 'x' }).asResponse(),
      client.embeddings.create({ model: 'together/embeddings', input: 'x' }).asResponse(),
      client.images.generate({ model: 'xai/images', prompt: 'x' }).asResponse(),
      client.audio.speech.create({ model: 'mistral/audio.speech', input: 'x', voice: 'v' }).asResponse(),
      client.audio.transcriptions
        .create({ model: 'groq/audio.transcriptions', file: await toFile(Buffer.from('x'), 'x.wav') })
        .asResponse(),
      client.audio.translations
        .create({ model: 'sambanova/audio.translations', file: await toFile(Buffer.from('x'), 'x.wav') })
        .asResponse(),
      client.moderations.create({ model: 'mistral/moderations', input: 'x' }).asResponse(),
    ]);
    const attributions = answers.map(({ headers }) =>
      ['provider', 'target', 'model', 'attempts'].map((name) => headers.get(`x-gateway-${name}`)).join(' '),
    );
    expect(attributions).to.deep.equal([
      'groq groq llama-3.1-8b-instant 1',
      'groq groq llama-3.1-8b-instant 1',
      'together together intfloat/multilingual-e5-large-instruct 1',
      'xai xai grok-2-image 1',
      'mistral mistral voxtral-mini-tts 1',
      'groq groq whisper-large-v3 1',
      'sambanova sambanova Whisper-Large-v3 1',
      'mistral mistral mistral-moderation-latest 1',
    ]);
  });
});
