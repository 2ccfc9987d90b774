import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { KeyPage, KeyPlace } from '../../host/stores/keys/key-repository.ts';
import type { KeyRecord } from '../../host/stores/keys/key-record.ts';
import { StoreUnavailable } from '../../host/stores/store-link.ts';
import { eventually, MASTER_KEY } from '../kit/index.ts';
import { type AdminHost, forBackends, refusal, startAdmin } from './kit.ts';

/** More than one slice, with a rest. */
const MANY = 520;

async function fill(t: AdminHost, count: number, nameOf: (at: number) => string = (at) => `key ${at}`): Promise<void> {
  const { keys } = t.host.stores;
  for (let at = 0; at < count; at += 100)
    await Promise.all(
      Array.from({ length: Math.min(100, count - at) }, (_, one) =>
        keys.create({ name: nameOf(at + one), scopes: ['read_only'], limits: at === 0 ? { tags: ['ü,"', '2'] } : {} }),
      ),
    );
}

const nextOf = (headers: Headers): string | undefined => /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];

forBackends('the list of keys', (start) => {
  it('is one array, to the letter, however long; HEAD has its head', async () => {
    const t = await start();
    await fill(t, MANY);
    const answer = await t.get('/admin/keys');
    const listed = answer.json() as { id: string; created_at: string }[];
    expect(new Set(listed.map(({ id }) => id)).size).to.equal(MANY);
    expect(answer.text).to.equal(JSON.stringify(listed));
    expect(listed.map(({ id }) => id)).to.deep.equal(
      listed
        .toSorted(
          (a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || Number(a.id < b.id) - Number(a.id > b.id),
        )
        .map(({ id }) => id),
    );
    expect([
      answer.headers.get('content-type'),
      answer.headers.get('link'),
      answer.headers.get('x-total-count'),
    ]).to.deep.equal(['application/json', null, null]);
    const head = await t.request('HEAD', '/admin/keys');
    expect([head.status, head.text, head.headers.get('content-type')]).to.deep.equal([200, '', 'application/json']);
  });

  it('is given in pages, which say how many keys there are and where the next one is', async () => {
    const t = await start();
    await fill(t, MANY);
    const whole = (await t.get('/admin/keys')).json() as { id: string }[];
    const pages: { id: string }[][] = [];
    for (let path: string | undefined = '/admin/keys?limit=510'; path !== undefined;) {
      const answer = await t.get(path);
      pages.push(answer.json());
      expect([answer.headers.get('x-total-count'), Number(answer.headers.get('content-length'))]).to.deep.equal([
        String(MANY),
        Buffer.byteLength(answer.text),
      ]);
      path = nextOf(answer.headers);
    }
    expect(pages.map(({ length }) => length)).to.deep.equal([510, MANY - 510]);
    expect(pages.flat()).to.deep.equal(whole);
    const usual = await t.get(`/admin/keys?after=${whole[99]?.id}`);
    expect(usual.json()).to.deep.equal(whole.slice(100, 300));
    expect((await t.get('/admin/keys?limit=5000')).headers.get('link')).to.equal(null);
  });

  it('is narrowed by part of a name and by ids, through all pages', async () => {
    const t = await start();
    await fill(t, 12, (at) => (at % 2 === 0 ? `Team Übung ${at}` : `other&${at}`));
    const names = async (path: string): Promise<string[]> => {
      const answer = await t.get(path);
      const page = (answer.json() as { name: string }[]).map(({ name }) => name);
      const next = nextOf(answer.headers);
      return next === undefined ? page : [...page, ...(await names(next))];
    };
    expect((await names('/admin/keys?q=TEAM%20%C3%9C&limit=4')).toSorted()).to.deep.equal(
      [0, 2, 4, 6, 8, 10].map((at) => `Team Übung ${at}`).toSorted(),
    );
    expect(await names('/admin/keys?q=other%26&limit=1')).to.have.length(6);
    expect((await t.get('/admin/keys?q=team')).headers.get('x-total-count')).to.equal('6');
    const all = (await t.get('/admin/keys')).json() as { id: string }[];
    const ids = [all[7]?.id, all[2]?.id];
    const some = await t.get(`/admin/keys?ids=${ids.join(',')},gone,,%20${ids[0]}`);
    expect([some.json(), some.headers.get('x-total-count'), some.headers.get('link')]).to.deep.equal([
      [all[2], all[7]],
      '2',
      null,
    ]);
    expect((await t.get('/admin/keys?ids=gone')).text).to.equal('[]');
    expect((await t.get('/admin/keys?limit=&after=&q=&ids=')).headers.get('x-total-count')).to.equal(null);
  });

  it('refuses what is not a number, a place or too much, in this order', async () => {
    const t = await start();
    await fill(t, 1);
    for (const [query, said] of [
      ['limit=0&after=gone', 'limit'],
      ['limit=-1', 'limit'],
      ['limit=1.5', 'limit'],
      ['limit=x', 'limit'],
      ['after=gone', 'after is not the id of a key'],
      [`ids=${Array.from({ length: 201 }, (_, at) => at).join(',')}`, 'ids has 201 entries, the limit is 200'],
    ] as const) {
      const answer = await t.get(`/admin/keys?${query}`);
      expect(refusal(answer), query).to.deep.equal([400, 'invalid_request']);
      expect(answer.json().error.message, query).to.include(said);
    }
    expect((await t.get('/admin/keys?limit=1&limit=0')).status, 'the first counts').to.equal(200);
  });
});

describe('a long list of keys', () => {
  /** A key store whose list never ends, or ends with a failure. */
  async function endless(failsAt = Infinity): Promise<{ readonly t: AdminHost; readonly reads: () => number }> {
    const t = await startAdmin();
    await fill(t, 1);
    const {
      keys: [record],
    } = await t.host.stores.keys.page({}, 1);
    const keys = Array.from({ length: 500 }, () => record!);
    let reads = 0;
    const page = async (): Promise<KeyPage<KeyRecord>> => {
      reads += 1;
      if (reads > failsAt) throw new StoreUnavailable('the key store does not answer');
      return { keys, next: { createdAt: 1, id: 'x' } satisfies KeyPlace };
    };
    Object.assign(t.host.stores.keys, { page });
    return { t, reads: () => reads };
  }

  it('is read as fast as its client takes it, and no further once the client has left', async () => {
    const { t, reads } = await endless();
    const socket = connect(Number(new URL(t.url).port), '127.0.0.1');
    socket.pause();
    socket.write(`GET /admin/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${MASTER_KEY}\r\n\r\n`);
    let seen = -1;
    const hasStopped = async (): Promise<boolean> => {
      seen = reads();
      await new Promise((resolve) => {
        setTimeout(resolve, 300);
      });
      return seen > 1 && reads() === seen;
    };
    await eventually(hasStopped);
    expect(reads(), 'more than sockets hold: it goes on without its client').to.be.below(300);
    socket.destroy();
    await eventually(() => t.host.activity.count === 0);
    const last = reads();
    await eventually(hasStopped);
    expect(reads() - last, 'beside the one that was being read').to.be.at.most(1);
  });

  it('ends its connection where a read fails midway, so that no part is taken for the whole', async () => {
    const { t, reads } = await endless(3);
    const ended = await new Promise<string>((resolve) => {
      httpRequest(`${t.url}/admin/keys`, { headers: { authorization: `Bearer ${MASTER_KEY}` } }, (response) => {
        response.resume();
        response.on('end', () => resolve('whole'));
        response.on('error', (error) => resolve(error.message));
      }).end();
    });
    expect([ended, reads()]).to.deep.equal(['aborted', 4]);
    expect(t.lines.filter(({ msg }) => msg === 'an admin route could not be answered')).to.have.length(1);
  });

  it('is an error like any other where the first read fails', async () => {
    const { t } = await endless(0);
    expect(refusal(await t.get('/admin/keys'))).to.deep.equal([500, 'internal_error']);
  });

  it('lets others have their turn between two slices', async () => {
    const { t, reads } = await endless(40);
    let turns = 0;
    let isOver = false;
    const tick = (): void => {
      turns += 1;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    await t.get('/admin/keys').catch(() => undefined);
    isOver = true;
    expect(reads()).to.equal(41);
    expect(turns).to.be.at.least(40);
  });
});
