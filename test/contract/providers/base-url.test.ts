import { expect } from 'chai';
import { connect, expectRejection, minimal, translate, valueOf, variablesOf } from '../../kit/index.ts';
import { type Facts, FACTS } from './facts.ts';
import { connected, factsOf, moduleOf } from './support.ts';

/** Addresses that cannot be called, or with parts that would corrupt every path. See docs/reference/providers.md#addresses. */
const REFUSED = [
  'not-a-url',
  'ftp://host/v1',
  'https://',
  '/v1',
  '://bad',
  'https://h/v1?a=b',
  'https://h/v1#frag',
  'https://h/v1#',
  'https://h/v1?',
  'http://h:9911?x=1',
];

/** Configured address and the root it means; a bare host adopts the version that ends the default root. */
const vectors = ({
  bareRoot,
  defaultRoot = '',
}: Facts): readonly (readonly [configured: string | undefined, root: string])[] => {
  const segment = bareRoot.slice('http://h:9911'.length);
  return [
    [undefined, defaultRoot],
    ['', defaultRoot],
    ['   ', defaultRoot],
    ['http://h:9911', bareRoot],
    ['http://h:9911/', bareRoot],
    ['http://h:9911///', bareRoot],
    ['  http://h:9911\n', bareRoot],
    ['http://h', `http://h${segment}`],
    ['https://h/v1/', 'https://h/v1'],
    ['https://h/openai', 'https://h/openai'],
    ['https://h/openai/v1', 'https://h/openai/v1'],
    ['https://h/deployments/d', 'https://h/deployments/d'],
    ['HTTPS://h/v1', 'HTTPS://h/v1'],
    ['http://127.0.0.1:1/a//', 'http://127.0.0.1:1/a'],
    ['http://[::1]:1', `http://[::1]:1${segment}`],
    ['http://u:p@h:9911', bareRoot],
    ['http://u@h:9911', bareRoot],
  ];
};

async function chatUrl(facts: Facts, configured: string | undefined): Promise<string> {
  const { [facts.address]: _address, ...variables } = variablesOf(facts, '');
  const provider = await connect(
    moduleOf(facts.name),
    configured === undefined ? variables : { ...variables, [facts.address]: configured },
  );
  const { sent } = await translate(provider, 'chat', minimal('chat', facts.surfaces.chat.model) as never);
  return sent.url;
}

describe('provider addresses', () => {
  for (const facts of FACTS.filter(({ isHostRoot }) => !isHostRoot)) {
    it(`of ${facts.name} follow the rules of an API root`, async () => {
      for (const [configured, root] of vectors(facts)) {
        expect(await chatUrl(facts, configured), JSON.stringify(configured)).to.equal(`${root}/chat/completions`);
      }
    });
  }

  for (const facts of FACTS) {
    it(`of ${facts.name} are refused when they are none`, async () => {
      for (const address of REFUSED)
        await expectRejection(
          () => connect(moduleOf(facts.name), variablesOf(facts, address)),
          JSON.stringify(address),
        );
    });
  }

  it('of ai21 lose the first segment of its default when they are a bare host', async () => {
    expect(await chatUrl(factsOf('ai21'), 'https://api.ai21.com')).to.equal('https://api.ai21.com/v1/chat/completions');
  });

  it('of databricks name the workspace, the serving root or an endpoint below it', async () => {
    const facts = factsOf('databricks');
    for (const tail of [
      '',
      '/',
      '/serving-endpoints',
      '/serving-endpoints/',
      '/serving-endpoints/chat/completions',
      '/serving-endpoints/embeddings',
      '/serving-endpoints/models',
      '/serving-endpoints/embeddings/chat/completions',
    ]) {
      expect(await chatUrl(facts, ` https://w.example${tail}`), tail).to.equal(
        'https://w.example/serving-endpoints/chat/completions',
      );
    }
    expect(await chatUrl(facts, 'https://w.example/chat/completions')).to.equal(
      'https://w.example/serving-endpoints/chat/completions',
    );
  });

  it('of hugging-face adopt the version only as a bare host; tasks stand beside it', async () => {
    const facts = factsOf('hugging-face');
    const urls = [
      [undefined, 'https://router.huggingface.co/v1'],
      ['http://h', 'http://h/v1'],
      ['http://h/', 'http://h/v1'],
      ['https://h/v1/', 'https://h/v1'],
      ['https://h/probe', 'https://h/probe'],
    ] as const;
    for (const [configured, root] of urls)
      expect(await chatUrl(facts, configured), configured).to.equal(`${root}/chat/completions`);
    for (const [address, task] of [
      ['http://h', 'http://h'],
      ['http://h/v1', 'http://h'],
      ['http://h/probe/v1', 'http://h/probe'],
    ] as const) {
      const { sent } = await translate(
        await connected('hugging-face', address),
        'embeddings',
        minimal('embeddings', 'a/b') as never,
      );
      expect(sent.url).to.equal(`${task}/hf-inference/models/a/b/pipeline/feature-extraction`);
    }
  });

  it('of ollama are a server root with a scheme', async () => {
    const facts = factsOf('ollama');
    for (const [configured, root] of [
      ['http://h:9911', 'http://h:9911'],
      [' http://h:9911/ ', 'http://h:9911'],
      ['https://h/probe/', 'https://h/probe'],
    ] as const) {
      expect(await chatUrl(facts, configured)).to.equal(`${root}/v1/chat/completions`);
    }
    for (const address of ['h:11434', 'localhost:11434', '127.0.0.1:11434'])
      await expectRejection(() => connect(moduleOf('ollama'), variablesOf(facts, address)), address);
  });

  it('of ollama-cloud keep embeddings beside the compatible root', async () => {
    const urls = [
      ['https://ollama.com/v1', 'https://ollama.com/api/embed'],
      ['http://h', 'http://h/api/embed'],
      ['http://h/x/v1', 'http://h/x/api/embed'],
      ['http://h/x', 'http://h/x/api/embed'],
    ] as const;
    for (const [address, url] of urls)
      expect(
        (await translate(await connected('ollama-cloud', address), 'embeddings', minimal('embeddings', 'm') as never))
          .sent.url,
      ).to.equal(url);
  });

  it('of deepinfra keep rerank beside the compatible root', async () => {
    const urls = [
      ['', 'https://api.deepinfra.com/v1/inference/a/b%20c'],
      ['http://h/v1/openai', 'http://h/v1/inference/a/b%20c'],
      ['http://h', 'http://h/inference/a/b%20c'],
      ['http://h/x', 'http://h/x/inference/a/b%20c'],
    ] as const;
    for (const [address, url] of urls)
      expect(
        (await translate(await connected('deepinfra', address), 'rerank', minimal('rerank', 'a/b c') as never)).sent
          .url,
      ).to.equal(url);
  });

  it('of nvidia-nim send rerank to the hosted service only from the default root', async () => {
    const hosted = 'https://ai.api.nvidia.com/v1/retrieval/nvidia/reranking';
    const urls = [
      ['', hosted],
      ['https://integrate.api.nvidia.com', hosted],
      ['https://integrate.api.nvidia.com/v1/', hosted],
      ['http://h', 'http://h/v1/ranking'],
      ['http://h/x', 'http://h/x/ranking'],
    ] as const;
    for (const [address, url] of urls) {
      const { sent } = await translate(
        await connected('nvidia-nim', address),
        'rerank',
        minimal('rerank', 'm') as never,
      );
      expect(sent.url).to.equal(url);
      expect(sent.headers, url).to.include({
        authorization: `Bearer ${valueOf('NVIDIA_NIM_API_KEY')}`,
        accept: 'application/json',
      });
    }
  });

  it('of cloudflare hold the account, which a configured address makes unused', async () => {
    const facts = factsOf('cloudflare');
    expect(await chatUrl(facts, undefined)).to.equal(
      'https://api.cloudflare.com/client/v4/accounts/cloudflare-account-id-0123456789/ai/v1/chat/completions',
    );
    expect(await chatUrl(facts, 'https://gateway.example/a')).to.equal('https://gateway.example/a/chat/completions');
  });
});
