import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  chatChunks,
  chatReply,
  eventually,
  fakeClock,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';
import { chat, keyOf } from './support.ts';

describe('a value that changes while calls are under way', () => {
  it('leaves streams their own, gives later tries of the same request the new one, and closes the old with the instance', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'key');
    await writeFile(path, 'sk-first-0123456789abc');
    const go = Promise.withResolvers<void>();
    const clock = fakeClock();
    const tried: string[] = [];
    const upstream = await stubUpstream(async (request, response) => {
      const { model, stream } = request.json();
      const key = request.headers.authorization ?? '';
      tried.push(key);
      if (stream === true) {
        openSse(response);
        const [first, ...rest] = chatChunks(['one', key]);
        response.write(sseEvent(first));
        await go.promise;
        for (const chunk of rest) response.write(sseEvent(chunk));
        response.end(sseEvent('[DONE]'));
        return;
      }
      if (model === 'm' && key.includes('first')) {
        await go.promise;
        replyJson(response, 503, { error: { message: 'busy' } });
        return;
      }
      replyJson(response, 200, chatReply(key));
    });
    const closed: string[] = [];
    const kind = upstream.provider('counted', {
      connection: {
        env: ['COUNTED_API_KEY'],
        baseUrl: upstream.url,
        open: ({ COUNTED_API_KEY: key = '' }) => ({
          authorize: () => ({ authorization: `Bearer ${key}` }),
          dispose: () => {
            closed.push(key);
          },
        }),
      },
    });
    const t = await startHost(
      {
        providers: {
          mine: { kind: 'counted', base_url: upstream.url, api_key: `\${file:${path}}`, models: ['m', 's'] },
        },
        targets: [{ virtual_key: 'mine', retry: { attempts: 2, initial_backoff_ms: 0 } }],
      },
      { variables: { GW_SECRET_DIRS: folder }, modules: [kind], clock },
    );
    const stream = t.post('/v1/chat/completions', chat('s', { stream: true }));
    const retried = keyOf(t, 'm');
    await eventually(() => tried.length === 2);
    await writeFile(`${path}.new`, 'sk-second-0123456789abc');
    await rename(`${path}.new`, path);
    clock.advance(30_000);
    await eventually(() => t.lines.some(({ msg }) => msg === 'credential refreshed'));
    expect(closed, 'while calls have it').to.deep.equal([]);
    go.resolve();
    expect((await stream).text).to.contain('sk-first');
    await eventually(() => {
      clock.advance(50); // the wait before the second try
      return tried.length === 3;
    });
    expect(await retried).to.equal('Bearer sk-second-0123456789abc');
    await t.close();
    expect(closed.toSorted()).to.deep.equal(['sk-first-0123456789abc', 'sk-second-0123456789abc']);
  });
});
