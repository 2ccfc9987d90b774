import { join } from 'node:path';
import { expect } from 'chai';
import { forSuite, startGateway } from '../kit/index.ts';
import { writeTree } from '../registry/support.ts';
import { plugin } from './bad/bad-module.ts';

const HANDLERS = "import { answer, rewrite } from 'gw/contract';\n";
const STAGES = "type: 'transform', stages: ['before_request', 'after_request'],";
const SAYS = (content: string): string =>
  `{ id: 'own', object: 'chat.completion', created: 1, model: 'own', choices: [{ index: 0, message: { role: 'assistant', content: ${content} }, finish_reason: 'stop' }] }`;
const last = 'e.request.messages.at(-1).content';

const FILES: Readonly<Record<string, string>> = {
  'plugins/answers.ts': plugin(
    'answers',
    `${STAGES} create: () => ({ before_request: (e) => (${last} === 'ping' ? answer(${SAYS("'pong'")}) : undefined), after_request() {} })`,
    HANDLERS,
  ),
  'plugins/rewrites.ts': plugin(
    'rewrites',
    `${STAGES} create: () => ({ before_request: (e) => (${last} === 'shout' ? rewrite({ ...e.request, user: 'u' }) : undefined), after_request: (e) => rewrite({ ...e.reply, seen: true }) })`,
    HANDLERS,
  ),
  'plugins/watches.ts': plugin(
    'watches',
    "type: 'logging', stages: ['before_request', 'after_request', 'on_error'], create: (_s, { log }) => { const note = (e) => { log.info('watched', { stage: e.stage, has: e.reply !== undefined }); }; return { before_request: note, after_request: note, on_error: note }; }",
  ),
};

describe('third-party plugins that run one after the other', () => {
  const run = forSuite(async () => {
    const listed = (name: string, ...stages: readonly string[]): object[] =>
      stages.map((stage) => ({ name, stage, enabled: true }));
    const both = ['before_request', 'after_request'] as const;
    const plugins = [
      ...listed('answers', ...both),
      ...listed('rewrites', ...both),
      ...listed('response-cache', ...both),
      ...listed('watches', ...both, 'on_error'),
    ];
    const folder = await writeTree({
      'config.json': JSON.stringify({ targets: [{ virtual_key: 'echo', models: ['m'] }], plugins }),
      ...FILES,
    });
    const gateway = await startGateway({ variables: { GATEWAY_CONFIG: join(folder, 'config.json') } });
    const post = async (
      content: string,
      more: object = {},
    ): Promise<{ status: number; text: string; plugin: string | null }> => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more }),
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      });
      return { status: response.status, text: await response.text(), plugin: response.headers.get('x-gateway-target') };
    };
    return { gateway, post };
  });

  for (const content of ['ping', 'hello', 'shout']) {
    for (const stream of [false, true]) {
      it(`serve ${JSON.stringify(content)}${stream ? ' streamed' : ''}, again from the cache too`, async () => {
        for (const time of ['first', 'second']) {
          const { status, text } = await run().post(content, { stream });
          expect(status, `${time}: ${text}`).to.equal(200);
          const said = [...text.matchAll(/"content":"(\w*)"/g)].map(([, piece]) => piece).join('');
          expect(said, text).to.equal(content === 'ping' ? 'pong' : content);
        }
      });
    }
  }

  it('leave no fault behind', () => {
    expect(run().gateway.lines.filter(({ level }) => level === 'ERROR')).to.deep.equal([]);
  });
});
