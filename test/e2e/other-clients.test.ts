import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embed, embedMany, generateText, streamText } from 'ai';
import { expect } from 'chai';
import { withVendors } from './support/vendor-gateway.ts';
import { heard } from './support/vendors/chat.ts';
import { vectorOf } from './support/vendors/embeddings.ts';

const CHATTING = ['openai', 'groq', 'mistral', 'together', 'deepseek', 'ollama', 'perplexity', 'databricks'];
const EMBEDDING = ['openai', 'mistral', 'together', 'qwen', 'hugging-face', 'ollama', 'cloudflare'];
const prompt = 'when does the harbour open?';

describe('other clients with many providers', function suite() {
  const gateway = withVendors();

  describe('the AI SDK', () => {
    const sdk = (): OpenAICompatibleProvider =>
      createOpenAICompatible({ name: 'gw', baseURL: gateway().baseURL, apiKey: gateway().key, includeUsage: true });

    it('generates and streams texts', async () => {
      for (const vendor of CHATTING) {
        const call = { model: sdk()(`${vendor}/chat`), prompt, maxRetries: 0, maxOutputTokens: 50, temperature: 0.5 };
        const { text, usage, finishReason } = await generateText(call);
        expect({ text, finishReason }, vendor).to.deep.equal({ text: heard(vendor, prompt), finishReason: 'stop' });
        expect(usage, vendor).to.include({ inputTokens: 11, outputTokens: 7, totalTokens: 18 });
        const streamed = streamText(call);
        expect((await Array.fromAsync(streamed.textStream)).join(''), vendor).to.equal(heard(vendor, prompt));
        expect(await streamed.usage, vendor).to.include({ inputTokens: 11, outputTokens: 7, totalTokens: 18 });
      }
    });

    it('embeds one text and many', async () => {
      for (const vendor of EMBEDDING) {
        const model = sdk().embeddingModel(`${vendor}/embeddings`);
        const one = await embed({ model, value: 'tide', maxRetries: 0 });
        expect(one.embedding, vendor).to.deep.equal(vectorOf('tide'));
        expect(one.usage.tokens, vendor).to.equal(vendor === 'hugging-face' ? 0 : 5);
        const { embeddings } = await embedMany({ model, values: ['tide', 'a strong wind', 'quay'], maxRetries: 0 });
        expect(embeddings, vendor).to.deep.equal(['tide', 'a strong wind', 'quay'].map((text) => vectorOf(text)));
      }
    });

    it('embeds with a size of its own', async () => {
      const { embedding } = await embed({
        model: sdk().embeddingModel('mistral/embeddings'),
        value: 'tide',
        providerOptions: { openaiCompatible: { dimensions: 6 } },
        maxRetries: 0,
      });
      expect(embedding).to.deep.equal(vectorOf('tide', 6));
    });
  });

  describe('LangChain', () => {
    const options = () => ({ apiKey: gateway().key, maxRetries: 0, configuration: { baseURL: gateway().baseURL } });

    it('invokes and streams chat', async () => {
      for (const vendor of CHATTING) {
        const model = new ChatOpenAI({ ...options(), model: `${vendor}/chat`, maxTokens: 50, temperature: 0.5 });
        const whole = await model.invoke(prompt);
        expect(whole.text, vendor).to.equal(heard(vendor, prompt));
        expect(whole.usage_metadata, vendor).to.include({ input_tokens: 11, output_tokens: 7, total_tokens: 18 });
        const pieces = await Array.fromAsync(await model.stream(prompt));
        expect(pieces.map((piece) => piece.text).join(''), vendor).to.equal(heard(vendor, prompt));
        expect(
          pieces.filter(({ usage_metadata: usage }) => usage).map(({ usage_metadata: usage }) => usage?.total_tokens),
          vendor,
        ).to.deep.equal([18]);
      }
    });

    it('embeds a query and documents', async () => {
      for (const vendor of EMBEDDING) {
        const model = new OpenAIEmbeddings({ ...options(), model: `${vendor}/embeddings` });
        expect(await model.embedQuery('tide'), vendor).to.deep.equal(vectorOf('tide'));
        expect(await model.embedDocuments(['tide', 'a strong wind']), vendor).to.deep.equal([
          vectorOf('tide'),
          vectorOf('a strong wind'),
        ]);
      }
    });

    it('embeds with a size and an encoding of its own', async () => {
      const model = new OpenAIEmbeddings({
        ...options(),
        model: 'openai/embeddings',
        dimensions: 6,
        encodingFormat: 'float',
      });
      expect(await model.embedQuery('tide')).to.deep.equal(vectorOf('tide', 6));
    });
  });
});
