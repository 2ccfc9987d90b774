import { expect } from 'chai';
import type { ApiError } from '../../../builtins/dashboard/app/src/api/api-error.ts';
import { ApiClient } from '../../../builtins/dashboard/app/src/api/client.ts';
import { type Kept, keptIn } from '../../../builtins/dashboard/app/src/lib/storage.ts';
import { SESSION_KEY, SessionStore } from '../../../builtins/dashboard/app/src/session/session-store.ts';
import { keepUnsentFor } from '../../../builtins/dashboard/app/src/session/unsent.ts';

const SESSION = { token: 'gws_1', scopes: ['admin'], subject: 'ops', expires_at: '2026-01-02T00:00:00Z' };

function memory(entries: Readonly<Record<string, string>> = {}): Kept & { readonly all: Map<string, string> } {
  const all = new Map(Object.entries(entries));
  return {
    all,
    read: (key) => all.get(key) ?? null,
    keys: () => [...all.keys()],
    write: (key, value) => {
      if (value === null) all.delete(key);
      else all.set(key, value);
    },
  };
}

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

function clientOf(
  answer: (sent: Sent) => Response | Promise<Response>,
  base = '',
): { readonly client: ApiClient; readonly session: SessionStore; readonly sent: Sent[] } {
  const session = new SessionStore(memory({ [SESSION_KEY]: JSON.stringify(SESSION) }), memory());
  const sent: Sent[] = [];
  const fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const call = { url: url as string, init };
    sent.push(call);
    return answer(call);
  };
  return { client: new ApiClient({ base, pageOrigin: 'http://here.example', session, fetch }), session, sent };
}

const json = (status: number, value: unknown): Response => new Response(JSON.stringify(value), { status });
const failing = async (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => {
      throw new Error('it went well');
    },
    (error: ApiError) => error,
  );

describe('a session in the browser', () => {
  it('keeps four members of the answer and nothing else', () => {
    const kept = memory();
    new SessionStore(kept, memory()).begin({ ...SESSION, key: 'gw_typed', scopes: ['admin', 'superadmin'] });
    expect([...kept.all]).to.deep.equal([[SESSION_KEY, JSON.stringify(SESSION)]]);
  });

  it('is restored, unless what is stored is not a session', () => {
    expect(new SessionStore(memory({ [SESSION_KEY]: JSON.stringify(SESSION) }), memory()).current).to.deep.equal(
      SESSION,
    );
    for (const stored of ['', '{', '[]', 'null', '{"token":7}', '{"token":"gw_a-key"}'])
      expect(new SessionStore(memory({ [SESSION_KEY]: stored }), memory()).current, stored).to.equal(undefined);
  });

  it('is purged from the storage that outlives the tab, where an earlier version left it', () => {
    const lasting = memory({ 'gw.session': 'old', 'gw.theme': 'dark', 'gw.rail': 'narrow', other: 'theirs' });
    expect(new SessionStore(memory(), lasting).current).to.equal(undefined);
    expect([...lasting.all.keys()]).to.deep.equal(['gw.theme', 'gw.rail', 'other']);
  });

  it('works where the browser refuses storage', () => {
    const store = new SessionStore(
      keptIn(() => {
        throw new Error('refused');
      }),
      memory(),
    );
    store.begin(SESSION);
    expect(store.current?.token).to.equal('gws_1');
  });

  it('is not begun by an answer without a token', () => {
    expect(() => new SessionStore(memory(), memory()).begin({ scopes: ['admin'] })).to.throw(/without a session/);
  });

  it('drops scopes that it does not know, and tells of those that changed', () => {
    const store = new SessionStore(memory({ [SESSION_KEY]: JSON.stringify(SESSION) }), memory());
    let told = 0;
    store.subscribe(() => {
      told++;
    });
    store.setScopes(['admin', 'root']);
    expect([store.current?.scopes, told]).to.deep.equal([['admin'], 0]);
    store.setScopes('admin');
    expect([store.current?.scopes, told]).to.deep.equal([[], 1]);
  });
});

describe('calls of the dashboard', () => {
  it('carry the token, no cookies and no cached answers, to the configured origin', async () => {
    const { client, sent } = clientOf(() => json(200, { a: 1 }), 'https://gw.example');
    expect(await client.json('/admin/x', { method: 'PUT', body: { b: 2 } })).to.deep.equal({ a: 1 });
    const [{ url, init }] = sent as [Sent];
    expect([url, init.method, init.body, init.cache, init.credentials]).to.deep.equal([
      'https://gw.example/admin/x',
      'PUT',
      '{"b":2}',
      'no-store',
      'omit',
    ]);
    expect(init.headers).to.deep.equal({ Authorization: 'Bearer gws_1', 'Content-Type': 'application/json' });
  });

  it('go to paths of the gateway only', async () => {
    const { client, sent } = clientOf(() => json(200, {}));
    for (const path of ['https://evil.example/', '//evil.example', '/\\evil.example', 'admin/x', ''])
      expect((await failing(client.json(path))).message, path).to.match(/is not a path/);
    expect(sent).to.have.lengthOf(0);
  });

  it('end the session on 401, and only the one they were made with', async () => {
    const ended = clientOf(() => json(401, {}));
    await failing(ended.client.json('/admin/x'));
    expect(ended.session.current).to.equal(undefined);
    const renewed = clientOf(() => {
      renewed.session.begin({ ...SESSION, token: 'gws_2' });
      return json(401, {});
    });
    await failing(renewed.client.json('/admin/x'));
    expect(renewed.session.current?.token).to.equal('gws_2');
    const exchange = clientOf(() => json(401, {}));
    await failing(exchange.client.json('/admin/session', { method: 'POST', bearer: 'gw_wrong' }));
    expect(exchange.session.current?.token).to.equal('gws_1');
  });

  it('tell a session that lapsed from one that its reader ended', async () => {
    const lapsed = clientOf(() => json(401, {}));
    await failing(lapsed.client.json('/x'));
    expect(lapsed.session.hasLapsed).to.equal(true);
    lapsed.session.begin(SESSION);
    lapsed.session.end(SESSION.token);
    expect([lapsed.session.current, lapsed.session.hasLapsed]).to.deep.equal([undefined, false]);
  });

  it('keep what was typed for the reader whose session lapsed, and for no other', async () => {
    const next = (change: (session: SessionStore) => void): boolean => {
      const { session } = clientOf(() => json(200, {}));
      const unsent = new Map([['prompt', 'half a thou']]);
      const losable = new Set(['prompt']);
      keepUnsentFor(session, { unsent, losable });
      session.lapse(SESSION.token);
      expect(unsent.size).to.equal(1);
      change(session);
      expect(losable.size).to.equal(unsent.size);
      return unsent.has('prompt');
    };
    expect(next((session) => session.begin({ ...SESSION, token: 'gws_2' }))).to.equal(true);
    expect(next((session) => session.begin({ ...SESSION, token: 'gws_2', subject: 'colleague' }))).to.equal(false);
    expect(next((session) => session.begin({ ...SESSION, token: 'gws_2', scopes: ['read_only'] }))).to.equal(false);
    expect(
      next((session) => {
        session.begin({ ...SESSION, token: 'gws_2' });
        session.end('gws_2');
      }),
    ).to.equal(false);
  });

  it('doubt the scopes on 403', async () => {
    const { client, session } = clientOf(() => json(403, {}));
    let doubts = 0;
    session.onDoubt(() => {
      doubts++;
    });
    await failing(client.json('/admin/x'));
    expect([doubts, session.current?.token]).to.deep.equal([1, 'gws_1']);
  });

  it('fail with what the gateway said, else with its status', async () => {
    const said = await failing(
      clientOf(() =>
        json(409, { error: { message: 'the last admin key', type: 't', code: 'last_admin_key' } }),
      ).client.json('/x'),
    );
    expect([said.status, said.message, said.code]).to.deep.equal([409, 'the last admin key', 'last_admin_key']);
    for (const body of ['', '<html>', '[]', '{"error":"text"}', '{"error":{"message":7}}']) {
      expect(
        (await failing(clientOf(() => new Response(body, { status: 500 })).client.json('/x'))).message,
        body,
      ).to.equal('The gateway answered with status 500.');
    }
  });

  it('take a 503 for data where they say so', async () => {
    const answer = (): Response => json(503, { status: 'not_ready' });
    expect(await clientOf(answer).client.json('/readyz', { accepts: [503] })).to.deep.equal({ status: 'not_ready' });
    expect((await failing(clientOf(answer).client.json('/readyz'))).status).to.equal(503);
  });

  it('give nothing for an answer without a body, and refuse one that is not JSON', async () => {
    expect(await clientOf(() => new Response(null, { status: 204 })).client.json('/x')).to.equal(undefined);
    expect((await failing(clientOf(() => new Response('ok')).client.json('/x'))).message).to.match(/not JSON/);
  });

  it('give the headers of an answer where they are asked for, under the same rules', async () => {
    const { data, headers } = await clientOf(
      () => new Response('{"a":1}', { headers: { etag: '"3"' } }),
    ).client.answered('/x');
    expect([data, headers.get('etag')]).to.deep.equal([{ a: 1 }, '"3"']);
    expect((await failing(clientOf(() => new Response('<html>')).client.answered('/x'))).message).to.match(/not JSON/);
  });

  it('say that the gateway cannot be reached', async () => {
    const error = await failing(
      clientOf(() => {
        throw new TypeError('fetch failed');
      }).client.json('/x'),
    );
    expect([error.status, error.message]).to.deep.equal([
      0,
      'The gateway cannot be reached. Check that it is running and that this address is right.',
    ]);
  });

  it('tell the time of the gateway, where the clock of this machine is far from it', async () => {
    const HOUR_MS = 3_600_000;
    for (const [apartMs, told] of [
      [5 * HOUR_MS, 5 * HOUR_MS],
      [-26 * HOUR_MS, -26 * HOUR_MS],
      [20_000, 0],
      [-20_000, 0],
    ] as const) {
      const { client } = clientOf(
        () => new Response('{}', { headers: { Date: new Date(Date.now() + apartMs).toUTCString() } }),
      );
      await client.json('/x');
      expect(client.now() - Date.now(), String(apartMs)).to.be.closeTo(told, 5000);
    }
    for (const headers of [{}, { Date: 'soon' }]) {
      const { client } = clientOf(() => new Response('{}', { headers }));
      await client.json('/x');
      expect(client.now() - Date.now()).to.be.closeTo(0, 5000);
    }
  });

  it("end with the reader's own signal, which is not shown as an error", async () => {
    const given = new AbortController();
    const { client } = clientOf(
      ({ init }) =>
        new Promise((_resolve, reject) => {
          init.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    );
    const call = failing(client.json('/x', { signal: given.signal }));
    given.abort();
    expect((await call).name).to.equal('AbortError');
  });

  it('give up on an answer that takes too long', async () => {
    const timers: (() => void)[] = [];
    const real = globalThis.setTimeout;
    globalThis.setTimeout = ((act: () => void) => {
      timers.push(act);
      return 0;
    }) as unknown as typeof setTimeout;
    try {
      const { client } = clientOf(
        ({ init }) =>
          new Promise((_resolve, reject) => {
            init.signal?.addEventListener('abort', () => reject(new Error('aborted')));
          }),
      );
      const call = failing(client.json('/x'));
      timers[0]?.();
      const { status, message } = await call;
      expect([status, message, timers.length]).to.deep.equal([504, 'The gateway did not answer within 30 seconds.', 1]);
      void failing(client.open('/x', { hasNoDeadline: true }));
      expect(timers.length).to.equal(1);
    } finally {
      globalThis.setTimeout = real;
    }
  });
});
