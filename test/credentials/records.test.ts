import { join } from 'node:path';
import { expect } from 'chai';
import { chatReply, replyJson, temporaryFolder } from '../kit/index.ts';
import { logger } from '../admin/logs-kit.ts';
import { traced } from '../telemetry/support/traced.ts';
import { BAD_KEY, chat, startPool, variablesOf, vendorOf } from './vendor.ts';

describe('records of a switch', () => {
  it('name each attempt’s credential and class in what is kept of the route', async () => {
    const vendor = await vendorOf((key) => (key === 'a' ? BAD_KEY : undefined));
    const t = await startPool(vendor, ['a', 'b'], {
      random: () => 0,
      variables: {
        REQUEST_LOG_STORE_BACKEND: 'sqlite',
        REQUEST_LOG_STORE_DSN: join(await temporaryFolder(), 'requests.db'),
      },
      config: { plugins: logger() },
    });
    const answer = await t.post('/v1/chat/completions', chat());
    const id = answer.headers.get('x-request-id');
    const { attempts } = (await t.get(`/admin/explain/${id}`)).json();
    expect(attempts.map(({ credential, class: why, status }: any) => [credential, why, status])).to.deep.equal([
      ['a', 'invalid_key', 401],
      ['b', undefined, 200],
    ]);
  });

  it('show the credential in spans, and no name of it at the privacy level none', async () => {
    for (const level of ['metadata', 'none']) {
      const { host, finished, upstream } = await traced({
        handler: (request, response) =>
          String(request.headers.authorization).includes('of-a-')
            ? replyJson(response, 401, BAD_KEY.body)
            : replyJson(response, 200, chatReply('hi')),
        tracing: { privacy_level: level },
        options: { variables: variablesOf(['a', 'b']), random: () => 0 },
        config: {},
      });
      await host.apply({
        strategy: { mode: 'fallback' },
        providers: {
          acme: {
            kind: 'openai',
            base_url: `${upstream.url}/v1`,
            credentials: ['a', 'b'].map((name) => ({ name: `name-${name}`, api_key: `\${KEY_${name.toUpperCase()}}` })),
          },
        },
        targets: [{ virtual_key: 'acme', models: ['m'] }],
      });
      await host.post('/v1/chat/completions', chat());
      const spans = await finished();
      const calls = spans.filter(({ name }) => name === 'POST');
      const shown = (name: string): string => (level === 'none' ? 'redacted' : name);
      expect(
        calls.map(({ attributes }) => [attributes['gw.routing.credential'], attributes['gw.routing.credential_class']]),
      ).to.deep.equal([
        [shown('name-a'), 'invalid_key'],
        [shown('name-b'), undefined],
      ]);
      const event = spans.flatMap(({ events }) => events).find(({ name }) => name === 'gw.credential.switched');
      expect(event?.attributes).to.include({ from: shown('name-a'), class: 'invalid_key' });
    }
  });
});
