import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { AdminHost } from '../admin/kit.ts';
import { as, startAdmin } from '../admin/kit.ts';
import { read } from '../architecture/source.ts';
import { validateText } from '../cli/commands.ts';
import { chatReply, replyJson, stubUpstream, temporaryFolder } from '../kit/index.ts';

const PAGE = read('docs/fleet.md');
const SECRET = (name: string): string => `${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}-0123456789`;

/** The examples of the page, by their headings. */
const EXAMPLES: ReadonlyMap<string, string> = new Map(
  [...(PAGE.split('\n## Worked examples\n')[1] ?? '').matchAll(/\n### ([^\n]+)\n.*?```yaml\n(.*?)```/gs)].map(
    ([, title = '', text = '']) => [title, text],
  ),
);

interface Call {
  /** Instance whose address was called. */
  readonly name: string;
  readonly credential: string;
  readonly model: string;
  readonly url: string;
}

interface Running {
  readonly t: AdminHost;
  readonly calls: Call[];
  /** Instances that answer 503. */
  readonly down: Set<string>;
  readonly ask: (
    model: string,
    headers?: Record<string, string>,
  ) => Promise<{ status: number; target: string | null; headers: Headers }>;
  /** Targets of a name, in the order that explain gives. */
  readonly explained: (model: string) => Promise<string[]>;
}

/** An example as it stands on the page: a lab server in the place of each address, a value behind each reference. */
async function start(title: string): Promise<Running> {
  const folder = await temporaryFolder();
  const text = EXAMPLES.get(title)!.replaceAll('/run/secrets', folder);
  const config = parse(text) as { readonly providers: Record<string, { base_url?: string }> };
  const variables: Record<string, string> = { GW_SECRET_DIRS: folder, GW_RATE_LIMIT_RPS: '1000' };
  for (const [, name = ''] of text.matchAll(/\$\{([A-Z]\w*)\}/g)) variables[name] = SECRET(name);
  for (const [, path = ''] of text.matchAll(/\$\{file:([^}]+)\}/g))
    await writeFile(path, SECRET(path.slice(folder.length + 1)));
  const down = new Set<string>();
  const calls: Call[] = [];
  for (const [name, block] of Object.entries(config.providers)) {
    const upstream = await stubUpstream((request, response) => {
      if (request.method === 'GET') return replyJson(response, 200, { data: [{ id: 'live' }] });
      const credential = request.headers.authorization ?? request.headers['api-key'] ?? 'none';
      calls.push({ name, credential: String(credential), model: String(request.json().model), url: request.url });
      if (down.has(name)) return replyJson(response, 503, { error: { message: 'down' } });
      return replyJson(response, 200, chatReply(name));
    });
    block.base_url = upstream.url + (new URL(block.base_url ?? 'http://x/v1').pathname === '/v1' ? '/v1' : '');
  }
  const t = await startAdmin({ variables }, config);
  return {
    t,
    calls,
    down,
    ask: async (model, headers = {}) => {
      const body = { model, messages: [{ role: 'user', content: 'hi' }] };
      const { status, headers: answered } = await t.post('/v1/chat/completions', body, headers);
      return { status, target: answered.get('x-gateway-target'), headers: answered };
    },
    explained: async (model) => {
      const answer = await t.post('/admin/explain', {
        surface: 'chat',
        request: { model, messages: [{ role: 'user', content: 'hi' }] },
      });
      expect(answer.status, answer.text).to.equal(200);
      return answer.json().order.map(({ target, upstream_model: upstream }: any) => `${target} ${upstream}`);
    },
  };
}

describe('the examples of docs/fleet.md', () => {
  it('are eight, each a file that passes gw validate without a variable set', async () => {
    expect([...EXAMPLES.keys()]).to.have.length(8);
    for (const [title, text] of EXAMPLES) {
      const { code, stdout, stderr } = await validateText(text);
      expect([code, stderr], title).to.deep.equal([0, '']);
      for (const name of Object.keys(parse(text).providers))
        expect(stdout, title).to.match(new RegExp(`^${name} `, 'm'));
    }
  });

  it('the five minutes at its beginning are a file that passes, too', async () => {
    const [, text = ''] = /<<'END'\n(.*?)END\n/s.exec(PAGE) ?? [];
    const { code, stdout } = await validateText(text);
    expect([code, stdout.includes('gpu-1@Qwen/Qwen3-32B, gpu-2@Qwen/Qwen3-32B')]).to.deep.equal([0, true]);
  });

  it('Two accounts: both keys are used', async () => {
    const { ask, calls, explained } = await start('Two accounts');
    expect(await explained('gpt-4o-mini')).to.deep.equal(['openai gpt-4o-mini']);
    for (let count = 0; count < 40; count += 1) expect((await ask('gpt-4o-mini')).status).to.equal(200);
    const used = new Set(calls.map(({ credential }) => credential));
    expect([...used].toSorted()).to.deep.equal([`Bearer ${SECRET('openai-a')}`, `Bearer ${SECRET('OPENAI_KEY_B')}`]);
  });

  it('Three regions: each is called by its deployment, and the others stand behind it', async () => {
    const { ask, calls, down, explained } = await start('Three regions');
    expect((await explained('gpt-5-mini')).toSorted()).to.deep.equal([
      'azure-asia mini-asia',
      'azure-eu mini-eu',
      'azure-us mini-us',
    ]);
    for (const name of ['azure-eu', 'azure-us']) down.add(name);
    expect(await ask('gpt-5-mini')).to.include({ status: 200, target: 'azure-asia' });
    const { credential, url } = calls.findLast(({ name }) => name === 'azure-asia')!;
    expect(credential).to.equal(SECRET('AZURE_ASIA_KEY'));
    expect(url).to.match(/\/deployments\/mini-asia\//);
  });

  it('On-premises first, the cloud behind it', async () => {
    const { ask, calls, down, explained } = await start('On-premises first, the cloud behind it');
    expect(await explained('assistant')).to.deep.equal(['rack Qwen/Qwen3-32B', 'cloud gpt-5-mini']);
    expect(await ask('assistant')).to.include({ status: 200, target: 'rack' });
    expect(calls[0]).to.include({ credential: 'none', model: 'Qwen/Qwen3-32B', url: '/v1/chat/completions' });
    down.add('rack');
    expect(await ask('assistant')).to.include({ status: 200, target: 'cloud' });
    expect(calls.at(-1)).to.include({ credential: `Bearer ${SECRET('OPENAI_KEY')}`, model: 'gpt-5-mini' });
  });

  it('A cheap group with a fallback', async () => {
    const { ask, down, explained } = await start('A cheap group with a fallback');
    expect(await explained('cheap')).to.deep.equal(['small deepseek-chat', 'large gpt-5']);
    expect((await ask('cheap')).target).to.equal('small');
    expect((await ask('smart')).target).to.equal('large');
    down.add('small');
    expect(await ask('cheap')).to.include({ status: 200, target: 'large' });
  });

  it('A canary by weight: sessions are split, and each keeps its model', async () => {
    const { ask, calls, explained } = await start('A canary by weight');
    expect((await explained('assistant')).toSorted()).to.deep.equal(['main gpt-4o', 'main gpt-5']);
    const modelOf = async (session: string): Promise<string> => {
      expect((await ask('assistant', { 'x-gateway-session': session })).status).to.equal(200);
      return calls.at(-1)!.model;
    };
    const first: string[] = [];
    for (let count = 0; count < 80; count += 1) first.push(await modelOf(`s-${count}`));
    expect(new Set(first)).to.have.property('size', 2);
    const canary = first.indexOf('gpt-5');
    expect([await modelOf(`s-${canary}`), await modelOf(`s-${canary}`)]).to.deep.equal(['gpt-5', 'gpt-5']);
    expect(first.filter((model) => model === 'gpt-5').length).to.be.lessThan(20);
  });

  it('Affinity for agents: a session keeps its organisation', async () => {
    const { ask, calls, explained } = await start('Affinity for agents');
    expect(await explained('coder')).to.deep.equal(['pool gpt-5']);
    const organisationOf = (credential: string): string => (credential.includes('key-a') ? 'org-a' : 'org-b');
    const seen = new Set<string>();
    for (let session = 0; session < 8; session += 1) {
      const before = calls.length;
      for (let turn = 0; turn < 3; turn += 1) {
        const { headers } = await ask('coder', { 'x-gateway-session': `agent-${session}` });
        expect(headers.get('x-gateway-affinity')).to.equal('new');
      }
      const used = new Set(calls.slice(before).map(({ credential }) => organisationOf(credential)));
      expect(used).to.have.property('size', 1);
      for (const organisation of used) seen.add(organisation);
    }
    expect([...seen].toSorted()).to.deep.equal(['org-a', 'org-b']);
  });

  it("One team's own account: keys say who pays", async () => {
    const { t, ask, down } = await start("One team's own account");
    const research = await t.makeKey({ name: 'research', providers: ['research'] });
    const all = await t.makeKey({ name: 'all', providers: ['shared'] });
    expect((await ask('assistant', as(research.key))).target).to.equal('research');
    expect((await ask('assistant', as(all.key))).target).to.equal('shared');
    down.add('shared');
    expect((await ask('assistant', as(all.key))).status).to.equal(502);
  });

  it('A local vLLM: the server tells its models, and is called without a key', async () => {
    const { ask, calls, explained } = await start('A local vLLM');
    expect(await explained('live')).to.deep.equal(['vllm live']);
    expect(await ask('live')).to.include({ status: 200, target: 'vllm' });
    expect(calls).to.deep.equal([{ name: 'vllm', credential: 'none', model: 'live', url: '/v1/chat/completions' }]);
  });
});
