import { expect } from 'chai';
import type { ProviderModule } from 'gw/contract';
import bedrock from '../../providers/bedrock/index.ts';
import { replyJson, startHost, stubUpstream } from '../kit/index.ts';

/** Variables by which the process would find an account of its own. */
const OF_PROCESS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;

describe('an instance with secrets of its own', () => {
  it('never signs with what the process would find: rerank at bedrock with an API key', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, { results: [] }));
    const before = OF_PROCESS.map((name) => process.env[name]);
    for (const name of OF_PROCESS) process.env[name] = `of-the-process-${name}`;
    try {
      const t = await startHost(
        {
          providers: {
            aws: {
              kind: 'bedrock',
              base_url: upstream.url,
              api_key: '${ONE_KEY}',
              settings: { region: 'eu-west-1', agent_base_url: upstream.url },
            },
          },
          targets: [{ virtual_key: 'aws', models: ['cohere.rerank-v3-5:0'] }],
        },
        { variables: { ONE_KEY: 'bedrock-key-0123456789' } },
      );
      const body = { model: 'cohere.rerank-v3-5:0', query: 'q', documents: ['a', 'b'] };
      const answer = await t.post('/v1/rerank', body);
      expect([answer.status, answer.json().error.code]).to.deep.equal([502, 'upstream_auth_error']);
      expect(answer.json().error.message).to.include('rerank at bedrock takes no API key');
      expect(upstream.seen).to.deep.equal([]);
      const providers = (await t.get('/admin/providers')).json();
      const one = providers.find(({ name }: { name: string }) => name === 'aws');
      expect(one.credentials.map(({ state }: { state: string }) => state)).to.deep.equal(['ready']);
    } finally {
      OF_PROCESS.forEach((name, at) => {
        if (before[at] === undefined) delete process.env[name];
        else process.env[name] = before[at];
      });
    }
  });

  for (const [what, secrets, may] of [
    ['an API key', { api_key: '${S}' }, false],
    ['nothing', {}, true],
  ] as const)
    it(`says to its kind whether it may look further: ${what}`, async () => {
      const given: boolean[] = [];
      const asked: ProviderModule = {
        ...bedrock,
        name: 'asked',
        connection: {
          ...bedrock.connection,
          open: (credentials, deps) => {
            given.push(deps.mayLookFurther);
            return bedrock.connection.open!(credentials, deps);
          },
        },
      };
      const one = { kind: 'asked', settings: { region: 'eu-west-1' }, ...secrets };
      await startHost(
        { providers: { one }, targets: [{ virtual_key: 'one', models: ['m'] }] },
        { variables: { S: 'secret-0123456789' }, modules: [asked] },
      );
      expect(given).to.deep.equal([may]);
    });
});
